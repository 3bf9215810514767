#!/usr/bin/env python3
"""When does a node whose kubelet is killed become Unknown? Asked of `nodeproof control`, with the standard library alone.

Use: examples/control/client.py [PROGRAM]; PROGRAM is nodeproof where none is named.
"""

import json
import subprocess
import sys

READY = '{.status.conditions[?(@.type=="Ready")].status}'


class Cluster:
    """A simulated cluster in a process of its own; leaving the context ends it."""

    def __init__(self, program="nodeproof"):
        self.process = subprocess.Popen(
            [program, "control"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def call(self, call, body=None):
        """Sends a call and returns the body of its answer; an answer from 300 on is an error."""
        request = {"call": call} if body is None else {"call": call, "body": body}
        self.process.stdin.write(json.dumps(request) + "\n")
        answer = json.loads(self.process.stdout.readline())
        if answer["code"] >= 300:
            raise RuntimeError(f"{call}: {answer}")
        return answer.get("body")

    def until(self, by, ready):
        """Lets time pass until the Node's Ready has a status, at most so long."""
        wanted = {"kind": "Node", "name": "w1", "jsonPath": READY, "equals": ready}
        return self.call("POST clock/advance", {"by": by, "stopWhen": wanted})


def main():
    with Cluster(*sys.argv[1:2]) as cluster:
        cluster.call("POST machines", {"name": "w1"})
        print("Ready after", cluster.until("2m", "True")["advanced"])
        cluster.call("POST clock/advance", {"by": "1m"})
        cluster.call("POST machines/w1/do", {"action": "kubelet-kill"})
        end = cluster.until("10m", "Unknown")
        print(f"Unknown {end['advanced']} after its end, stopped by {end['stopped']}")
        for taint in cluster.call("GET /api/v1/nodes/w1")["spec"]["taints"]:
            print(f"{taint['key']}:{taint['effect']}")


if __name__ == "__main__":
    main()
