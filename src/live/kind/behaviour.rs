//! How the containers of a scenario behave on a kind node: how long they take to stop, with which code they end, when
//! they crash.
//!
//! Mirrors `core/src/components/host/behaviour.rs` by the means of a node: containerd hands the annotations of a Pod to
//! the program that runs containers, and a program of ours in its place lets a container that has some run a shell of
//! the node instead of its image. Nothing of that is seen by the kubelet or written to the API server. Inputs: the
//! objects of a scenario. Outputs: the script that prepares a node, or what a node cannot show. Left out on purpose:
//! what containers use, when they are ready, and init containers, which the shell cannot tell from others.

use nodeproof_core::components::machine::BEHAVIOUR_PREFIX;
use nodeproof_core::network::{Body, Call, Verb};
use nodeproof_core::objects::Json;
use nodeproof_core::scenario::{Action, Scenario, ScenarioAction, Setup};

use crate::live::cleanup::op::quoted;

/// What can be said of a container: the parts of the annotations' names behind that of the container.
const SAYS: [&str; 3] = ["stops-after", "exit-code", "crashes-after"];
/// The program that runs containers in the place of runc.
const PROGRAM: &str = "/usr/local/sbin/nodeproof-runc";

/// What a container runs. A process that reacts to SIGTERM takes a second unless it was told otherwise.
const PROCESS: &str = r#"stops=$1; code=$2; crashes=$3
if [ "$stops" = never ]; then trap "" TERM; else trap 'sleep "${stops:-1}"; exit "${code:-0}"' TERM; fi
if [ -n "${crashes#never}" ]; then sleep "$crashes" & wait $!; exit "${code:-1}"; fi
sleep infinity & wait $!
"#;

/// Changes what a container runs that has annotations, and gives it the node's programs.
///
/// Source: containerd pkg/cri/annotations/annotations.go (v1.6), `ContainerName`.
const EDIT: &str = r#"
def seconds: if . == null then "" elif . == "never" then . else
  [scan("([0-9.]+)(h|ms|m|s)") | (.[0] | tonumber) * {"h": 3600, "m": 60, "s": 1, "ms": 0.001}[.[1]]] |
  add | tostring end;
