//! Tests of a session: lines in, answers out.

mod controllers;
mod conversations;
mod discovery;
mod topology;

use nodeproof_core::json;
use nodeproof_core::objects::Json;

use super::{Session, Setup};

fn session() -> Session {
    Session::new(Setup::default()).unwrap()
}

fn ask(session: &mut Session, request: &Json) -> Json {
    Json::parse(&session.answer(request.to_string().as_bytes())).unwrap()
}

fn call(session: &mut Session, call: &str, body: Json) -> Json {
    ask(session, &json!({"id": 1, "call": call, "body": body}))
}

fn refusal(session: &mut Session, name: &str, body: Json) -> (i64, String, String) {
    let answer = call(session, name, body);
    let error = answer.at(&["body", "error"]);
    let text = |field| error.get(field).as_str().unwrap_or_default().to_string();
    assert!(!text("message").is_empty(), "{answer}");
    (answer.get("code").as_i64().unwrap(), text("field"), text("didYouMean"))
}

#[test]
fn a_line_that_is_no_request_gets_code_400() {
    let mut session = session();
    let lines: [&[u8]; 10] = [
        b"",
        b"   ",
        b"{",
        b"[]",
        b"3",
        b"\xff\xfe",
        b"{\"id\": 7}",
        b"{\"id\": 7, \"call\": 3}",
        b"{\"id\": 7, \"call\": \"clock\"}",
        b"{\"id\": 7, \"call\": \"GET clock\", \"bdoy\": {}}",
    ];
    for line in lines {
        let answer = Json::parse(&session.answer(line)).unwrap();
        assert_eq!(answer.get("code").as_i64(), Some(400), "{answer}");
        assert!(answer.at(&["body", "error", "message"]).as_str().is_some(), "{answer}");
    }
    let deep = "[".repeat(100_000);
    assert!(session.answer(deep.as_bytes()).contains("\"code\":400"));
    let long = json!({"id": "x".repeat(3_000_000), "call": "GET clock"});
    assert_eq!(ask(&mut session, &long).get("code").as_i64(), Some(200));
}

#[test]
fn ids_come_back_as_they_were_and_lines_are_answered_in_order() {
    let input = "{\"id\":{\"a\":[1]},\"call\":\"GET clock\"}\n\n{\"id\":\"b\",\"call\":\"GET \
        nothing\"}\n{\"call\":\"GET clock\"}";
    let mut output = Vec::new();
    session().run(input.as_bytes(), &mut output).unwrap();
    let answers: Vec<Json> =
        String::from_utf8(output).unwrap().lines().map(|line| Json::parse(line).unwrap()).collect();
    let shown: Vec<String> =
        answers.iter().map(|answer| format!("{} {}", answer.get("id"), answer.get("code"))).collect();
    assert_eq!(shown, ["{\"a\":[1]} 200", "null 400", "\"b\" 400", "null 200"]);
}

#[test]
fn the_clock_moves_by_advance_alone() {
    let mut session = session();
    let clock = call(&mut session, "GET clock", Json::Null);
    assert_eq!(clock.at(&["body", "now"]).as_str(), Some("2026-01-01T00:00:00.000000Z"));
    assert_eq!(clock.at(&["body", "sinceStart"]).as_str(), Some("0s"));
    let advanced = call(&mut session, "POST clock/advance", json!({"by": "12.5s"}));
    assert_eq!(advanced.at(&["body", "now"]).as_str(), Some("2026-01-01T00:00:12.500000Z"));
    assert_eq!(advanced.at(&["body", "advanced"]).as_str(), Some("12.5s"));
    assert_eq!(advanced.at(&["body", "stopped"]).as_str(), Some("time"));
    let until = call(&mut session, "POST clock/advance", json!({"until": "2026-01-01T00:01:00Z"}));
    assert_eq!(until.at(&["body", "advanced"]).as_str(), Some("47.5s"));
    assert_eq!(call(&mut session, "GET clock", Json::Null).at(&["body", "sinceStart"]).as_str(), Some("60s"));
    assert_eq!(call(&mut session, "POST clock/rate", json!({"rate": 0})).get("code").as_i64(), Some(200));
}

