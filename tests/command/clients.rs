//! Tests of the example clients of the control interface: each is run as it stands, and they see the same.
//!
//! Those in other languages are ignored with a reason where their programs are missing; they do not count as passed.

use std::path::Path;
use std::process::{Command, Stdio};

use super::world::{Named, require};

#[path = "../../examples/control/client.rs"]
mod client;

/// Trials that need nothing else.
pub(crate) const TRIALS: &[Named] = &[("clients::in_rust", rust)];

/// Trials that need a program each.
pub(crate) const WITH_PROGRAMS: &[(&str, &str)] =
    &[("clients::in_shell", "examples/control/client.sh"), ("clients::in_python", "examples/control/client.py")];

/// Returns why an example cannot be run here, if it cannot.
pub(crate) fn missing(example: &str) -> Option<String> {
    let needed: &[&str] = if example.ends_with(".py") { &["python3"] } else { &["bash", "jq"] };
    let is_there = |program: &&&str| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
    };
    needed.iter().find(|program| !is_there(program)).map(|program| format!("there is no {program} here"))
}

/// Runs an example and compares what it prints with what the one in Rust sees.
pub(crate) fn run(example: &str) -> Result<(), String> {
    let program = env!("CARGO_BIN_EXE_nodeproof");
    let mut command = Command::new(if example.ends_with(".py") { "python3" } else { "bash" });
    let done = command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(example)).arg(program).output();
    let done = done.map_err(|error| error.to_string())?;
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    require(done.status.success() && err.is_empty(), || format!("{example}: {}: {out}{err}", done.status))?;
    let expected = client::ask(Path::new(program))?;
    require(out == expected, || format!("{example} saw\n{out}and the one in Rust\n{expected}"))
}

fn rust() -> Result<(), String> {
    let seen = client::ask(Path::new(env!("CARGO_BIN_EXE_nodeproof")))?;
    let lines: Vec<&str> = seen.lines().collect();
    let [ready, unknown, taint] = lines.as_slice() else { return Err(seen) };
    require(ready.starts_with("Ready after ") && *taint == "node.kubernetes.io/unreachable:NoSchedule", || {
        seen.clone()
    })?;
    let after =
        unknown.strip_prefix("Unknown ").and_then(|rest| rest.strip_suffix("s after its end, stopped by condition"));
    let after: f64 = after.and_then(|seconds| seconds.parse().ok()).ok_or_else(|| seen.clone())?;
    // The grace period of 50 s counts from the last renewal, which is up to 10.4 s old, to the next pass of 5 s.
    require((39.0..56.0).contains(&after), || seen.clone())
}
