@core
Feature: Selectors by sets
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

  @req:LAB-05
  Rule: in and notin compare with several values, a key alone with none

    Scenario Outline: <selector>
      When the user sends GET /api/v1/nodes?labelSelector=<encoded>
      Then the answer lists <names>

      Examples:
        | selector            | encoded                   | names              |
        | env in (prod,qa)    | env+in+%28prod%2Cqa%29    | "a", "b"           |
        | env in (prod, qa)   | env+in+%28prod%2C+qa%29   | "a", "b"           |
        | env in(prod)        | env%20in%28prod%29        | "a"                |
        | env in ()           | env+in+%28%29             | "c"                |
        | env in (,qa)        | env+in+%28%2Cqa%29        | "b", "c"           |
        | env notin (prod,qa) | env+notin+%28prod%2Cqa%29 | "c", "d", "e"      |
        | env notin ()        | env+notin+%28%29          | "a", "b", "d", "e" |
        | env                 | env                       | "a", "b", "c"      |
        | !env                | %21env                    | "d", "e"           |
        | ! env               | %21%20env                 | "d", "e"           |
        | env,!rack           | env%2C%21rack             | "a", "b", "c"      |
        | env,!env            | env%2C%21env              | nothing            |
        | !env,!rack          | %21env%2C%21rack          | "e"                |
        | rack>6              | rack%3E6                  | "d"                |
        | rack>7              | rack%3E7                  | nothing            |
        | rack<8              | rack%3C8                  | "d"                |
        | env>1               | env%3E1                   | nothing            |

  @req:LAB-05
  Rule: They mix with equality

    Scenario Outline: <selector>
      When the user sends GET /api/v1/nodes?labelSelector=<encoded>
      Then the answer lists <names>

      Examples:
        | selector                      | encoded                                     | names         |
        | tier=web,env in (prod,qa)     | tier%3Dweb%2Cenv+in+%28prod%2Cqa%29         | "a"           |
        | env notin (prod),tier!=db     | env+notin+%28prod%29%2Ctier%21%3Ddb         | "c", "d", "e" |
        | tier,env!=prod                | tier%2Cenv%21%3Dprod                        | "b", "c"      |
        | tier in (web,db),!rack,env=qa | tier+in+%28web%2Cdb%29%2C%21rack%2Cenv%3Dqa | "b"           |

  @req:LAB-05
  Rule: What is no selector is refused with what was found and what was expected

    Scenario Outline: <selector>
      When the user sends GET /api/v1/nodes?labelSelector=<encoded>
      Then the request is refused with 400 <message>

      Examples:
        | selector         | encoded              | message                                                                                                              |
        | env in           | env+in               | unable to parse requirement: found '' expected: '('                                                                  |
        | env in prod      | env+in+prod          | unable to parse requirement: found 'prod' expected: '('                                                              |
        | env in (prod     | env+in+%28prod       | unable to parse requirement: found '', expected: ',' or ')'                                                          |
        | env in (prod qa) | env+in+%28prod+qa%29 | unable to parse requirement: found 'qa', expected: ',' or ')'                                                        |
        | env IN (prod)    | env+IN+%28prod%29    | unable to parse requirement: found 'IN', expected: in, notin, =, ==, !=, gt, lt                                      |
        | env exists       | env+exists           | unable to parse requirement: found 'exists', expected: in, notin, =, ==, !=, gt, lt                                  |
        | env gt 1         | env+gt+1             | unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt                                      |
        | !                | %21                  | unable to parse requirement: found '', expected: identifier                                                          |
        | !env=prod        | %21env%3Dprod        | found '=', expected: ',' or 'end of string'                                                                          |
        | !!env            | %21%21env            | unable to parse requirement: found '!', expected: identifier                                                         |
        | rack>six         | rack%3Esix           | unable to parse requirement: values[0]: Invalid value: "six": for 'Gt', 'Lt' operators, the value must be an integer |
        | rack>=6          | rack%3E%3D6          | unable to parse requirement: found '=', expected: identifier                                                         |
