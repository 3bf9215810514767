@core
Feature: A list and a watch of labelled objects
  Source: k8s.io/apiserver pkg/storage/cacher/cache_watcher.go (v1.34), convertToWatchEvent
  Source: k8s.io/apiserver pkg/endpoints/handlers/get.go (v1.34), ListResource

  Background:
    Given a hand-fed Node "a"
    And a hand-fed Node "b"

  @req:LAB-06
  Rule: A watch shows what its selector takes, and what it lets go

    Scenario: A Node that starts to match comes, and one that no longer matches goes
      Given the user labels Node "a" with "tier=web"
      When the user watches /api/v1/nodes?labelSelector=tier%3Dweb
      Then the watch shows ADDED "a" within 1s
      And the watch never shows ADDED "b" for 5s
      When the user labels Node "b" with "tier=web"
      Then the watch shows ADDED "b" with metadata.labels.tier "web" within 1s
      And the watch never shows MODIFIED "b" for 5s
      When the user labels Node "b" with "tier=db"
      Then the watch shows DELETED "b" with metadata.labels.tier "web" within 1s
      And the watch never shows MODIFIED "b" for 5s
