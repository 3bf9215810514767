//! Tests of `nodeproof serve` and `nodeproof ctl`: over TLS, with the client of another project.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};

use super::world::{Answer, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("serve::a_kubernetes_client_sees_a_node_die", client),
    ("serve::who_has_no_certificate_is_nobody", nobody),
    ("serve::the_clock_runs_at_its_rate", clock),
    ("serve::a_reset_ends_the_watches", reset),
    ("serve::wrong_options_are_refused", wrong),
];

/// Longer than anything here takes, so that a mistake fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that ends with this value.
pub(crate) struct Server<'a> {
    world: &'a World,
    child: Child,
    url: String,
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl<'a> Server<'a> {
    pub(crate) fn start(world: &'a World, options: &[&str]) -> Result<Self, String> {
        let mut arguments = vec!["serve", "--kubeconfig", "np.kubeconfig"];
        arguments.extend(options);
        let mut command = world.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        let mut line = String::new();
        let output = child.stdout.take().ok_or("no output")?;
        BufReader::new(output).read_line(&mut line).map_err(|error| error.to_string())?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["serving", url, "kubeconfig", "np.kubeconfig"] = words[..] else {
            return Err(format!("the line when it is ready: {line:?}"));
        };
        let url = url.to_owned();
        require(url.starts_with("https://127.0.0.1:"), || format!("not on loopback: {url}"))?;
        Ok(Self { world, child, url })
    }

    /// Makes a control call.
    pub(crate) fn ctl(&self, words: &[&str]) -> Result<Value, String> {
        let mut arguments = vec!["ctl", "--kubeconfig", "np.kubeconfig"];
        arguments.extend(words);
        let answer = self.world.call(&arguments).ends(0)?;
        serde_json::from_str(&answer.out).map_err(|error| format!("{words:?}: {error}: {}", answer.out))
    }

    /// Runs a future with a client that trusts the server and has these credentials or none.
    pub(crate) fn with<T>(
        &self,
        is_admin: bool,
        act: impl AsyncFnOnce(kube::Client) -> Result<T, String>,
    ) -> Result<T, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(async {
            let kubeconfig = Kubeconfig::from_yaml(&self.world.read("np.kubeconfig")).map_err(|e| e.to_string())?;
            let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
            let mut config = config.map_err(|error| error.to_string())?;
            if !is_admin {
                config.auth_info = kube::config::AuthInfo::default();
            }
            let client = kube::Client::try_from(config).map_err(|error| error.to_string())?;
            tokio::time::timeout(PATIENCE, act(client)).await.map_err(|_| "it takes too long".to_owned())?
        })
    }
}

fn ready(node: &Node) -> Option<String> {
    let conditions = node.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().find(|condition| condition.type_ == "Ready").map(|condition| condition.status.clone())
}

