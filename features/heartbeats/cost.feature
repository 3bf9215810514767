@core
Feature: What heartbeats cost
  Bytes are those of JSON; protobuf, in which a kubelet sends its Leases and etcd keeps everything, takes about half.

  Source: KEP 589 (Efficient Node Heartbeats); pkg/kubelet/kubelet_node_status.go (v1.34), tryUpdateNodeStatus
  Source: pkg/kubelet/apis/config/v1beta1/defaults.go (v1.34)

  @req:HB-07
  Rule: Leases are small, and the status is posted rarely as long as nothing changes

    Scenario: With the defaults six Leases a minute and a status each five minutes
      Given a ready Node "worker-1"
      And 10m pass
      When 30m pass
      Then the heartbeats of Node "worker-1" send 2600 to 2850 bytes a minute for 30m
      And the heartbeats of Node "worker-1" store 3000 to 3400 bytes a minute for 30m
      And the Lease of Node "worker-1" is renewed every 10s for 30m

    Scenario: A status each ten seconds costs many times as much
      What the store keeps is the whole Node, however small the patch.

      Given a machine "worker-1"
      And whose kubelet runs with:
        | field                     | value |
        | nodeStatusUpdateFrequency | 10s   |
        | nodeStatusReportFrequency | 10s   |
      And Node "worker-1" has condition Ready=True
      And 10m pass
      When 30m pass
      Then the heartbeats of Node "worker-1" send 5000 to 5450 bytes a minute for 30m
      And the heartbeats of Node "worker-1" store 15500 to 18500 bytes a minute for 30m
      And the Lease of Node "worker-1" is renewed every 10s for 30m

    Scenario: Without Leases the status alone has to be written each ten seconds
      As in releases that had none; the Node is heard from and stays ready, at several times the price of Leases.

      Given a machine "worker-1"
      And whose kubelet runs with:
        | field                     | value |
        | nodeStatusUpdateFrequency | 10s   |
        | nodeStatusReportFrequency | 10s   |
      And Node "worker-1" has condition Ready=True
      And requests to leases from "worker-1" are answered 403
      And 10m pass
      When 30m pass
      Then the heartbeats of Node "worker-1" store 13400 to 16000 bytes a minute for 30m
      And Node "worker-1" keeps condition Ready=True for 30m
      And the Lease of Node "worker-1" never appears for 30m
      And the status of Node "worker-1" is written every 10s to 10.5s for 30m

    Scenario: In a larger cluster a node costs no more than in a small one
      Given 60 ready Nodes in zone "a"
      And 10m pass
      When 10m pass
      Then the heartbeats of Node "a-1" send 2600 to 2850 bytes a minute for 10m
      And the heartbeats of Node "a-1" store 2750 to 3400 bytes a minute for 10m

    Scenario: Images make the status large, and each version of it
      Given a machine "worker-1" with:
        | what   | value                                                                                                                                                                       |
        | images | [{"names":["registry.example.com/a@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","registry.example.com/a:1"],"sizeBytes":1000000},{"names":["registry.example.com/b:1"],"sizeBytes":2000000}] |
      And Node "worker-1" has condition Ready=True
      And 10m pass
      When 30m pass
      Then the heartbeats of Node "worker-1" send 2600 to 2850 bytes a minute for 30m
      And the heartbeats of Node "worker-1" store 3050 to 3450 bytes a minute for 30m

    Scenario: Minutes with the defaults
      Four minutes hold one status at the most. The bounds leave room for what a real node tells of itself.

      Given a ready Node "worker-1"
      When 1s passes
      Then the heartbeats of Node "worker-1" send 2000 to 4000 bytes a minute for 4m
      And the heartbeats of Node "worker-1" store 2000 to 7000 bytes a minute for 4m

    Scenario: Minutes with a status each ten seconds
      Given a machine "worker-1"
      And whose kubelet runs with:
        | field                     | value |
        | nodeStatusUpdateFrequency | 10s   |
        | nodeStatusReportFrequency | 10s   |
      And Node "worker-1" has condition Ready=True
      And 30s pass
      When 1s passes
      Then the heartbeats of Node "worker-1" send 4500 to 9000 bytes a minute for 90s
      And the heartbeats of Node "worker-1" store 14000 to 90000 bytes a minute for 90s

    Scenario: A Node without a kubelet costs nothing
      Given a ready Node "worker-1"
      And 10m pass
      And the kubelet on "worker-1" is killed
      And 10m pass
      When 30m pass
      Then the heartbeats of Node "worker-1" send 0 to 0 bytes a minute for 30m
      And the heartbeats of Node "worker-1" store 0 to 0 bytes a minute for 30m