#[test]
fn what_the_clock_cannot_do_is_refused() {
    let mut session = session();
    call(&mut session, "POST clock/advance", json!({"by": "10s"}));
    for (body, field) in [
        (json!({}), "body"),
        (Json::Null, "body"),
        (json!([]), "body"),
        (json!({"by": "1s", "until": "2026-01-01T00:01:00Z"}), "body"),
        (json!({"by": "1s", "toNext": true}), "body"),
        (json!({"toNext": false}), "toNext"),
        (json!({"toNext": "yes"}), "toNext"),
        (json!({"by": "-1s"}), "by"),
        (json!({"by": 40}), "by"),
        (json!({"by": "40"}), "by"),
        (json!({"by": "forty"}), "by"),
        (json!({"until": "2026-01-01T00:00:09Z"}), "until"),
        (json!({"until": "tomorrow"}), "until"),
        (json!({"bye": "1s"}), "bye"),
        (json!({"by": "1s", "stopWhen": {}}), "stopWhen.kind"),
        (json!({"by": "1s", "stopWhen": {"kind": "Nod", "name": "w1", "jsonPath": "{.a}"}}), "stopWhen.kind"),
        (json!({"by": "1s", "stopWhen": {"kind": "Node", "name": "w1", "jsonPath": "{.a"}}), "stopWhen.jsonPath"),
        (json!({"by": "1s", "stopWhen": {"kind": "Node", "name": "w1", "path": "{.a}"}}), "stopWhen.jsonPath"),
        (
            json!({"by": "1s", "stopWhen": {"kind": "Node", "namespace": "x", "name": "w1", "jsonPath": "{.a}"}}),
            "stopWhen.namespace",
        ),
    ] {
        assert_eq!(refusal(&mut session, "POST clock/advance", body.clone()).0, 400, "{body}");
        assert_eq!(refusal(&mut session, "POST clock/advance", body.clone()).1, field, "{body}");
    }
    assert_eq!(call(&mut session, "GET clock", Json::Null).at(&["body", "sinceStart"]).as_str(), Some("10s"));
    assert_eq!(refusal(&mut session, "POST clock/rate", json!({"rate": 60})).0, 501);
    assert_eq!(refusal(&mut session, "POST clock/rate", json!({"rate": "fast"})).0, 400);
    assert_eq!(refusal(&mut session, "POST clock/rate", json!({"rate": -1})).0, 400);
}

#[test]
fn components_show_their_metrics() {
    let mut session = session();
    call(&mut session, "POST machines", json!({"name": "w1", "zone": "a"}));
    call(&mut session, "POST clock/advance", json!({"by": "1m"}));
    let answer = call(&mut session, "GET metrics/kubelet/w1", Json::Null);
    let text = answer.get("raw").as_str().unwrap_or_default().to_owned();
    assert!(text.contains("\nkubelet_node_name{node=\"w1\"} 1\n"), "{answer}");
    let answer = call(&mut session, "GET metrics/node-lifecycle-controller", Json::Null);
    let text = answer.get("raw").as_str().unwrap_or_default().to_owned();
    assert!(text.contains("node_collector_zone_size{zone=\":\0:a\"} 1\n"), "{answer}");
    assert!(text.contains("node_collector_zone_health{zone=\":\0:a\"} 100\n"), "{answer}");
    call(&mut session, "POST controllers/node-lifecycle-controller/do", json!({"action": "stop"}));
    assert_eq!(refusal(&mut session, "GET metrics/node-lifecycle-controller", Json::Null).0, 503);
}

