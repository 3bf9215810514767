@core
Feature: The labels that are recommended for applications
  Source: content/en/docs/concepts/overview/working-with-objects/common-labels.md of kubernetes/website

  Background:
    Given no other Node
    And the objects:
      """yaml
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: wordpress
        labels: &wordpress
          app.kubernetes.io/name: wordpress
          app.kubernetes.io/instance: wordpress-abcxyz
          app.kubernetes.io/version: "4.9.4"
          app.kubernetes.io/managed-by: Helm
          app.kubernetes.io/component: server
          app.kubernetes.io/part-of: wordpress
      spec:
        replicas: 0
        selector: {matchLabels: {app.kubernetes.io/instance: wordpress-abcxyz}}
        template:
          metadata: {labels: *wordpress}
          spec: {containers: [{name: c, image: i}]}
      ---
      apiVersion: v1
      kind: Service
      metadata:
        name: wordpress
        labels:
          app.kubernetes.io/name: wordpress
          app.kubernetes.io/instance: wordpress-abcxyz
          app.kubernetes.io/component: server
          app.kubernetes.io/part-of: wordpress
      spec: {ports: [{port: 80}]}
      ---
      apiVersion: apps/v1
      kind: StatefulSet
      metadata:
        name: mysql
        labels: &mysql
          app.kubernetes.io/name: mysql
          app.kubernetes.io/instance: mysql-abcxyz
          app.kubernetes.io/version: "5.7.21"
          app.kubernetes.io/managed-by: Helm
          app.kubernetes.io/component: database
          app.kubernetes.io/part-of: wordpress
          app.kubernetes.io/created-by: controller-manager
      spec:
        replicas: 0
        serviceName: mysql
        selector: {matchLabels: {app.kubernetes.io/instance: mysql-abcxyz}}
        template:
          metadata: {labels: *mysql}
          spec: {containers: [{name: c, image: i}]}
      ---
      apiVersion: v1
      kind: Service
      metadata:
        name: mysql
        labels:
          app.kubernetes.io/name: mysql
          app.kubernetes.io/instance: mysql-abcxyz
          app.kubernetes.io/component: database
          app.kubernetes.io/part-of: wordpress
      spec: {ports: [{port: 3306}]}
      ---
      apiVersion: v1
      kind: Service
      metadata: {name: other, labels: {app.kubernetes.io/name: wordpress, app.kubernetes.io/instance: another}}
      spec: {ports: [{port: 80}]}
      """

  @req:LAB-08
  Rule: They have the prefix app.kubernetes.io/ in common, and a user selects by them

    Scenario Outline: <what>
      When the user sends GET <list>?labelSelector=<encoded>
      Then the answer lists <names>

      Examples:
        | what                                 | list                      | encoded                                                                         | names                |
        | All of an application                | /api/v1/services          | app.kubernetes.io%2Fpart-of%3Dwordpress                                         | "mysql", "wordpress" |
        | Its Deployments                      | /apis/apps/v1/deployments | app.kubernetes.io%2Fpart-of%3Dwordpress                                         | "wordpress"          |
        | Its StatefulSets                     | /apis/apps/v1/statefulsets | app.kubernetes.io%2Fpart-of%3Dwordpress                                        | "mysql"              |
        | One part of it                       | /api/v1/services          | app.kubernetes.io%2Fpart-of%3Dwordpress%2Capp.kubernetes.io%2Fcomponent%3Ddatabase | "mysql"            |
        | An instance                          | /api/v1/services          | app.kubernetes.io%2Finstance%3Dwordpress-abcxyz                                 | "wordpress"          |
        | All instances of one name            | /api/v1/services          | app.kubernetes.io%2Fname%3Dwordpress                                            | "other", "wordpress" |
        | All instances but one                | /api/v1/services          | app.kubernetes.io%2Fname%3Dwordpress%2Capp.kubernetes.io%2Finstance%21%3Danother | "wordpress"          |
        | What a tool manages                  | /apis/apps/v1/deployments | app.kubernetes.io%2Fmanaged-by%3DHelm                                           | "wordpress"          |
        | What a controller has made           | /apis/apps/v1/statefulsets | app.kubernetes.io%2Fcreated-by%3Dcontroller-manager                            | "mysql"              |
        | Two versions                         | /apis/apps/v1/statefulsets | app.kubernetes.io%2Fversion+in+%285.7.20%2C5.7.21%29                           | "mysql"              |
        | What has such a label at all         | /apis/apps/v1/deployments | app.kubernetes.io%2Fpart-of                                                     | "wordpress"          |
        | By the name without the prefix       | /api/v1/services          | part-of%3Dwordpress                                                             | nothing              |
