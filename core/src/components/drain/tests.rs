//! Tests what a drain prints, against a server of scripted answers.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{Drain, DrainCommand};
use crate::components::{Component, Output};
use crate::json;
use crate::network::{Answer, Ask, Call, Identity, Request, ToClient, Verb};
use crate::objects::{Json, Text};
use crate::profile::{Release, Settings};

const START: Timestamp = Timestamp::UNIX_EPOCH;

/// Runs a drain against a server that answers at once, up to some time; returns what it prints and its exit code.
fn play(
    release: Release,
    flags: &[(&str, &str)],
    server: &mut dyn FnMut(&Call, SignedDuration) -> (u16, Json),
    end: SignedDuration,
) -> (Vec<String>, Option<u8>) {
    let mut command = DrainCommand::of(vec![Text::of("n1")]);
    for (flag, value) in flags {
        command.set(flag, value).unwrap();
    }
    let settings = Arc::new(Settings::default().at_release(release));
    let mut now = START;
    let mut drain = Drain::new(command, Identity::admin(), settings, now);
    loop {
        let mut requests = VecDeque::new();
        loop {
            while let Some(output) = drain.poll_output() {
                if let Output::Request(request) = output {
                    requests.push_back(request);
                }
            }
            let Some(Request { id, ask: Ask::Call(call), .. }) = requests.pop_front() else { break };
            let (code, body) = server(&call, now.duration_since(START));
            drain.handle_message(ToClient::Response { id, result: Ok(Answer::json(code, body)) }, now);
        }
        match drain.next_deadline() {
            Some(next) if next.at <= START + end => now = now.max(next.at),
            _ => return (drain.printed().to_vec(), drain.exit()),
        }
        drain.handle_timeout(now);
    }
}

fn pod(name: &str, more: Json) -> Json {
    let mut pod = json!({"metadata": {"name": name, "namespace": "shop", "uid": name,
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "controller": true}]}});
    for (field, value) in more.fields() {
        pod.set(&[field.as_str()], value.clone());
    }
    pod
}

fn refusal(code: u16, reason: &str, message: &str) -> (u16, Json) {
    (code, json!({"kind": "Status", "status": "Failure", "reason": reason, "message": message}))
}

/// Answers all but what is about single pods.
fn answer(call: &Call, pods: &[Json]) -> (u16, Json) {
    match call.path_and_query().split('?').next().unwrap_or_default() {
        "/api/v1" => {
            let eviction = json!({"name": "pods/eviction", "kind": "Eviction", "group": "policy", "version": "v1"});
            (200, json!({"resources": [eviction]}))
        }
        "/api/v1/pods" => (200, json!({"items": pods.iter().cloned().collect::<Json>()})),
        "/apis/apps/v1/namespaces/shop/daemonsets/agent" => (200, json!({"metadata": {"name": "agent"}})),
        path if path.starts_with("/api/v1/nodes/") => (200, json!({"metadata": {"name": "n1"}})),
        path => refusal(404, "NotFound", path),
    }
}

const ALLOWED_NEVER: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

fn is_eviction(call: &Call, name: &str) -> bool {
    call.verb == Verb::Create && call.path_and_query().ends_with(&alloc::format!("/{name}/eviction"))
}

/// Source: kubectl 1.34.4 against kube-apiserver 1.34.4: `kubectl drain node-c --ignore-daemonsets --timeout=3s`.
#[test]
fn time_ends_while_one_pod_is_refused_and_another_does_not_go() {
    let pods = [pod("db-1", json!({})), pod("web", json!({}))];
    let mut server = |call: &Call, _| match () {
        () if is_eviction(call, "db-1") => refusal(429, "TooManyRequests", ALLOWED_NEVER),
        () if is_eviction(call, "web") => (201, json!({})),
        () if call.path_and_query().ends_with("/pods/web") => (200, pods[1].clone()),
        () => answer(call, &pods),
    };
    let (printed, exit) = play(Release::new(34, 4), &[("timeout", "3s")], &mut server, SignedDuration::from_secs(60));
    let both = "[error when waiting for pod \"web\" in namespace \"shop\" to terminate: context deadline exceeded, \
                error when evicting pods/\"db-1\" -n \"shop\": global timeout reached: 3s]";
    let expected = [
        String::from("node/n1 cordoned"),
        String::from("evicting pod shop/db-1"),
        String::from("evicting pod shop/web"),
        alloc::format!("error when evicting pods/\"db-1\" -n \"shop\" (will retry after 5s): {ALLOWED_NEVER}"),
        String::from("evicting pod shop/db-1"),
        alloc::format!("There are pending pods in node \"n1\" when an error occurred: {both}"),
        String::from("pod/db-1"),
        String::from("pod/web"),
        alloc::format!("error: unable to drain node \"n1\" due to error: {both}, continuing command..."),
        String::from("There are pending nodes to be drained:"),
        String::from(" n1"),
        String::from(
            "error when waiting for pod \"web\" in namespace \"shop\" to terminate: context deadline exceeded",
        ),
        String::from("error when evicting pods/\"db-1\" -n \"shop\": global timeout reached: 3s"),
    ];
    assert_eq!(printed, expected);
    assert_eq!(exit, Some(1));
}