#[test]
fn what_is_not_there_is_named() {
    let mut session = session();
    for (name, body, code, near) in [
        ("GET clok", Json::Null, 400, "clock"),
        ("DELETE clock", Json::Null, 405, ""),
        ("PUT cloud/instances/w1", json!({"exsits": true}), 400, "exists"),
        ("DELETE cloud/instances/w1", Json::Null, 404, ""),
        ("GET metrics/kubelet/w1", Json::Null, 404, ""),
        ("GET metrics/horizontal-pod-autoscaler-controller", Json::Null, 404, ""),
        ("POST controllers/node-lifecycle-controler/do", json!({"action": "stop"}), 400, "node-lifecycle-controller"),
        ("POST controllers/service-lb-controller/do", json!({"action": "stop"}), 404, ""),
        ("POST controllers/horizontal-pod-autoscaler-controller/do", json!({"action": "stop"}), 404, ""),
        ("POST network/rules", json!({"from": "controller/nope", "to": "api", "effect": "drop"}), 400, ""),
        ("POST controllers/ttl-controller/do", json!({"action": "sotp"}), 400, "stop"),
        ("POST controllers/ttl-controller/do", json!({}), 400, ""),
        ("POST controllers/ttl-controller/do", json!({"action": "stop", "loop": "x"}), 400, ""),
        ("GET machines/w1", Json::Null, 404, ""),
        ("DELETE network/rules/r1", Json::Null, 404, ""),
        ("DELETE network/rules/first", Json::Null, 404, ""),
        ("GET watches", Json::Null, 400, "watches/NAME"),
        ("GET metrics", Json::Null, 400, "metrics/NAME"),
        ("GET watches/x1", Json::Null, 404, ""),
        ("DELETE watches/x1", Json::Null, 404, ""),
        ("GET decisions?abuot=node/w1", Json::Null, 400, "about"),
        ("GET decisions?about=w1", Json::Null, 400, ""),
        ("GET decisions?about=Node/w1", Json::Null, 400, "node/w1"),
        ("GET decisions?about=pod/web", Json::Null, 400, ""),
        ("GET decisions?about=pods/default/web", Json::Null, 400, ""),
        ("GET decisions?about=node/", Json::Null, 400, ""),
        ("GET decisions?component=kube-schduler", Json::Null, 400, "kube-scheduler"),
        ("GET decisions?component=kubelet", Json::Null, 400, ""),
        ("GET decisions?since=yesterday", Json::Null, 400, ""),
        ("GET decisions?about=%zz", Json::Null, 400, ""),
        ("GET clock", json!({"by": "1s"}), 400, ""),
        ("POST network/rules", json!({"from": "controller/tll", "to": "api", "effect": "drop"}), 400, ""),
    ] {
        let (got, _, did_you_mean) = refusal(&mut session, name, body);
        assert_eq!((got, did_you_mean.as_str()), (code, near), "{name}");
    }
}

#[test]
fn the_trace_tells_what_the_api_server_passes_on() {
    let mut session = session();
    call(&mut session, "POST machines", json!({"name": "w1"}));
    call(&mut session, "POST clock/advance", json!({"by": "30s"}));
    call(&mut session, "GET /api/v1/nodes/w1/proxy/healthz", Json::Null);
    call(&mut session, "GET /api/v1/nodes/w1:1/proxy/", Json::Null);
    let trace = call(&mut session, "GET trace", Json::Null);
    let lines = trace.get("body").items();
    let calls: Vec<&Json> = lines.iter().filter(|line| !line.get("call").is_null()).collect();
    let told = calls.iter().map(|line| (line.get("call").as_str().unwrap(), line.get("verifies").as_bool().unwrap()));
    assert_eq!(told.collect::<Vec<_>>(), [("GET https://w1:10250/healthz", false), ("GET http://w1:1/", false)]);
    let end = |of: &Json| lines.iter().find(|line| line.get("call").is_null() && line.get("id") == of.get("id"));
    assert_eq!(end(calls[0]).unwrap().get("answered").as_i64(), Some(200));
    assert!(end(calls[1]).unwrap().get("failed").as_str().unwrap().contains("connection refused"));
}

