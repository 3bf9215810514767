@core
Feature: Selectors by equality
  Source: k8s.io/apimachinery pkg/labels/selector.go (v1.34), Parse, Requirement.Matches

  Background:
    Given no other Node
    And the objects:
      """yaml
      {apiVersion: v1, kind: Node, metadata: {name: a, labels: {env: prod, tier: web}}}
      ---
      {apiVersion: v1, kind: Node, metadata: {name: b, labels: {env: qa, tier: db}}}
      ---
      {apiVersion: v1, kind: Node, metadata: {name: c, labels: {tier: web, env: ""}}}
      ---
      {apiVersion: v1, kind: Node, metadata: {name: d, labels: {rack: "7"}}}
      ---
      {apiVersion: v1, kind: Node, metadata: {name: e}}
      """

  @req:LAB-04
  Rule: = and == take what has the value, != also what has no such key; a comma is an and

    Scenario Outline: <selector>
      When the user sends GET /api/v1/nodes?labelSelector=<encoded>
      Then the answer lists <names>

      Examples:
        | selector           | encoded                     | names              |
        | env=prod           | env%3Dprod                  | "a"                |
        | env==prod          | env%3D%3Dprod               | "a"                |
        | env = prod         | env+%3D+prod                | "a"                |
        | env!=prod          | env%21%3Dprod               | "b", "c", "d", "e" |
        | env != prod        | env%20%21%3D%20prod         | "b", "c", "d", "e" |
        | env=               | env%3D                      | "c"                |
        | env==              | env%3D%3D                   | "c"                |
        | env!=              | env%21%3D                   | "a", "b", "d", "e" |
        | env=Prod           | env%3DProd                  | nothing            |
        | env=pro            | env%3Dpro                   | nothing            |
        | tier=web,env=prod  | tier%3Dweb%2Cenv%3Dprod     | "a"                |
        | tier=web,env!=prod | tier%3Dweb%2Cenv%21%3Dprod  | "c"                |
        | env!=prod,env!=qa  | env%21%3Dprod%2Cenv%21%3Dqa | "c", "d", "e"      |
        | env=prod,env=qa    | env%3Dprod%2Cenv%3Dqa       | nothing            |
        | env=prod,env=prod  | env%3Dprod%2Cenv%3Dprod     | "a"                |
        | rack=7             | rack%3D7                    | "d"                |
        | name=a             | name%3Da                    | nothing            |

    Scenario Outline: There is no or: <selector> is refused
      When the user sends GET /api/v1/nodes?labelSelector=<encoded>
      Then the request is refused with 400 <message>

      Examples:
        | selector             | encoded                    | message                                                                                                         |
        | env=prod \|\| env=qa | env%3Dprod+%7C%7C+env%3Dqa | found '\|\|', expected: ',' or 'end of string'                                                                  |
        | env=prod or env=qa   | env%3Dprod+or+env%3Dqa     | found 'or', expected: ',' or 'end of string'                                                                    |
        | env=prod env=qa      | env%3Dprod+env%3Dqa        | found 'env', expected: ',' or 'end of string'                                                                   |
        | env=prod;env=qa      | env%3Dprod%3Benv%3Dqa      | unable to parse requirement: values[0][env]: Invalid value: "prod;env": a valid label must be an empty string   |
        | env=a=b              | env%3Da%3Db                | found '=', expected: ',' or 'end of string'                                                                     |
        | env===a              | env%3D%3D%3Da              | found '=', expected: identifier                                                                                 |
        | =prod                | %3Dprod                    | found '=', expected: !, identifier, or 'end of string'                                                          |
        | env=prod,            | env%3Dprod%2C              | found '', expected: identifier after ','                                                                        |
        | ,env=prod            | %2Cenv%3Dprod              | found ',', expected: !, identifier, or 'end of string'                                                          |
        | env=prod,,tier=web   | env%3Dprod%2C%2Ctier%3Dweb | found ',', expected: identifier after ','                                                                       |
        | env=-a               | env%3D-a                   | unable to parse requirement: values[0][env]: Invalid value: "-a": a valid label must be an empty string         |
        | env="prod"           | env%3D%22prod%22           | unable to parse requirement: values[0][env]: Invalid value: "\\"prod\\"": a valid label must be an empty string |
        | -env=prod            | -env%3Dprod                | unable to parse requirement: <nil>: Invalid value: "-env": name part must consist of alphanumeric characters    |
        | /env=prod            | %2Fenv%3Dprod              | unable to parse requirement: <nil>: Invalid value: "/env": prefix part must be non-empty                        |

    Scenario: Who may not list is refused before the selector is read
      When user "jane" sends GET /api/v1/nodes?labelSelector=a%3Db%3Dc
      Then the request is refused with 403 nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope

  @req:LAB-04
  Rule: Pods are selected alike, in one namespace or in all

    Scenario Outline: <selector> in <where>
      Given the objects:
        """yaml
        {apiVersion: v1, kind: Namespace, metadata: {name: shop}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web, labels: {app: web, release: stable}}
        spec: {nodeName: a, containers: [{name: c, image: i}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: db, labels: {app: db}}
        spec: {nodeName: a, containers: [{name: c, image: i}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: web, namespace: shop, labels: {app: web}}
        spec: {nodeName: b, containers: [{name: c, image: i}]}
        """
      When the user sends GET /api/v1/<where>?labelSelector=<encoded>
      Then the answer lists <names>

      Examples:
        | selector                | where                   | encoded                         | names                     |
        | app=web                 | pods                    | app%3Dweb                       | "default/web", "shop/web" |
        | app=web                 | namespaces/default/pods | app%3Dweb                       | "web"                     |
        | app!=web                | pods                    | app%21%3Dweb                    | "default/db"              |
        | release!=stable         | pods                    | release%21%3Dstable             | "default/db", "shop/web"  |
        | app=web,release!=stable | pods                    | app%3Dweb%2Crelease%21%3Dstable | "shop/web"                |
