@core
Feature: The keys and values of labels
  Source: k8s.io/apimachinery pkg/util/validation/validation.go (v1.34), IsQualifiedName, IsValidLabelValue
  Source: k8s.io/apimachinery pkg/apis/meta/v1/validation/validation.go (v1.34), ValidateLabels

  Background:
    Given no other Node
    And the objects:
      """yaml
      apiVersion: v1
      kind: Node
      metadata: {name: worker-1, labels: {first: "1"}}
      """

  @req:LAB-01
  Rule: A key is a name of up to 63 characters, with a DNS subdomain of up to 253 before it or none

    Scenario Outline: The key is <what>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {"<key>": there}}
        """
      Then the request is answered with 200
      And Node "worker-1" has label "<key>=there" at once
      And Node "worker-1" keeps label "first=1" for 1s

      Examples:
        | what                    | key                                                                                                                                                                                                                                                             |
        | one letter              | a                                                                                                                                                                                                                                                               |
        | a digit                 | 7                                                                                                                                                                                                                                                               |
        | letters of both cases   | aZ                                                                                                                                                                                                                                                              |
        | with marks inside       | a-b_c.d                                                                                                                                                                                                                                                         |
        | doubled marks           | a--b..c__d                                                                                                                                                                                                                                                      |
        | a name of 63 letters    | kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk                                                                                                                                                                                                 |
        | with a prefix           | example.com/rack                                                                                                                                                                                                                                                |
        | a prefix of one letter  | x/rack                                                                                                                                                                                                                                                          |
        | a prefix of digits      | 10.0.0.1/rack                                                                                                                                                                                                                                                   |
        | a prefix of 253 letters | eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee/k |

    Scenario Outline: The key is refused: <what>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {"<key>": there}}
        """
      Then the request is refused with 422 metadata.labels: Invalid value: "<key>": <message>
      And Node "worker-1" keeps field metadata.labels unchanged for 1s

      Examples:
        | what                        | key            | message                                                                                                                                                                                                                                          |
        | a mark before it            | -a             | name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') |
        | a mark behind it            | a_             | name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') |
        | a blank in it               | a b            | name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') |
        | a letter outside of ASCII   | ä              | name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') |
        | an equals sign              | a=b            | name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') |
        | nothing behind the prefix   | example.com/   | name part must be non-empty                                                                                                                                                                                                                      |
        | a bad name behind a prefix  | example.com/-x | name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') |
        | nothing before the slash    | /x             | prefix part must be non-empty                                                                                                                                                                                                                    |
        | capitals in the prefix      | Example.com/x  | prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character                                                                                 |
        | an underscore in the prefix | my_org/x       | prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character                                                                                 |
        | a dot before the prefix     | .com/x         | prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character                                                                                 |

    @until:1.34
    Scenario Outline: The key is refused up to 1.34: <what>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {"<key>": there}}
        """
      Then the request is refused with 422 metadata.labels: Invalid value: "<key>": <message>
      And Node "worker-1" keeps field metadata.labels unchanged for 1s

      Examples:
        | what                    | key                                                                                                                                                                                                                                                              | message                                                                                                                                                                                                                                                                                                                           |
        | a name of 64 letters    | kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk                                                                                                                                                                                                 | name part must be no more than 63 characters                                                                                                                                                                                                                                                                                      |
        | a prefix of 254 letters | eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee/k | prefix part must be no more than 253 characters                                                                                                                                                                                                                                                                                   |
        | two slashes             | a/b/c                                                                                                                                                                                                                                                            | a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName') |

    @since:1.35
    Scenario Outline: The key is refused since 1.35: <what>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {"<key>": there}}
        """
      Then the request is refused with 422 metadata.labels: Invalid value: "<key>": <message>
      And Node "worker-1" keeps field metadata.labels unchanged for 1s

      Examples:
        | what                    | key                                                                                                                                                                                                                                                              | message                                                                                                                                                                                                                                                                                                                            |
        | a name of 64 letters    | kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk                                                                                                                                                                                                 | name part must be no more than 63 bytes                                                                                                                                                                                                                                                                                            |
        | a prefix of 254 letters | eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee/k | prefix part must be no more than 253 bytes                                                                                                                                                                                                                                                                                         |
        | two slashes             | a/b/c                                                                                                                                                                                                                                                            | a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName') |

    Scenario: Each thing that is wrong with a key is told
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {"/": there}}
        """
      Then the request is refused with 422 Node "worker-1" is invalid: [metadata.labels: Invalid value: "/": prefix part must be non-empty, metadata.labels: Invalid value: "/": name part must be non-empty, metadata.labels: Invalid value: "/": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]

    Scenario: One wrong label, and no other is set either
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {good: "1", "bad!": "1", first: "2"}}
        """
      Then the request is refused with 422 metadata.labels: Invalid value: "bad!"
      And Node "worker-1" keeps field metadata.labels unchanged for 1s

  @req:LAB-02
  Rule: A value has up to 63 characters, and may have none

    Scenario Outline: The value is <what>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {rack: "<value>"}}
        """
      Then the request is answered with 200
      And Node "worker-1" has label "rack=<value>" at once

      Examples:
        | what              | value                                                           |
        | nothing           |                                                                 |
        | one letter        | a                                                               |
        | a digit           | 7                                                               |
        | with marks inside | A-b_C.d                                                         |
        | doubled marks     | a..b                                                            |
        | 63 letters        | vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv |
        | a version         | v1.34.4                                                         |

    Scenario Outline: The value is refused: <what>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {rack: '<value>'}}
        """
      Then the request is refused with 422 Node "worker-1" is invalid: metadata.labels: Invalid value: "<value>": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')
      And Node "worker-1" keeps field metadata.labels unchanged for 1s

      Examples:
        | what                      | value |
        | a mark before it          | -a    |
        | a mark behind it          | a.    |
        | a blank                   | a b   |
        | a slash                   | a/b   |
        | a colon                   | 10:20 |
        | a letter outside of ASCII | ä     |
        | one mark                  | _     |

    Scenario Outline: A value of 64 letters is refused as too long, in <words>
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {rack: vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv}}
        """
      Then the request is refused with 422 Node "worker-1" is invalid: metadata.labels: Invalid value: "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv": must be no more than 63 <words>
      And Node "worker-1" keeps field metadata.labels unchanged for 1s

      @until:1.34
      Examples:
        | words      |
        | characters |

      @since:1.35
      Examples:
        | words |
        | bytes |

    Scenario Outline: <value> is no text, and no label
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {rack: <value>}}
        """
      Then the request is refused with 422 <message>
      And Node "worker-1" keeps field metadata.labels unchanged for 1s

      Examples:
        | value | message                                                                                      |
        | 7     | json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string |
        | true  | json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string   |
        | [a]   | json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type string  |

    Scenario: A label that is set to null is taken off
      When the user sends PATCH /api/v1/nodes/worker-1:
        """yaml
        metadata: {labels: {first: null}}
        """
      Then the request is answered with 200
      And Node "worker-1" has no label "first" at once

  @req:LAB-01 @req:LAB-02
  Rule: The labels of a Pod, of its template and of a selector are checked alike

    Scenario: A Pod with a bad label does not come to be
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web, labels: {app: -x}}
        spec: {nodeName: worker-1, containers: [{name: c, image: i}]}
        """
      Then the request is refused with 422 Pod "web" is invalid: metadata.labels: Invalid value: "-x": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')

    Scenario: A nodeSelector with a bad key
      When the user sends POST /api/v1/namespaces/default/pods:
        """yaml
        apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {nodeSelector: {"bad!": x}, containers: [{name: c, image: i}]}
        """
      Then the request is refused with 422 Pod "web" is invalid: spec.nodeSelector: Invalid value: "bad!": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')

    Scenario: A ReplicaSet whose selector has a bad value
      When the user sends POST /apis/apps/v1/namespaces/default/replicasets:
        """yaml
        apiVersion: apps/v1
        kind: ReplicaSet
        metadata: {name: web}
        spec:
          replicas: 0
          selector: {matchLabels: {app: -x}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: i}]}
        """
      Then the request is refused with 422 spec.selector.matchLabels: Invalid value: "-x": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')