#[test]
fn a_rule_is_listed_until_it_is_removed() {
    let mut session = session();
    let rule =
        json!({"from": "machine/w1", "to": "api", "match": {"resource": "leases"}, "effect": "drop", "for": "5s"});
    let made = call(&mut session, "POST network/rules", rule);
    assert_eq!((made.get("code").as_i64(), made.get("body")), (Some(201), &json!({"id": "r1", "hits": 0})));
    let listed = call(&mut session, "GET network/rules", Json::Null);
    assert_eq!(listed.get("body").items()[0].get("active").as_bool(), Some(true));
    call(&mut session, "POST clock/advance", json!({"by": "5s"}));
    let listed = call(&mut session, "GET network/rules", Json::Null);
    assert_eq!(listed.get("body").items()[0].get("active").as_bool(), Some(false));
    assert_eq!(call(&mut session, "DELETE network/rules/r1", Json::Null).get("code").as_i64(), Some(200));
    assert_eq!(call(&mut session, "DELETE network/rules/r1", Json::Null).get("code").as_i64(), Some(404));
}

#[test]
fn a_reset_that_is_refused_changes_nothing() {
    let mut session = session();
    call(&mut session, "POST clock/advance", json!({"by": "10s"}));
    for (body, field) in [
        (json!({"k8s": "1.2"}), "k8s"),
        (json!({"seed": -1}), "seed"),
        (json!({"start": "now"}), "start"),
        (json!({"settings": {"node-monitor-grace-perod": "20s"}}), "settings.node-monitor-grace-perod"),
        (json!({"settings": {"node-monitor-grace-period": "20"}}), "settings.node-monitor-grace-period"),
        (json!({"settings": {"node-monitor-grace-period": {}}}), "settings.node-monitor-grace-period"),
        (json!({"cluster": {"machine": []}}), "cluster.machine"),
        (json!({"sed": 1}), "sed"),
    ] {
        let (code, at, _) = refusal(&mut session, "POST reset", body.clone());
        assert_eq!((code, at.as_str()), (400, field), "{body}");
    }
    assert_eq!(call(&mut session, "GET clock", Json::Null).at(&["body", "sinceStart"]).as_str(), Some("10s"));
    let reset = json!({"k8s": "1.31", "start": "2026-03-01T00:00:00Z", "settings": {"node-monitor-period": "2s"}});
    assert_eq!(call(&mut session, "POST reset", reset).get("code").as_i64(), Some(200));
    let settings = call(&mut session, "GET settings", Json::Null);
    assert_eq!(settings.at(&["body", "profile"]).as_str(), Some("1.31.0"));
    let flags = settings.at(&["body", "flags"]);
    assert_eq!(flags.at(&["kube-controller-manager.node-monitor-period", "value"]).as_str(), Some("2s"));
    assert_eq!(flags.at(&["kube-controller-manager.node-monitor-grace-period", "value"]).as_str(), Some("40s"));
    assert_eq!(call(&mut session, "POST reset", Json::Null).get("code").as_i64(), Some(200));
    let clock = call(&mut session, "GET clock", Json::Null);
    assert_eq!(clock.at(&["body", "now"]).as_str(), Some("2026-01-01T00:00:00.000000Z"));
}

#[test]
fn a_controller_is_known_by_its_short_name_too() {
    let mut session = session();
    let stopped = call(&mut session, "POST controllers/nodelifecycle/do", json!({"action": "stop"}));
    assert_eq!(stopped.at(&["body", "name"]).as_str(), Some("node-lifecycle-controller"), "{stopped}");
    assert_eq!(stopped.at(&["body", "running"]).as_bool(), Some(false));
}

fn node(name: &str) -> Json {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
}

