#!/usr/bin/env bash
# When does a node whose kubelet is killed become Unknown? Asked of `nodeproof control` with bash and jq.
# Use: examples/control/client.sh [PROGRAM]; PROGRAM is nodeproof where none is named.
set -euo pipefail

coproc CLUSTER { "${1:-nodeproof}" control; }
# A part of a pipeline has no coprocess, but it has these.
exec {calls}>&"${CLUSTER[1]}" {answers}<&"${CLUSTER[0]}"

# Sends a call with its body, and prints the body of the answer.
call() {
  local answer
  jq -nc --arg call "$1" --argjson body "${2:-null}" \
    '{call: $call, body: $body} | with_entries(select(.value != null))' >&"$calls"
  IFS= read -r answer <&"$answers"
  if [ "$(jq .code <<<"$answer")" -ge 300 ]; then
    echo "$1: $(jq -c . <<<"$answer")" >&2
    exit 1
  fi
  jq -c .body <<<"$answer"
}

ready='{.status.conditions[?(@.type=="Ready")].status}'
# Prints what lets time pass until the Node's Ready has a status, at most so long.
until_ready() {
  jq -nc --arg by "$1" --arg path "$ready" --arg to "$2" \
    '{by: $by, stopWhen: {kind: "Node", name: "w1", jsonPath: $path, equals: $to}}'
}

call 'POST machines' '{"name": "w1"}' >/dev/null
call 'POST clock/advance' "$(until_ready 2m True)" | jq -r '"Ready after \(.advanced)"'
call 'POST clock/advance' '{"by": "1m"}' >/dev/null
call 'POST machines/w1/do' '{"action": "kubelet-kill"}' >/dev/null
call 'POST clock/advance' "$(until_ready 10m Unknown)" | jq -r '"Unknown \(.advanced) after its end, stopped by \(.stopped)"'
call 'GET /api/v1/nodes/w1' | jq -r '.spec.taints[] | "\(.key):\(.effect)"'