#[test]
fn releases_end_a_wait_differently() {
    let pods = [pod("web", json!({}))];
    let mut server = |call: &Call, _| match () {
        () if is_eviction(call, "web") => (201, json!({})),
        () if call.path_and_query().ends_with("/pods/web") => (200, pods[0].clone()),
        () => answer(call, &pods),
    };
    for (release, why) in [(31, "global timeout reached: 3s"), (32, "context deadline exceeded")] {
        let (printed, _) =
            play(Release::new(release, 0), &[("timeout", "3s")], &mut server, SignedDuration::from_secs(60));
        let last = "error when waiting for pod \"web\" in namespace \"shop\" to terminate: ";
        assert_eq!(printed.last(), Some(&alloc::format!("{last}{why}")), "1.{release}");
    }
}

#[test]
fn filters_refuse_in_their_order_and_with_their_texts() {
    let mut alone = pod("alone", json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}));
    alone.set(&["metadata", "ownerReferences"], json!([]));
    let mut agent = pod("agent-x", json!({}));
    let owner = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "controller": true});
    agent.set(&["metadata", "ownerReferences"], json!([owner]));
    let mut mirror = alone.clone();
    mirror.set(&["metadata", "annotations", crate::components::MIRROR], "x");
    let pods = [agent, alone, mirror];
    let run = |release, flags: &[(&str, &str)]| {
        let mut server = |call: &Call, _| answer(call, &pods);
        play(Release::new(release, 0), flags, &mut server, SignedDuration::ZERO).0
    };
    let says = |lines: &[String], line: &str| lines.iter().any(|own| own == line);
    let lines = run(34, &[]);
    for line in [
        "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): shop/agent-x",
        "cannot delete Pods with local storage (use --delete-emptydir-data to override): shop/alone",
    ] {
        assert!(says(&lines, line), "{lines:#?}");
    }
    let given = [("ignore-daemonsets", "true"), ("delete-emptydir-data", "")];
    for (release, twice) in [(35, "cannot delete "), (36, "")] {
        let line = "Pods that declare no controller (use --force to override): shop/alone";
        let lines = run(release, &given);
        assert!(says(&lines, &alloc::format!("cannot delete {twice}{line}")), "{lines:#?}");
    }
    let forced = [given[0], given[1], ("force", "true"), ("dry-run", "client")];
    let expected = [
        "node/n1 cordoned (dry run)",
        "Warning: ignoring DaemonSet-managed Pods: shop/agent-x; deleting Pods that declare no controller: shop/alone",
        "evicting pod shop/alone (dry run)",
        "node/n1 drained (dry run)",
    ];
    assert_eq!(run(34, &forced), expected);
}

#[test]
fn a_refused_pod_is_read_again_since_1_35() {
    let pods = [pod("db", json!({}))];
    for (release, reads) in [(34, 0), (35, 1)] {
        let (mut read, mut refused) = (0, false);
        let mut server = |call: &Call, _| match () {
            () if is_eviction(call, "db") && !core::mem::replace(&mut refused, true) => {
                refusal(429, "TooManyRequests", ALLOWED_NEVER)
            }
            () if is_eviction(call, "db") => refusal(404, "NotFound", "pods \"db\" not found"),
            () if call.path_and_query().ends_with("/pods/db") => {
                read += 1;
                (200, pods[0].clone())
            }
            () => answer(call, &pods),
        };
        let (printed, exit) = play(Release::new(release, 0), &[], &mut server, SignedDuration::from_secs(5));
        assert_eq!((read, exit), (reads, Some(0)), "1.{release}: {printed:#?}");
    }
}

#[test]
fn a_node_that_is_not_there_ends_the_command() {
    let mut server = |_: &Call, _| refusal(404, "NotFound", "nodes \"n1\" not found");
    let (printed, exit) = play(Release::new(34, 0), &[], &mut server, SignedDuration::ZERO);
    assert_eq!(printed, ["Error from server (NotFound): nodes \"n1\" not found"]);
    assert_eq!(exit, Some(1));
}

#[test]
fn a_flag_that_kubectl_does_not_have_is_refused() {
    let mut command = DrainCommand::of(Vec::new());
    let wrong = command.set("ignore-daemonset", "true").unwrap_err();
    assert_eq!(wrong, "kubectl drain has no flag \"ignore-daemonset\"; did you mean \"ignore-daemonsets\"?");
    assert_eq!(command.set("timeout", "3").unwrap_err(), "--timeout is a duration, as 30s, not \"3\"");
    assert_eq!(command.set("selector", "a=b").unwrap_err(), "--selector of kubectl drain is not modelled yet");
}

#[test]
fn kubectl_is_told_what_differs_from_its_defaults() {
    let mut command = DrainCommand::of(Vec::from(["a", "b"].map(Text::of)));
    assert_eq!(command.arguments(), ["drain", "a", "b"]);
    let flags = [
        ("force", "true"),
        ("ignore-daemonsets", "false"),
        ("grace-period", "0"),
        ("timeout", "1m30.5s"),
        ("pod-selector", "app in (a,b)"),
        ("skip-wait-for-delete-timeout", "5"),
        ("dry-run", "server"),
        ("chunk-size", "0"),
    ];
    flags.into_iter().for_each(|(flag, value)| command.set(flag, value).unwrap());
    let expected = "drain a b --force --grace-period=0 --timeout=90.5s --pod-selector=app in (a,b) \
                    --skip-wait-for-delete-timeout=5 --dry-run=server --chunk-size=0";
    assert_eq!(command.arguments().join(" "), expected);
}
