//! Reads the state of a kind node from its tools: its kubelet's process, its containers, its locks on a shutdown.
//!
//! Mirrors the fields of `GET machines/NAME` that expectations use: `state`, `processes`, `containers`, `logind`.
//! Inputs: the output of systemd and of containerd's `ctr`. Outputs: JSON of the core; the error message of a kubelet
//! that refuses to start. Pure; callers run the scripts.

use nodeproof_core::json;
use nodeproof_core::objects::Json;
use nodeproof_core::scenario::{Predicate, Scenario, Subject};

/// What of a node a scenario looks at, beside its state and that of its programs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looks {
    /// The locks on a shutdown, and files about it.
    logind: bool,
    /// The containers.
    containers: bool,
}

impl Looks {
    /// Returns what a scenario looks at.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let of_machines = scenario.facts().filter(|fact| matches!(fact.subject, Subject::Machine(_)));
        of_machines.fold(Self::default(), |looks, fact| match &fact.predicate {
            Predicate::Field { path, .. } if path.to_string() == "state" => looks,
            Predicate::Field { .. } => Self { logind: true, ..looks },
            _ => Self { containers: true, ..looks },
        })
    }

    /// Returns the script that prints the state of the kubelet and the container runtime, what logind shows once
    /// somebody had a lock, and a line for each container: its namespace, pod, name, state. Each program costs time.
    ///
    /// Source: org.freedesktop.login1(5), `ListInhibitors`, `InhibitDelayMaxUSec`;
    /// pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go (v1.34), `localStorageStateFile`, `kubeletLogindConf`.
    pub(crate) fn script(self) -> String {
        let parts = [(true, PROGRAMS), (self.logind, LOGIND), (self.containers, CONTAINERS)];
        let wanted = parts.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, part)| part);
        wanted.chain(["true"]).collect()
    }
}

const PROGRAMS: &str = r#"
systemctl is-active kubelet containerd | {
  read -r kubelet; read -r runtime; echo "kubelet $kubelet"; echo "runtime $runtime"
}
"#;

