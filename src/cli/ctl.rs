//! `nodeproof ctl`: control calls from the command line, to a cluster that `nodeproof serve` serves.
//!
//! Inputs: words, and the server's address or kubeconfig. Outputs: the answer's body on standard output; a refusal on
//! standard error with exit code 1. Invariant: a server on another machine is talked to with its kubeconfig alone, so
//! that its certificate is checked.

use std::path::PathBuf;
use std::process::ExitCode;

use http_body_util::BodyExt as _;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Map, Value, json};

use super::misuse;
use super::terminal::{line, note};
use crate::live::safety::is_here;
use crate::live::told;

/// Options of `nodeproof ctl`.
#[derive(Debug, clap::Args)]
#[command(after_help = "  $ nodeproof ctl advance 40s
  $ nodeproof ctl machine w1 kubelet-stop
  $ nodeproof ctl controller node-lifecycle-controller run-once loop=health-pass
  $ nodeproof ctl call 'POST machines' '{\"name\": \"w1\", \"zone\": \"a\"}'

The calls: `nodeproof control help`.")]
pub struct CtlArgs {
    /// Address of the server, as https://127.0.0.1:6443; on this machine no kubeconfig is needed
    #[arg(long, value_name = "URL", env = "NODEPROOF_SERVER", global = true)]
    server: Option<String>,
    /// Kubeconfig that the server wrote [default: nodeproof.kubeconfig, if there is no --server]
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "server")]
    kubeconfig: Option<PathBuf>,
    #[command(subcommand)]
    call: Words,
}

#[derive(Debug, clap::Subcommand)]
enum Words {
    /// Show the clock
    Clock,
    /// Let time pass: a duration, an instant of RFC 3339, or `next`
    Advance {
        #[arg(value_name = "TIME")]
        time: String,
    },
    /// Set how fast the clock runs: 0, a number, or max
    Rate {
        #[arg(value_name = "RATE")]
        rate: String,
    },
    /// Show all machines
    Machines,
    /// Show a machine, or do something to it
    Machine {
        #[arg(value_name = "NAME")]
        name: String,
        #[arg(value_name = "ACTION")]
        action: Option<String>,
        /// Fields of the action, as delay=30s
        #[arg(value_name = "FIELD=VALUE", value_parser = field)]
        fields: Vec<(String, Value)>,
    },
    /// Show all controllers
    Controllers,
    /// Do something to a controller
    Controller {
        #[arg(value_name = "NAME")]
        name: String,
        #[arg(value_name = "ACTION")]
        action: String,
        /// Fields of the action, as loop=health-pass
        #[arg(value_name = "FIELD=VALUE", value_parser = field)]
        fields: Vec<(String, Value)>,
    },
    /// Make any call, or a request to the Kubernetes API, whose path begins with /
    Call {
        /// Method and path, as 'GET settings'
        #[arg(value_name = "CALL")]
        call: String,
        /// Body, JSON
        #[arg(value_name = "JSON")]
        body: Option<String>,
    },
}

fn field(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value_of(value))),
        _ => Err("FIELD=VALUE is needed, as delay=30s".to_owned()),
    }
}

/// Reads a word as JSON where it is some, else as text.
fn value_of(word: &str) -> Value {
    serde_json::from_str(word).unwrap_or_else(|_| Value::from(word))
}

impl Words {
    /// Returns method, path and body.
    fn call(&self) -> Result<(String, String, Option<Value>), String> {
        let get = |path: &str| Ok(("GET".to_owned(), path.to_owned(), None));
        let post = |path: &str, body| Ok(("POST".to_owned(), path.to_owned(), Some(body)));
        match self {
            Self::Clock => get("clock"),
            Self::Advance { time } if time == "next" => post("clock/advance", json!({"toNext": true})),
            Self::Advance { time } => {
                let is_instant = time.parse::<jiff::Timestamp>().is_ok();
                post("clock/advance", if is_instant { json!({"until": time}) } else { json!({"by": time}) })
            }
            Self::Rate { rate } => post("clock/rate", json!({"rate": value_of(rate)})),
            Self::Machines => get("machines"),
            Self::Machine { name, action: None, .. } => get(&format!("machines/{}", in_path(name))),
            Self::Machine { name, action: Some(action), fields } => {
                post(&format!("machines/{}/do", in_path(name)), action_body(action, fields))
            }
            Self::Controllers => get("controllers"),
            Self::Controller { name, action, fields } => {
                post(&format!("controllers/{}/do", in_path(name)), action_body(action, fields))
            }
            Self::Call { call, body } => {
                let Some((method, path)) = call.split_once(' ') else {
                    return Err(format!("METHOD and path are needed in one word, as 'GET clock', not {call:?}"));
                };
                let body = body.as_deref().map(serde_json::from_str).transpose();
                let body = body.map_err(|error| format!("the body is no JSON: {error}"))?;
                Ok((method.to_owned(), path.trim().to_owned(), body))
            }
        }
    }
}