#[test]
fn requests_of_the_kubernetes_api_are_answered_as_over_https() {
    let mut session = session();
    let made = call(&mut session, "POST /api/v1/nodes", node("w1"));
    assert_eq!(made.get("code").as_i64(), Some(201), "{made}");
    assert_eq!(made.at(&["headers", "Content-Type"]).as_str(), Some("application/json"));
    let patch = json!({"id": 3, "call": "PATCH /api/v1/nodes/w1", "body": {"spec": {"unschedulable": true}},
        "as": {"user": "alice", "groups": ["system:masters"]},
        "headers": {"Content-Type": "application/strategic-merge-patch+json", "User-Agent": "tester/1.0"}});
    assert_eq!(ask(&mut session, &patch).at(&["body", "spec", "unschedulable"]).as_bool(), Some(true));
    let missing = call(&mut session, "GET /api/v1/nodes/w2", Json::Null);
    assert_eq!(missing.at(&["body", "message"]).as_str(), Some("nodes \"w2\" not found"));
    let head = ask(&mut session, &json!({"call": "HEAD /api/v1/nodes"}));
    assert_eq!((head.get("code").as_i64(), head.get("raw").as_str()), (Some(405), Some("")), "{head}");
    let broken = ask(&mut session, &json!({"call": "POST /api/v1/nodes", "raw": "{\"kind\": "}));
    assert_eq!(broken.get("code").as_i64(), Some(400), "{broken}");
    for (field, request) in [
        ("as.user", json!({"call": "GET /api/v1/nodes", "as": {}})),
        ("as.group", json!({"call": "GET /api/v1/nodes", "as": {"user": "a", "group": "b"}})),
        ("as.groups[0]", json!({"call": "GET /api/v1/nodes", "as": {"user": "a", "groups": [1]}})),
        ("headers.Accept", json!({"call": "GET /api/v1/nodes", "headers": {"Accept": 1}})),
        ("raw", json!({"call": "POST /api/v1/nodes", "body": {}, "raw": "x"})),
        ("as", json!({"call": "GET clock", "as": {"user": "a"}})),
    ] {
        let answer = ask(&mut session, &request);
        assert_eq!(answer.at(&["body", "error", "field"]).as_str(), Some(field), "{answer}");
    }
}

#[test]
fn a_watch_is_looked_at_until_it_ends() {
    let mut session = session();
    let opened = call(&mut session, "GET /api/v1/nodes?watch=true", Json::Null);
    assert_eq!((opened.get("code").as_i64(), opened.get("watch").as_str()), (Some(200), Some("x1")));
    call(&mut session, "POST /api/v1/nodes", node("w1"));
    let events = call(&mut session, "GET watches/x1", Json::Null);
    assert_eq!(events.at(&["body", "events"]).items()[0].get("type").as_str(), Some("ADDED"));
    assert!(events.at(&["body", "ended"]).is_null());
    assert!(call(&mut session, "GET watches/x1", Json::Null).at(&["body", "events"]).is_empty());
    assert_eq!(call(&mut session, "DELETE watches/x1", Json::Null).get("code").as_i64(), Some(200));
    assert_eq!(refusal(&mut session, "GET watches/x1", Json::Null).0, 404);
    let unknown = call(&mut session, "GET /api/v1/nodess?watch=true", Json::Null);
    assert_eq!((unknown.get("code").as_i64(), unknown.get("watch")), (Some(404), &Json::Null), "{unknown}");
    call(&mut session, "GET /api/v1/pods?watch=1", Json::Null);
    call(&mut session, "POST reset", Json::Null);
    assert!(call(&mut session, "GET watches/x2", Json::Null).at(&["body", "ended"]).as_str().is_some());
}

#[test]
fn a_rule_that_holds_a_request_back_leaves_it_without_answer() {
    let mut session = session();
    let rule = json!({"from": "user/kubernetes-admin", "to": "api", "effect": "drop"});
    assert_eq!(call(&mut session, "POST network/rules", rule).get("code").as_i64(), Some(201));
    assert_eq!(refusal(&mut session, "GET /api/v1/nodes", Json::Null).0, 504);
    call(&mut session, "DELETE network/rules/r1", Json::Null);
    assert_eq!(call(&mut session, "GET /api/v1/nodes", Json::Null).get("code").as_i64(), Some(200));
}