const LOGIND: &str = r#"
if [ -d /run/systemd/inhibit ]; then
  manager="org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager"
  text() { if [ -e "$1" ]; then jq -Rs . < "$1"; else echo null; fi; }
  { busctl -j call $manager ListInhibitors; busctl -j get-property $manager InhibitDelayMaxUSec
    text /etc/systemd/logind.conf.d/99-kubelet.conf; text /var/lib/kubelet/graceful_node_shutdown_state; } |
    jq -rsc '"logind " + ({
      inhibitors: [.[0].data[0][] | {what: .[0], who: .[1], why: .[2], mode: .[3]} | select(.who == "kubelet")],
      inhibitDelayMax: "\(.[1].data / 1000000)s", dropIn: .[2],
      gracefulNodeShutdownState: (.[3] // "null" | fromjson)} | with_entries(select(.value != null)) | tojson)'
fi
"#;

const CONTAINERS: &str = concat!(
    r#"
tasks=$(ctr -n k8s.io tasks ls 2>/dev/null | awk 'NR > 1 {print $1 "=" $3}')
for id in $(ctr -n k8s.io containers ls -q 2>/dev/null); do
  state=$(printf '%s\n' "$tasks" | sed -n "s/^$id=//p")
  ctr -n k8s.io containers info "$id" 2>/dev/null |"#,
    r#" jq -r --arg state "$state" '.Labels | select(.["io.cri-containerd.kind"] == "container") |
    "container \(.["io.kubernetes.pod.namespace"]) \(.["io.kubernetes.pod.name"])"#,
    r#" \(.["io.kubernetes.container.name"]) \($state)"'
done
"#
);

/// Waits until a kubelet answers or has ended, and then prints its last message.
pub(crate) const KUBELET_SCRIPT: &str = concat!(
    r#"
for i in $(seq 50); do
  curl -fsm1 -o /dev/null http://127.0.0.1:10248/healthz && exit 0
  if [ "$(systemctl show -p SubState --value kubelet)" = auto-restart ] || systemctl is-failed -q kubelet; then
    journalctl -u kubelet -o cat -n 200 | awk '/"command failed"|^panic: / {text = ""; on = 1}"#,
    r#" /^kubelet.service:|^goroutine / {on = 0} on {text = text $0 "\n"} END {printf "%s", text}' >&2
    exit 3
  fi
  sleep 0.2
done
exit 0"#
);

/// Reads what [`SCRIPT`] prints.
pub(crate) fn read(name: &str, node: &str, state: &str, output: &str) -> Json {
    let unit = |unit: &str| output.lines().any(|line| line.strip_prefix(unit) == Some(" active"));
    let shown_state = match state {
        "running" => "running",
        "paused" => "paused",
        _ => "off",
    };
    let mut containers = Vec::new();
    for line in output.lines() {
        let Some(rest) = line.strip_prefix("container ") else { continue };
        let mut words = rest.split_whitespace();
        let (Some(namespace), Some(pod), Some(container)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let state = match words.next() {
            Some("RUNNING") => "running",
            Some("CREATED") => "created",
            _ => "exited",
        };
        containers.push(json!({"namespace": namespace, "pod": pod, "container": container, "state": state}));
    }
    let mut shown = json!({
        "name": name, "nodeName": node, "state": shown_state, "powered": shown_state != "off",
        "processes": {"kubelet": {"running": unit("kubelet")}, "containerRuntime": {"running": unit("runtime")}},
    });
    shown.set(&["containers"], containers);
    if let Some(logind) =
        output.lines().find_map(|line| line.strip_prefix("logind ")).and_then(|text| Json::parse(text).ok())
    {
        shown.set(&["logind"], logind);
    }
    shown
}

/// Returns the error message of a kubelet that has ended by itself.
///
/// Source: k8s.io/component-base cli/run.go and k8s.io/klog/v2 internal/serialize/keyvalues.go (v1.34): `"command
/// failed" err="…"`, the error quoted as Go does; one of several lines stands indented between `<` and `>`. A panic is
/// told as it is.
pub(crate) fn refusal(said: &str) -> String {
    if let Some((_, lines)) = said.split_once("err=<\n") {
        let lines = lines.lines().take_while(|line| *line != " >").map(|line| line.strip_prefix('\t').unwrap_or(line));
        return lines.collect::<Vec<_>>().join("\n");
    }
    let Some((_, quoted)) = said.split_once("err=\"") else { return said.trim().to_owned() };
    let quoted = quoted.trim_end();
    let quoted = quoted.strip_suffix('"').unwrap_or(quoted);
    serde_json::from_str(&format!("\"{quoted}\"")).unwrap_or_else(|_| quoted.to_owned())
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;
    use nodeproof_core::scenario::{
        Act, Bound, Expectation, Fact, FieldTest, GraceLimits, Position, Predicate, Scenario, Subject,
    };

    use super::{Looks, read, refusal};

    #[test]
    fn a_node_shows_its_containers() {
        let shown = read("w", "n", "running", "kubelet active\nruntime inactive\ncontainer default p main RUNNING\n");
        assert_eq!(shown.at(&["processes", "kubelet", "running"]).as_bool(), Some(true));
        assert_eq!(shown.at(&["processes", "containerRuntime", "running"]).as_bool(), Some(false));
        let container = json!({"namespace": "default", "pod": "p", "container": "main", "state": "running"});
        assert_eq!(shown.get("containers").items(), [container]);
        let shown = read("w", "n", "running", "logind {\"inhibitors\":[],\"inhibitDelayMax\":\"30s\"}\n");
        assert_eq!(shown.get("logind"), &json!({"inhibitors": [], "inhibitDelayMax": "30s"}));
        assert_eq!(read("w", "n", "exited", "").get("state").as_str(), Some("off"));
    }

    #[test]
    fn a_kubelet_that_refuses_is_quoted() {
        let said = concat!(
            r#"E1121 21:00:00.1 99 run.go:72] "command failed" "#,
            r#"err="failed to parse kubelet flag: invalid argument \"x\" for \"--node-labels\" flag""#
        );
        assert_eq!(refusal(said), "failed to parse kubelet flag: invalid argument \"x\" for \"--node-labels\" flag");
        let said = "E1121 run.go:72] \"command failed\" err=<\n\tfailed to validate\n\tsecond line\n >\n";
        assert_eq!(refusal(said), "failed to validate\nsecond line");
        assert_eq!(refusal("panic: a gate is locked\n\n"), "panic: a gate is locked");
    }

    fn looking_at(predicate: Predicate) -> String {
        let fact = Fact { subject: Subject::Machine("w".into()), predicate };
        let (bound, in_grace) = (Bound::AtOnce, GraceLimits::default());
        let line = Expectation { fact, bound, in_grace, position: Position::default() };
        let act = Act { when: Vec::new(), expectations: vec![line] };
        Looks::of(&Scenario { acts: vec![act], ..Scenario::default() }).script()
    }

    #[test]
    fn a_look_runs_the_programs_that_its_lines_need() {
        let field = |path: &str| Predicate::Field { path: path.parse().unwrap(), test: FieldTest::Absent };
        let [state, locks] = ["state", "logind.inhibitors"].map(|path| looking_at(field(path)));
        let containers = looking_at(Predicate::Deleted);
        let runs = |script: &str| ["systemctl", "busctl", "ctr "].map(|program| script.contains(program));
        assert_eq!(
            [state, locks, containers].map(|script| runs(&script)),
            [[true, false, false], [true, true, false], [true, false, true],]
        );
    }
}