fn client() -> Result<(), String> {
    let world = World::new();
    let server = Server::start(&world, &["--k8s", "1.34"])?;
    let made = server.ctl(&["call", "POST machines", r#"{"name": "w1", "zone": "a"}"#])?;
    require(made["name"] == "w1", || format!("the machine: {made}"))?;
    server.ctl(&["call", "POST machines", r#"{"name": "w2"}"#])?;
    server.ctl(&["advance", "1m"])?;
    server.ctl(&["call", "POST /api/v1/namespaces", r#"{"metadata": {"name": "team"}}"#])?;
    let team = server.ctl(&["call", "GET /api/v1/namespaces/team"])?;
    require(team["kind"] == "Namespace", || format!("the namespace: {team}"))?;
    server.with(true, async |client| {
        let version = client.apiserver_version().await.map_err(|error| error.to_string())?;
        require(version.git_version == "v1.34.4", || version.git_version)?;
        let nodes: Api<Node> = Api::all(client);
        let before = nodes.get("w1").await.map_err(|error| error.to_string())?;
        require(ready(&before).as_deref() == Some("True"), || format!("before: {:?}", ready(&before)))?;
        let from = before.metadata.resource_version.unwrap_or_default();
        let events = nodes.watch(&WatchParams::default().fields("metadata.name=w1"), &from).await;
        let mut events = Box::pin(events.map_err(|error| error.to_string())?);
        server.ctl(&["machine", "w1", "kubelet-kill"])?;
        let late = server.ctl(&["advance", "55s"])?;
        require(late["stopped"] == "time", || late.to_string())?;
        while let Some(event) = events.try_next().await.map_err(|error| error.to_string())? {
            if let WatchEvent::Modified(node) = event
                && ready(&node).as_deref() == Some("Unknown")
            {
                return Ok(());
            }
        }
        Err("the watch ended before the Node became Unknown".to_owned())
    })?;
    let unknown = world.call(&["ctl", "--kubeconfig", "np.kubeconfig", "machine", "w3"]).ends(1)?;
    unknown.says("w3")?;
    // The same by address alone.
    world.call(&["ctl", "--server", &server.url, "clock"]).ends(0)?.says("115s")?;
    let pid = server.child.id().to_string();
    let mut server = server;
    Answer::of(Command::new("kill").args(["-TERM", &pid])).ends(0)?;
    let ended = server.child.wait().map_err(|error| error.to_string())?;
    require(ended.success(), || format!("it ended with {ended}"))?;
    world.call(&["ctl", "--server", &server.url, "clock"]).ends(2)?.says("the server does not answer").map(drop)
}

fn nobody() -> Result<(), String> {
    let world = World::new();
    let server = Server::start(&world, &[])?;
    server.with(false, async |client| {
        let nodes: Api<Node> = Api::all(client);
        match nodes.list(&kube::api::ListParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 403 => {
                require(status.message.contains("User \"system:anonymous\" cannot list"), || status.message.clone())
            }
            other => Err(format!("a list by nobody: {other:?}")),
        }
    })
}

fn clock() -> Result<(), String> {
    let world = World::new();
    let server = Server::start(&world, &["--clock", "600x"])?;
    let now = |server: &Server<'_>| -> Result<f64, String> {
        let clock = server.ctl(&["clock"])?;
        let since = clock["sinceStart"].as_str().unwrap_or_default();
        since.trim_end_matches('s').parse().map_err(|_| format!("the clock: {clock}"))
    };
    let began = Instant::now();
    let first = now(&server)?;
    std::thread::sleep(Duration::from_millis(500));
    let passed = now(&server)? - first;
    let most = began.elapsed().as_secs_f64() * 600.0;
    require((300.0..=most).contains(&passed), || format!("{passed}s of at most {most}s have passed"))?;
    require(server.ctl(&["rate", "0"])?["rate"] == 0, || "it does not stop".to_owned())?;
    let still = now(&server)?;
    std::thread::sleep(Duration::from_millis(100));
    require((now(&server)? - still).abs() < 1e-9, || "it runs though it is paused".to_owned())?;
    server.ctl(&["advance", "10m"])?;
    require((now(&server)? - still - 600.0).abs() < 1e-6, || "an advance is not exact".to_owned())?;
    server.ctl(&["rate", "max"])?;
    std::thread::sleep(Duration::from_millis(200));
    server.ctl(&["rate", "0"])?;
    require(now(&server)? > still + 1200.0, || "it is not fast".to_owned())?;
    world.call(&["ctl", "--kubeconfig", "np.kubeconfig", "rate", "fast"]).ends(1)?.says("a positive number").map(drop)
}

fn reset() -> Result<(), String> {
    let world = World::new();
    let server = Server::start(&world, &[])?;
    server.with(true, async |client| {
        let nodes: Api<Node> = Api::all(client);
        let events = nodes.watch(&WatchParams::default(), "0").await.map_err(|error| error.to_string())?;
        let mut events = Box::pin(events);
        // It tells the end of what was there at first.
        let first = events.try_next().await.map_err(|error| error.to_string())?;
        require(matches!(first, Some(WatchEvent::Bookmark(_))), || format!("the watch begins with {first:?}"))?;
        server.ctl(&["call", "POST reset", r#"{"k8s": "1.31"}"#])?;
        server.ctl(&["call", "POST machines", r#"{"name": "other"}"#])?;
        let after = events.try_next().await.map_err(|error| error.to_string())?;
        require(after.is_none(), || format!("a watch from before the reset saw {after:?}"))
    })?;
    let settings = server.ctl(&["call", "GET settings"])?;
    require(settings["profile"].as_str().is_some_and(|release| release.starts_with("1.31")), || settings.to_string())
}

fn wrong() -> Result<(), String> {
    let world = World::new();
    let of_others = json!({"clusters": [{"name": "production"}]}).to_string();
    world.write("mine", &of_others);
    world.call(&["serve", "--kubeconfig", "mine"]).ends(2)?.says("mine is there and is not of nodeproof serve")?;
    require(world.read("mine") == of_others, || "it was overwritten".to_owned())?;
    world.call(&["serve", "--clock", "fast"]).ends(2)?.says("paused, real, max")?;
    world.call(&["serve", "--listen", "256.0.0.1:0"]).ends(2)?.says("cannot listen at 256.0.0.1:0")?;
    world.call(&["serve", "--set", "no-such-flag=1"]).ends(2)?.says("no-such-flag")?;
    world.call(&["ctl", "clock"]).ends(2)?.says("name the server with --kubeconfig or --server")?;
    world.call(&["ctl", "--server", "https://example.org", "clock"]).ends(2)?.says("for another machine")?;
    world
        .call(&["ctl", "--server", "http://127.0.0.1:1", "clock"])
        .ends(2)?
        .says("https and a name of this machine")?;
    require(world.files("").iter().all(|file| file == "mine"), || format!("left behind: {:?}", world.files("")))
}
