//! Tests of `nodeproof plan --from-context`: a served cluster is asked about as if it were a real one.

use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

use super::serve::Server;
use super::world::{Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("plan::a_served_cluster_gives_the_answer_of_its_description", described),
    ("plan::a_context_excludes_the_options_that_describe_a_cluster", excluded),
];

/// The names of the context and of the zone that is lost.
const ASKED: [&str; 6] = ["--kubeconfig", "np.kubeconfig", "--from-context", "nodeproof", "--down", "zone-a"];

fn described() -> Result<(), String> {
    let world = World::new();
    let server = Server::start(&world, &["--k8s", "1.33"])?;
    for (at, zone) in [(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "b"), (2, "c")] {
        let machine = json!({"name": format!("{zone}-{at}"), "zone": format!("zone-{zone}")}).to_string();
        server.ctl(&["call", "POST machines", &machine])?;
    }
    server.ctl(&["advance", "1m"])?;
    let web = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 6, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]},
        }},
    });
    world.write("web.yaml", web.to_string());
    server.with(true, async |client| {
        let deployment: Deployment = serde_json::from_value(web).map_err(|error| error.to_string())?;
        let made = Api::default_namespaced(client).create(&PostParams::default(), &deployment).await;
        made.map(drop).map_err(|error| error.to_string())
    })?;
    server.ctl(&["advance", "2m"])?;
    let requests = || -> Result<Vec<String>, String> {
        let trace = world.call(&["ctl", "--kubeconfig", "np.kubeconfig", "call", "GET trace"]).ends(0)?;
        let lines = trace.out.lines().filter(|line| !line.is_empty());
        let lines = lines.map(|line| serde_json::from_str(line).map_err(|error| error.to_string()));
        let lines = lines.collect::<Result<Vec<Value>, String>>()?;
        let of = |line: &Value| {
            (line["from"] == "user/kubernetes-admin").then(|| line["request"].as_str().map(str::to_owned)).flatten()
        };
        Ok(lines.iter().filter_map(of).collect())
    };

    let before = requests()?.len();
    let mut words = vec!["plan", "--json"];
    words.extend(ASKED);
    let answer = world.call(&words).ends(0)?.says("lists of nodes, ")?.says("6 Node, ")?;
    let sent = &requests()?[before..];
    let reads = |request: &String| request.starts_with("LIST ") || request == "GET /version";
    require(!sent.is_empty() && sent.iter().all(reads), || format!("more than lists: {sent:?}"))?;

    let options = ["--nodes", "6", "--zones", "3", "--pods", "web.yaml", "--k8s", "1.33", "--down", "zone-a"];
    let by_flags = world.call(&[&["plan", "--json"], &options[..]].concat()).ends(0)?;
    let read = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| format!("{error}: {text}"));
    let (answer, by_flags) = (read(&answer.out)?, read(&by_flags.out)?);
    require(answer["cluster"] == json!({"nodes": 6, "zones": 3, "pods": 6}), || answer["cluster"].to_string())?;
    require(answer["k8s"] == by_flags["k8s"], || answer["k8s"].to_string())?;
    // One cluster needed a minute more until it was at rest: at the loss the Leases have another age, of up to ten
    // seconds and a pass, and of two nodes the other one can be the first to get its taint.
    let near = |one: &Value, other: &Value| {
        let both = one.as_f64().zip(other.as_f64());
        both.is_some_and(|(one, other)| (one - other).abs() < 25.0)
    };
    for node in [0, 1] {
        for field in ["name", "podsDeleted"] {
            let (one, other) = (&answer["nodes"][node][field], &by_flags["nodes"][node][field]);
            require(one == other, || format!("{field} of {node}: {one} and {other}"))?;
        }
        for field in ["notReady", "tainted", "firstDeleted", "lastDeleted"] {
            let (one, other) = (&answer["nodes"][node][field], &by_flags["nodes"][node][field]);
            require(near(one, other), || format!("{field} of {node}: {one} and {other}"))?;
        }
    }
    // How long a kubelet waits until it tries again depends on the millisecond in which it was cut off.
    let is_back = |at: &Value| at.as_f64().is_some_and(|at| (1200.0..1260.0).contains(&at));
    for answer in [&answer, &by_flags] {
        require(is_back(&answer["nodes"][0]["readyAgain"]), || answer["nodes"].to_string())?;
    }
    let left_out = answer["leftOut"].to_string();
    require(left_out.contains("flags of its control plane"), || left_out.clone())
}

fn excluded() -> Result<(), String> {
    let world = World::new();
    for option in [["--nodes", "3"], ["--zones", "1"], ["--pods", "web.yaml"]] {
        let mut words = vec!["plan"];
        words.extend(ASKED.iter().chain(&option));
        world.call(&words).ends(2)?.says("'--from-context <NAME>' cannot be used with")?;
    }
    let backwards = world.call(&["plan", "--down", "zone-a", "--for", "-5m"]).ends(2)?;
    backwards.says("a duration with a unit is needed, as 20m or 90s, not \"-5m\"")?;
    for (options, why) in [
        (["--nodes", "1000000"], "a cluster has at most 10000 nodes, not 1000000"),
        (["--for", "9000h"], "--for can be 744h at most"),
        (["--down", "0"], "0 nodes are no loss"),
    ] {
        world.call(&[&["plan", "--down", "zone-a"], &options[..]].concat()).ends(2)?.says(why)?;
    }
    world.write("np.kubeconfig", json!({"contexts": [{"name": "other"}]}).to_string());
    let mut words = vec!["plan"];
    words.extend(ASKED);
    world.call(&words).ends(2)?.says("there is no context nodeproof in the kubeconfig: it has other").map(drop)
}