fn action_body(action: &str, fields: &[(String, Value)]) -> Value {
    let mut body: Map<String, Value> = fields.iter().cloned().collect();
    body.insert("action".to_owned(), Value::from(action));
    Value::Object(body)
}

/// Encodes a name as one part of a path.
fn in_path(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let shown = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(shown).collect()
}

/// Makes the call.
#[must_use]
pub fn run(args: &CtlArgs) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(send(args)));
    match outcome {
        Ok((true, body)) => {
            line(body);
            ExitCode::SUCCESS
        }
        Ok((false, body)) => {
            note(body);
            ExitCode::FAILURE
        }
        Err(message) => misuse(message),
    }
}

/// Sends the call. Returns whether it was done, and the body of the answer.
async fn send(args: &CtlArgs) -> Result<(bool, String), String> {
    let (method, path, body) = args.call.call()?;
    let client = kube::Client::try_from(args.config().await?).map_err(|error| format!("no client: {error}"))?;
    // A path of the Kubernetes API is served on the same port.
    let uri = if path.starts_with('/') { path.clone() } else { format!("/nodeproof/v1/{path}") };
    let request = http::Request::builder().method(method.as_str()).uri(uri).header("content-type", "application/json");
    let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
    let request = request.body(Body::from(body)).map_err(|error| format!("{method} {path} is no request: {error}"))?;
    let answer = client.send(request).await.map_err(|error| format!("the server does not answer: {}", told(&error)))?;
    let is_done = answer.status().is_success();
    let bytes = answer.into_body().collect().await.map_err(|error| format!("the answer broke off: {error}"))?;
    let text = String::from_utf8_lossy(&bytes.to_bytes()).into_owned();
    let shown = serde_json::from_str::<Value>(&text).and_then(|body| serde_json::to_string_pretty(&body));
    Ok((is_done, shown.unwrap_or(text)))
}

impl CtlArgs {
    async fn config(&self) -> Result<kube::Config, String> {
        if let Some(server) = &self.server {
            let url: http::Uri = server.parse().map_err(|error| format!("--server {server}: {error}"))?;
            if url.scheme_str() != Some("https") || !url.host().is_some_and(is_here) {
                return Err(format!(
                    "--server {server}: https and a name of this machine are needed; for another machine name the \
                     kubeconfig that the server wrote with --kubeconfig"
                ));
            }
            let mut config = kube::Config::new(url);
            // The authority is made anew by each server, and the connection does not leave this machine.
            config.accept_invalid_certs = true;
            return Ok(config);
        }
        let path = self.kubeconfig.clone().unwrap_or_else(|| PathBuf::from("nodeproof.kubeconfig"));
        let unread = |error: &dyn std::error::Error| {
            let hint = if self.kubeconfig.is_some() { "" } else { "; name the server with --kubeconfig or --server" };
            format!("{}: {}{hint}", path.display(), told(error))
        };
        let kubeconfig = Kubeconfig::read_from(&path).map_err(|error| unread(&error))?;
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        config.map_err(|error| unread(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::{Words, field};

    #[test]
    fn words_become_the_calls_of_the_same_names() {
        let fields = vec![field("delay=30s").unwrap(), field("free=5").unwrap()];
        let cases = [
            (Words::Advance { time: "40s".into() }, "POST clock/advance {\"by\":\"40s\"}"),
            (Words::Advance { time: "next".into() }, "POST clock/advance {\"toNext\":true}"),
            (
                Words::Advance { time: "2026-01-01T00:00:00Z".into() },
                "POST clock/advance {\"until\":\"2026-01-01T00:00:00Z\"}",
            ),
            (Words::Rate { rate: "max".into() }, "POST clock/rate {\"rate\":\"max\"}"),
            (Words::Rate { rate: "60".into() }, "POST clock/rate {\"rate\":60}"),
            (
                Words::Machine { name: "w/1".into(), action: Some("shutdown".into()), fields },
                "POST machines/w%2F1/do {\"action\":\"shutdown\",\"delay\":\"30s\",\"free\":5}",
            ),
            (Words::Call { call: "GET settings".into(), body: None }, "GET settings "),
        ];
        for (words, call) in cases {
            let (method, path, body) = words.call().unwrap();
            let body = body.map(|body| body.to_string()).unwrap_or_default();
            assert_eq!(format!("{method} {path} {body}"), call);
        }
        assert!(Words::Call { call: "clock".into(), body: None }.call().is_err());
        assert!(Words::Call { call: "POST reset".into(), body: Some("{".into()) }.call().is_err());
        assert!(field("delay").is_err());
    }
}