.annotations as $all | ($all["io.kubernetes.cri.container-name"] // "") as $name |
def told($what): $all["nodeproof.dev/\($name).\($what)"];
if $name == "" or ([told("stops-after", "exit-code", "crashes-after") | values] == []) then . else
  .process.args = ["/bin/sh", "-c", $process, "sh", (told("stops-after") | seconds), (told("exit-code") // ""),
    (told("crashes-after") | seconds)] |
  .mounts += [$folders | split(" ")[] | {destination: ., type: "bind", source: ., options: ["rbind", "ro"]}] end"#;

/// Tells whether a scenario says how containers behave.
pub(super) fn is_told(scenario: &Scenario) -> bool {
    objects(scenario).any(|object| !said(object).is_empty())
}

/// Returns why a node cannot show how the containers of a scenario behave.
pub(super) fn obstacle(scenario: &Scenario) -> Option<String> {
    objects(scenario).find_map(|object| {
        let mut own = said(object);
        own.retain(|name| !name.rsplit_once('.').is_some_and(|(_, what)| SAYS.contains(&what)));
        if let Some(name) = own.first() {
            let what = name.split_once('.').map_or(*name, |(_, what)| what);
            return Some(format!("containers of a kind node cannot be told {what}"));
        }
        let of_init =
            |name: &&str| inits(object).iter().any(|own| name.split_once('.').is_some_and(|(of, _)| of == *own));
        let init = said(object).into_iter().find(of_init);
        init.map(|_| "init containers of a kind node cannot be told how to behave".to_owned())
    })
}

/// Returns the script that prepares a node, before its kubelet starts.
///
/// Source: containerd docs/cri/config.md (v1.6), `pod_annotations` and `BinaryName`.
pub(super) fn script() -> String {
    let program = format!(
        "#!/bin/sh\n\
         bundle=; before=\n\
         for word in \"$@\"; do\n\
           case $before in --bundle|-b) bundle=$word;; esac\n\
           case $word in --bundle=*) bundle=${{word#*=}};; esac\n\
           before=$word\n\
         done\n\
         own=$bundle/config.json\n\
         if [ -n \"$bundle\" ] && grep -q '\"{BEHAVIOUR_PREFIX}' \"$own\" 2>/dev/null; then\n\
           folders=$(ls -d /bin /lib /lib64 /usr 2>/dev/null | paste -sd ' ')\n\
           new=$(jq -c --arg process {} --arg folders \"$folders\" {} \"$own\") && printf '%s\\n' \"$new\" > \"$own\"\n\
         fi\n\
         exec runc \"$@\"\n",
        quoted(PROCESS),
        quoted(EDIT)
    );
    format!(
        "printf %s {} > {PROGRAM}; chmod 755 {PROGRAM}; sed -i \
         -e '/containerd\\.runtimes\\.runc\\]$/a pod_annotations = [\"{BEHAVIOUR_PREFIX}*\"]' \
         -e '/containerd\\.runtimes\\.runc\\.options\\]$/a BinaryName = \"{PROGRAM}\"' /etc/containerd/config.toml; \
         systemctl restart containerd; ",
        quoted(&program)
    )
}

fn objects(scenario: &Scenario) -> impl Iterator<Item = &Json> {
    let running = scenario.given.iter().filter_map(|given| match &given.setup {
        Setup::RunningPod { pod } => Some(pod),
        _ => None,
    });
    let patches = scenario.actions().filter_map(|action| match action {
        ScenarioAction::Action(action) => match &**action {
            Action::Api { call: Call { verb: Verb::Patch | Verb::Update, body: Body::Json(body), .. }, .. } => {
                Some(body)
            }
            _ => None,
        },
        _ => None,
    });
    running.chain(scenario.objects_made().map(|(_, object)| object)).chain(patches)
}

/// Returns what an object says of containers, wherever it stands, as in the template of a Deployment.
fn said(tree: &Json) -> Vec<&str> {
    let own = tree.fields().filter_map(|(name, _)| name.strip_prefix(BEHAVIOUR_PREFIX));
    own.chain(parts(tree).flat_map(said)).collect()
}

fn inits(tree: &Json) -> Vec<&str> {
    let own = tree.get("initContainers").items().iter().filter_map(|init| init.get("name").as_str());
    own.chain(parts(tree).flat_map(inits)).collect()
}

fn parts(tree: &Json) -> impl Iterator<Item = &Json> {
    tree.fields().map(|(_, value)| value).chain(tree.items())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use nodeproof_core::json;
    use nodeproof_core::scenario::{Given, Position};

    use super::*;

    fn scenario(pod: Json) -> Scenario {
        let given = Given { setup: Setup::RunningPod { pod }, position: Position::default() };
        Scenario { given: vec![given], ..Scenario::default() }
    }

    #[test]
    fn what_a_node_cannot_show_is_named() {
        for (annotations, inits, why) in [
            (json!({}), json!([]), None),
            (json!({"nodeproof.dev/main.stops-after": "5s", "nodeproof.dev/main.exit-code": "3"}), json!([]), None),
            (
                json!({"nodeproof.dev/main.uses.memory": "1Gi"}),
                json!([]),
                Some("containers of a kind node cannot be told uses.memory"),
            ),
            (
                json!({"nodeproof.dev/first.exit-code": "1"}),
                json!([{"name": "first"}]),
                Some("init containers of a kind node cannot be told how to behave"),
            ),
        ] {
            let told = annotations.fields().next().is_some();
            let pod = json!({"metadata": {"annotations": annotations}, "spec": {"initContainers": inits}});
            // A Deployment has it one level deeper.
            for object in [pod.clone(), json!({"spec": {"template": pod}})] {
                let scenario = scenario(object);
                assert_eq!((obstacle(&scenario).as_deref(), is_told(&scenario)), (why, told));
            }
        }
    }

    /// Runs the process of a container, sends it SIGTERM after a moment if it is to, and returns its exit code.
    fn exit_code(arguments: [&str; 3], with_signal: bool) -> Option<i32> {
        let mut command = Command::new("sh");
        command.args(["-c", PROCESS, "sh"]).args(arguments).process_group(0);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let kill = |words: &str| Command::new("sh").args(["-c", &format!("kill {words}{}", child.id())]).output();
        if with_signal {
            std::thread::sleep(std::time::Duration::from_millis(300));
            assert!(kill("-TERM ").unwrap().status.success());
        }
        let code = child.wait().unwrap().code();
        // In a container the end of the first process ends the others; here they would hold what they inherited.
        let _ = Command::new("sh").args(["-c", &format!("kill -KILL -{}", child.id())]).output();
        code
    }

    #[test]
    fn a_process_ends_as_it_was_told() {
        assert_eq!(exit_code(["0.1", "", ""], true), Some(0));
        assert_eq!(exit_code(["0.1", "3", ""], true), Some(3));
        assert_eq!(exit_code(["", "", "0.1"], false), Some(1));
        assert_eq!(exit_code(["never", "7", "1"], true), Some(7));
    }
}