#[test]
fn a_condition_stops_the_clock() {
    let mut session = session();
    call(&mut session, "POST /api/v1/nodes", node("w1"));
    let path = r#"{.status.conditions[?(@.type=="Ready")].status}"#;
    let stop = json!({"kind": "Node", "name": "w1", "jsonPath": path, "equals": "Unknown"});
    let stopped = call(&mut session, "POST clock/advance", json!({"by": "10m", "stopWhen": stop}));
    assert_eq!(stopped.at(&["body", "stopped"]).as_str(), Some("condition"), "{stopped}");
    assert!(stopped.at(&["body", "writes"]).as_i64() > Some(0), "{stopped}");
    let again = call(&mut session, "POST clock/advance", json!({"by": "10m", "stopWhen": stop}));
    assert_eq!(again.at(&["body", "advanced"]).as_str(), Some("0s"), "{again}");
    let never = json!({"kind": "Node", "name": "w1", "jsonPath": "{.metadata.name}", "equals": "w2"});
    let passed = call(&mut session, "POST clock/advance", json!({"by": "7s", "stopWhen": never}));
    assert_eq!(passed.at(&["body", "stopped"]).as_str(), Some("time"));
    assert_eq!(passed.at(&["body", "advanced"]).as_str(), Some("7s"));
}

#[test]
fn a_cluster_may_be_there_from_the_start() {
    let mut session = session();
    let cluster = json!({"objects": [node("w1"), {"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p"}, "spec": {"nodeName": "w1", "containers": [{"name": "c", "image": "i"}]}}]});
    let reset = call(&mut session, "POST reset", json!({"cluster": cluster}));
    assert_eq!(reset.get("code").as_i64(), Some(200), "{reset}");
    assert_eq!(call(&mut session, "GET /api/v1/nodes/w1", Json::Null).get("code").as_i64(), Some(200));
    let bad = json!({"cluster": {"objects": [node("w1"), node("w1")]}});
    let (code, field, _) = refusal(&mut session, "POST reset", bad);
    assert_eq!((code, field.as_str()), (400, "cluster.objects[1]"));
}

#[test]
fn objects_name_the_managers_of_their_fields_and_heartbeats_move_their_times() {
    let mut session = session();
    let cluster = json!({"id": 1, "call": "POST machines", "body": {"name": "w1"}});
    ask(&mut session, &cluster);
    call(&mut session, "POST clock/advance", json!({"by": "2m"}));
    let managers = |session: &mut Session, path: &str| -> Vec<String> {
        let answer = call(session, path, Json::Null);
        let entries = answer.at(&["body", "metadata", "managedFields"]).items().to_vec();
        let text = |entry: &Json, field| entry.get(field).as_str().unwrap_or_default().to_string();
        let fields = ["manager", "operation", "subresource", "time"];
        entries.iter().map(|entry| fields.map(|field| text(entry, field)).join(" ")).collect()
    };
    let lease = "GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/w1";
    let before = managers(&mut session, lease);
    assert!(before.len() == 1 && before[0].starts_with("kubelet Update  2026-01-01T00:0"), "{before:?}");
    call(&mut session, "POST clock/advance", json!({"by": "20s"}));
    assert_ne!(managers(&mut session, lease), before);
    let node = managers(&mut session, "GET /api/v1/nodes/w1");
    assert!(node.iter().any(|entry| entry.starts_with("kubelet Update status ")), "{node:?}");
    let config_map = json!({"metadata": {"name": "c"}, "data": {"a": "b"}});
    call(&mut session, "POST /api/v1/namespaces/default/configmaps?fieldManager=me", config_map);
    let own = managers(&mut session, "GET /api/v1/namespaces/default/configmaps/c");
    assert!(own.len() == 1 && own[0].starts_with("me Update  "), "{own:?}");
}
