@core
Feature: Lists and watches of labelled objects
  Source: k8s.io/apiserver pkg/storage/cacher/cache_watcher.go (v1.34), convertToWatchEvent
  Source: k8s.io/apiserver pkg/endpoints/handlers/get.go (v1.34), ListResource

  @req:LAB-06
  Rule: A list takes its selector in either style, encoded as addresses are

    Scenario Outline: <style>
      Given no other Node
      And the objects:
        """yaml
        {apiVersion: v1, kind: Node, metadata: {name: a, labels: {env: production, tier: frontend}}}
        ---
        {apiVersion: v1, kind: Node, metadata: {name: b, labels: {env: qa, tier: frontend}}}
        ---
        {apiVersion: v1, kind: Node, metadata: {name: c, labels: {env: qa, tier: backend}}}
        """
      When the user sends GET /api/v1/nodes?<query>
      Then the answer lists <names>

      Examples:
        | style                                         | query                                                                               | names    |
        | By equality                                   | labelSelector=env%3Dproduction,tier%3Dfrontend                                      | "a"      |
        | By equality, with all of it encoded           | labelSelector=%65nv%3Dproduction%2Ctier%3Dfrontend                                  | "a"      |
        | By equality, and only the sign is not encoded | labelSelector=env=production                                                        | "a"      |
        | By sets, with + for blanks                    | labelSelector=env+in+%28production%2Cqa%29%2Ctier+in+%28frontend%29                 | "a", "b" |
        | By sets, with %20 for blanks                  | labelSelector=env%20in%20%28production%2Cqa%29%2Ctier%20notin%20%28frontend%29      | "c"      |
        | Beside other parameters                       | limit=500&labelSelector=env%3Dqa&resourceVersion=0                                  | "b", "c" |

  @req:LAB-06
  Rule: A watch shows what its selector takes, and what it lets go

    Background:
      Given no other Node
      And a hand-fed Node "a"
      And a hand-fed Node "b"

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
      And the watch never shows DELETED "a" for 5s

    Scenario: What matches before and after is modified, and what never matches is not shown
      Given the user labels Node "a" with "tier=web"
      And the user watches /api/v1/nodes?labelSelector=tier+in+%28web,db%29
      When the user labels Node "a" with "tier=db"
      And the user labels Node "b" with "tier=other"
      Then the watch shows MODIFIED "a" with metadata.labels.tier "db" within 1s
      And Node "b" has label "tier=other" within 1s
      But the watch never shows DELETED "a" for 5s
      And the watch never shows ADDED "b" for 5s

    Scenario: A selector of what is not there
      When the user watches /api/v1/nodes?labelSelector=%21tier
      Then the watch shows ADDED "a" within 1s
      And the watch shows ADDED "b" within 1s
      When the user labels Node "a" with "tier=web"
      Then the watch shows DELETED "a" with metadata.labels.tier absent within 1s
      When the user removes label "tier" from Node "a"
      Then the watch shows ADDED "a" with metadata.labels.tier absent within 1s

    Scenario: A Node that goes is deleted for those who see it
      Given the user labels Node "a" with "tier=web"
      And the user watches /api/v1/nodes?labelSelector=tier%3Dweb
      When the user deletes Node "a"
      And the user deletes Node "b"
      Then the watch shows DELETED "a" with metadata.labels.tier "web" within 1s
      And Node "b" is gone within 1s
      But the watch never shows DELETED "b" for 5s

    Scenario: The watch that is opened last is the one that is meant, and it may show nothing
      Given the user labels Node "a" with "tier=web"
      When the user watches /api/v1/nodes?labelSelector=tier%3Dweb&resourceVersion=0
      Then the watch shows ADDED "a" within 1s
      When the user watches /api/v1/nodes?labelSelector=tier%3Dnobody
      And the user labels Node "a" with "rack=7"
      Then Node "a" has label "rack=7" within 1s
      But the watch never shows anything for 5s

    Scenario: A selector that is none is refused before anything is shown
      When the user watches /api/v1/nodes?labelSelector=a%3Db%3Dc
      Then the request is refused with 400 found '=', expected: ',' or 'end of string'
