//! When does a node whose kubelet is killed become Unknown? Asked of `nodeproof control` from Rust, with serde_json.
//!
//! It is a module of tests/command, which runs it; a test of your own copies it as it stands.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const READY: &str = r#"{.status.conditions[?(@.type=="Ready")].status}"#;

/// A simulated cluster in a process of its own, which ends when this is dropped.
struct Cluster {
    process: Child,
    calls: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Cluster {
    fn start(program: &Path) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        let mut process = command.arg("control").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (calls, answers) = (process.stdin.take(), process.stdout.take());
        let (Some(calls), Some(answers)) = (calls, answers) else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
        Ok(Self { process, calls, answers: BufReader::new(answers) })
    }

    /// Sends a call and returns the body of its answer; an answer from 300 on is an error.
    fn call(&mut self, call: &str, body: Option<&Value>) -> Result<Value, String> {
        let mut request = json!({"call": call});
        if let Some(body) = body {
            request["body"] = body.clone();
        }
        writeln!(self.calls, "{request}").map_err(|error| error.to_string())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        let mut answer: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        if answer["code"].as_u64().is_none_or(|code| code >= 300) {
            return Err(format!("{call}: {answer}"));
        }
        Ok(answer["body"].take())
    }

    /// Lets time pass until the Node's Ready has a status, at most so long.
    fn until(&mut self, by: &str, ready: &str) -> Result<Value, String> {
        let wanted = json!({"kind": "Node", "name": "w1", "jsonPath": READY, "equals": ready});
        self.call("POST clock/advance", Some(&json!({"by": by, "stopWhen": wanted})))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // It ends by itself when its input does; what is not asked for any more need not be waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Asks, and returns the lines of the answer.
pub(crate) fn ask(program: &Path) -> Result<String, String> {
    let mut cluster = Cluster::start(program).map_err(|error| error.to_string())?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    cluster.call("POST machines", Some(&json!({"name": "w1"})))?;
    let mut lines = vec![format!("Ready after {}", text(&cluster.until("2m", "True")?["advanced"]))];
    cluster.call("POST clock/advance", Some(&json!({"by": "1m"})))?;
    cluster.call("POST machines/w1/do", Some(&json!({"action": "kubelet-kill"})))?;
    let end = cluster.until("10m", "Unknown")?;
    lines.push(format!("Unknown {} after its end, stopped by {}", text(&end["advanced"]), text(&end["stopped"])));
    let node = cluster.call("GET /api/v1/nodes/w1", None)?;
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    lines.extend(taints.map(|taint| format!("{}:{}", text(&taint["key"]), text(&taint["effect"]))));
    Ok(lines.join("\n") + "\n")
}
