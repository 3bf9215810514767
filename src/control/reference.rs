//! The reference of the control calls: `GET help`, `nodeproof control help`, and docs/control.md, which a test holds
//! equal to it.
//!
//! Output: a row for each call. Invariant (tested): there is a row for each route and no other, and its example is
//! answered as the row says.

use nodeproof_core::json;
use nodeproof_core::objects::Json;

use super::route::Call;
use super::{Control, Refusal, Reply};

/// A call as the reference shows it.
struct CallRow {
    /// Method and path; capital words stand for names.
    call: &'static str,
    /// What it does.
    says: &'static str,
    /// The fields of its body, or the parameters of its query.
    takes: &'static str,
    /// A line to send.
    example: &'static str,
    /// The code of its answer to the example in a cluster with the machine `w1`.
    code: u16,
}

/// All calls, in an order in which their examples follow from one another.
#[rustfmt::skip]
const ROWS: &[CallRow] = &[
    CallRow { call: "GET help", says: "these calls", takes: "", example: r#"{"call": "GET help"}"#, code: 200 },
    CallRow { call: "GET clock", says: "the instant, how much time has passed, and what is due next", takes: "",
        example: r#"{"call": "GET clock"}"#, code: 200 },
    CallRow { call: "POST clock/advance", says: "lets time pass; all that is due up to and at that instant is done",
        takes: "one of `by` (a duration), `until` (an instant), `toNext` (true); `stopWhen` (kind, name, namespace, \
            jsonPath, equals) ends it before",
        example: r#"{"call": "POST clock/advance", "body": {"by": "40s"}}"#, code: 200 },
    CallRow { call: "POST clock/rate", says: "how fast the clock runs; only `nodeproof serve` has one that runs",
        takes: "`rate`: 0 (paused), a number, or max",
        example: r#"{"call": "POST clock/rate", "body": {"rate": 0}}"#, code: 200 },
    CallRow { call: "GET settings", says: "the flags and defaults in force, with release and seed", takes: "",
        example: r#"{"call": "GET settings"}"#, code: 200 },
    CallRow { call: "POST machines", says: "adds a machine, powers it on and starts its kubelet",
        takes: "`name`; `nodeName`, `zone`, `region`; `capacity` (quantities by name), `addresses` (a list of type and \
            address), `swap`, `swapController` (true or false), `cgroupVersion` (1 or 2), `numa` (a list of id, cpus \
            and memory), `devicePlugins` (a list of resource and devices, each with id, numa and healthy), `images` \
            (a list of names and sizeBytes), `attachLimits` (a number by driver), `inodes` and `pids` (the most); \
            `osImage`, `kernelVersion`, `containerRuntime`, `machineId`, `systemUuid`, `bootId`, `clockSkew`; \
            `failing` (a list of machine-info, version-info, runtime-status, logind, inhibit-delay and image-pull), \
            `inhibitMaxDelay`, `cni` (installed, none, or with-pod-cidr: written once the Node has its podCIDR), \
            `credentials` (client-certificate, or bootstrapToken with user and groups), `kubeconfigs` (credentials \
            by path), `kubelet` (version, flags, config), `powered` (true)",
        example: r#"{"call": "POST machines", "body": {"name": "w2", "zone": "a"}}"#, code: 201 },
    CallRow { call: "GET machines", says: "all machines", takes: "",
        example: r#"{"call": "GET machines"}"#, code: 200 },
    CallRow { call: "GET machines/NAME", says: "a machine: its processes, containers, heartbeats and links", takes: "",
        example: r#"{"call": "GET machines/w1"}"#, code: 200 },
    CallRow { call: "GET machines/NAME/containers", says: "its containers", takes: "",
        example: r#"{"call": "GET machines/w1/containers"}"#, code: 200 },
    CallRow { call: "POST machines/NAME/do", says: "does something to a machine",
        takes: "`action`: kubelet-stop, kubelet-kill, kubelet-start, kubelet-restart, kubelet-freeze, kubelet-thaw, \
            pause, resume, power-off, power-on, reboot, shutdown, announce-shutdown, cancel-shutdown, runtime-stop, \
            runtime-start, runtime-freeze, runtime-thaw, network-disconnect, network-connect, cni-remove, cni-install, \
            fill-disk, fill-memory, use-pids, load, relieve, manifest-write, manifest-remove, change; `bootId` with \
            power-on and reboot, `delay` with shutdown, `kubelet` with kubelet-start and kubelet-restart, `free` with \
            fill-disk (and `freeInodes`), fill-memory and use-pids, `name` (and `object`) with manifest-write \
            and manifest-remove, `addresses` \
            with network-connect, with change whatever POST machines takes for the hardware, and `clockSkew`",
        example: r#"{"call": "POST machines/w1/do", "body": {"action": "kubelet-kill"}}"#, code: 200 },
    CallRow { call: "POST machines/NAME/request", says: "sends a request to the server of its kubelet",
        takes: "`path`; `method` (GET), `port` (10250), `scheme` (https), `upgrade` (false); `as` (user and groups) \
            for a client certificate, or `token`; `from` (outside the cluster), as `machine/w2`",
        example: r#"{"call": "POST machines/w1/request", "body": {"path": "/healthz"}}"#, code: 200 },
    CallRow { call: "PUT machines/NAME/hints", says: "what a provider answers to the topology manager",
        takes: "`namespace`, `pod`, `container`, `resource`, `hints`",
        example: "{\"call\": \"PUT machines/w2/hints\", \"body\": {\"namespace\": \"default\", \"pod\": \"p\", \
            \"container\": \"c\", \"resource\": \"cpu\", \"hints\": [{\"numa\": [0], \"preferred\": true}]}}",
        code: 200 },
    CallRow { call: "POST network/rules", says: "adds a rule that stalls, delays, swallows or answers messages; one to \
            `api` meets requests, one from `api` answers and events of watches; `drop` without more stalls the \
            connection; between machines, as from `machine/w1` to `machine/w2`, it meets calls, and drops or refuses \
            them; a machine may be one that comes later",
        takes: "`from`, `to`, `effect`; `match` (verb, resource, subresource, name), `for`, `times`, `probability`",
        example: r#"{"call": "POST network/rules", "body": {"from": "machine/w2", "to": "api", "effect": "drop"}}"#,
        code: 201 },
    CallRow { call: "GET network/rules", says: "all rules, with the messages that they met", takes: "",
        example: r#"{"call": "GET network/rules"}"#, code: 200 },
    CallRow { call: "GET network/rules/ID", says: "a rule, also one that has ended by itself", takes: "",
        example: r#"{"call": "GET network/rules/r1"}"#, code: 200 },
    CallRow { call: "DELETE network/rules/ID", says: "ends a rule, shows it for the last time and forgets it",
        takes: "", example: r#"{"call": "DELETE network/rules/r1"}"#, code: 200 },
    CallRow { call: "POST pods/NAMESPACE/NAME/behave", says: "what the containers of a Pod do from now on",
        takes: "`container`, `startsAfter`, `readyAfter`, `failsReadinessAfter`, `failsLivenessAfter`, `stopsAfter`, \
            `crashesAfter`, `exitCode`, `uses` (cpu, memory, ephemeral-storage, inodes, pids, swap, volumes); all but \
            a start may also come after `never`",
        example: r#"{"call": "POST pods/default/p/behave", "body": {"stopsAfter": "5s"}}"#, code: 200 },
    CallRow { call: "POST nodes/NAME/drain", says: "starts `kubectl drain` of a Node, which goes on as time passes",
        takes: "`flags` (of kubectl, by name); `also`: further Nodes",
        example: r#"{"call": "POST nodes/w1/drain", "body": {"flags": {"force": true}}}"#, code: 201 },
    CallRow { call: "GET nodes/NAME/describe", says: "the lines that `kubectl describe node` prints of a Node now, and \
            its exit code", takes: "",
        example: r#"{"call": "GET nodes/w1/describe"}"#, code: 200 },
    CallRow { call: "GET drains/ID", says: "the lines that a drain has printed, and its exit code once it has ended",
        takes: "", example: r#"{"call": "GET drains/drain-1"}"#, code: 200 },
    CallRow { call: "GET controllers", says: "the controllers, with their loops and queues; `leader` is false \
            where the process of their program waits for its Lease (flag leader-elect)", takes: "",
        example: r#"{"call": "GET controllers"}"#, code: 200 },
    CallRow { call: "POST controllers/NAME/do", says: "stops, starts or restarts a controller, or lets a loop run once",
        takes: "`action`: stop, start, restart, run-once; `loop` for run-once",
        example: r#"{"call": "POST controllers/node-lifecycle-controller/do", "body": {"action": "restart"}}"#,
        code: 200 },
    CallRow { call: "PUT cloud/instances/NAME",
        says: "says what the cloud knows of a Node's instance; the first makes it a cluster in a cloud, with \
            cloud-controller-manager",
        takes: "`exists`, `shutdown`, `providerID`, `type`, `zone`, `region`, `addresses`, `labels`, `errors` (by \
            call), `interface` (instancesV2 or instances), `delay`; what is left out it does not have",
        example: r#"{"call": "PUT cloud/instances/w1", "body": {"providerID": "test:///a/i-1", "zone": "a"}}"#,
        code: 200 },
    CallRow { call: "GET cloud/instances/NAME", says: "what the cloud knows of an instance", takes: "",
        example: r#"{"call": "GET cloud/instances/w1"}"#, code: 200 },
    CallRow { call: "DELETE cloud/instances/NAME", says: "the instance is gone", takes: "",
        example: r#"{"call": "DELETE cloud/instances/w1"}"#, code: 200 },
    CallRow { call: "GET decisions", says: "what the components decided, and why",
        takes: "in the query `about`, `since`, `component`",
        example: r#"{"call": "GET decisions?about=node/w1"}"#, code: 200 },
    CallRow { call: "GET trace", says: "each message and timer: text with one JSON object a line, and beside it on \
            standard output the same as a list", takes: "in the query `since`",
        example: r#"{"call": "GET trace?since=2026-01-01T01:00:00Z"}"#, code: 200 },
    CallRow { call: "GET metrics/COMPONENT", says: "the metrics of a component as text; 503 with the reason if nobody \
            answers", takes: "",
        example: r#"{"call": "GET metrics/node-lifecycle-controller"}"#, code: 200 },
    CallRow { call: "GET watches/ID", says: "what a watch has seen since the last look; a watch is a request of the \
            Kubernetes API with `?watch=true`", takes: "",
        example: r#"{"call": "GET watches/x1"}"#, code: 200 },
    CallRow { call: "DELETE watches/ID", says: "ends a watch", takes: "",
        example: r#"{"call": "DELETE watches/x1"}"#, code: 200 },
    CallRow { call: "POST reset", says: "begins again with an empty cluster, or the given one; open watches end",
        takes: "`k8s`, `seed`, `start`, `settings`, `cluster`",
        example: r#"{"call": "POST reset", "body": {"seed": 2}}"#, code: 200 },
];

/// What stands above the calls.
const HEAD: &str = "\
# The control interface

`nodeproof control` drives a simulated cluster from a test in any language: a JSON object a line in, one a line out, in
order, until the input ends. This page is what `nodeproof control help` prints.

```console
$ echo '{\"id\": 1, \"call\": \"GET clock\"}' | nodeproof control
```

A request has `call`, method and path, and may have `id`, which its answer repeats, and `body`. A path that begins with
`/` is a request of the Kubernetes API: `GET /api/v1/nodes`, `GET /api/v1/nodes?watch=true`; it may also have `as`
(`user`, `groups`; default an admin), `headers`, and `raw` in place of `body`. An answer has `code` and `body` or `raw`,
`headers` if the API server answered, and `watch`, the name of a watch that was opened.

Time passes only in `POST clock/advance`, or at the rate of `nodeproof serve`. Durations are text (`40s`, `5m`),
instants RFC 3339. An unknown field, unit or name is refused with code 400 and `{\"error\": {\"field\", \"message\",
\"didYouMean\"}}`, what does not exist with 404, what is not modelled with 501; then nothing has changed. `--cluster
FILE` says what is there from the start (`machines`, `objects`), `--set` which flags the components have, `--k8s` their
release: also 1.4 to 1.30, of which it is known how Pods leave lost nodes, with Nodes that are fed by hand. Of a
kubelet older than 1.31 what it does with swap space is modelled; `notModelled` of its machine says so.

## Over HTTPS

`nodeproof serve` gives the same cluster to kubectl, client-go and whatever else speaks Kubernetes, and answers these
calls below `/nodeproof/v1/` on the same port. It prints one line when it is ready, writes a kubeconfig whose user is a
cluster administrator, and ends at SIGINT or SIGTERM.

```console
$ nodeproof serve --clock 60x --kubeconfig np.kubeconfig
$ nodeproof ctl --kubeconfig np.kubeconfig call 'POST machines' '{\"name\": \"w1\"}'
$ nodeproof ctl --kubeconfig np.kubeconfig machine w1 kubelet-kill
$ nodeproof ctl --kubeconfig np.kubeconfig advance 40s
```

The clock is `paused` unless `--clock` or `POST clock/rate` says `real`, `max` or so many times, as `60x`. It listens on
loopback, where control calls need no credentials; with `--listen` on another interface each caller needs a certificate
or a token. Whoever has none is `system:anonymous` to the API server. Bodies and answers are JSON, YAML or protobuf;
the events of a watch are JSON. Not there: connections that are upgraded, as for exec; a request that a rule delays is
answered 504; `/openapi/v3` says only that fields are validated.

## Calls

";

/// Returns the reference as a page of Markdown.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(HEAD);
    for row in ROWS {
        page += &format!("### `{}`\n\n{}\n\n", row.call, sentence(row.says));
        if !row.takes.is_empty() {
            page += &format!("Takes {}.\n\n", row.takes);
        }
        page += &format!("Answered with {}:\n\n```json\n{}\n```\n\n", row.code, row.example);
    }
    page.truncate(page.trim_end().len());
    page + "\n"
}

fn sentence(says: &str) -> String {
    let mut letters = says.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

impl Control {
    pub(super) fn help(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let row = |row: &CallRow| {
            let example = Json::parse(row.example).unwrap_or_default();
            json!({"call": row.call, "says": row.says, "takes": row.takes, "example": example})
        };
        Ok(Reply::ok(ROWS.iter().map(row).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::route::ROUTES;
    use super::super::{Session, Setup};
    use super::*;

    #[test]
    fn each_call_has_a_row() {
        let pattern = |call: &str| -> String {
            let parts = call.split('/').map(|part| match part {
                "COMPONENT" => "**",
                part if part.chars().all(|c| c.is_ascii_uppercase()) => "*",
                part => part,
            });
            parts.collect::<Vec<_>>().join("/")
        };
        let mut rows: Vec<String> = ROWS.iter().map(|row| pattern(row.call)).collect();
        let mut routes: Vec<String> = ROUTES.iter().map(|(method, path, _)| format!("{method} {path}")).collect();
        rows.sort();
        routes.sort();
        assert_eq!(rows, routes);
    }

    #[test]
    fn the_examples_are_answered_as_the_rows_say() {
        let cluster = Json::parse(r#"{"machines": [{"name": "w1"}, {"name": "w2"}]}"#).unwrap();
        let start = nodeproof_core::sim::DEFAULT_START;
        let release = nodeproof_core::profile::DEFAULT_RELEASE;
        let mut session = Session::new(Setup::new(release, 1, start, Vec::new(), cluster).unwrap()).unwrap();
        session.answer(br#"{"call": "POST clock/advance", "body": {"by": "1m"}}"#);
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
            "spec": {"nodeName": "w2", "containers": [{"name": "c", "image": "i"}]},
        });
        let request = json!({"call": "POST /api/v1/namespaces/default/pods", "body": pod});
        let made = Json::parse(&session.answer(request.to_string().as_bytes())).unwrap();
        assert_eq!(made.get("code"), &Json::from(201), "{made}");
        session.answer(br#"{"call": "GET /api/v1/nodes?watch=true"}"#);
        for row in ROWS {
            let example = row.example.replace(r#""w2", "zone""#, r#""w3", "zone""#);
            let answer = Json::parse(&session.answer(example.as_bytes())).unwrap();
            assert_eq!(answer.get("code"), &Json::from(i64::from(row.code)), "{}: {answer}", row.call);
        }
    }

    #[test]
    fn the_page_in_docs_is_this_one() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/control.md");
        let stored = std::fs::read_to_string(file).unwrap_or_default();
        assert!(stored == page(), "docs/control.md differs: nodeproof control help > docs/control.md");
    }
}
