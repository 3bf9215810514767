//! Replays starts of a kubelet with one bad or odd setting each: the model has to refuse it with the recorded words, or
//! to run.
//!
//! Inputs: `about.yaml` and `results.jsonl`, a line for each start with `config`, `flags` and `error`. Output: a report
//! with a difference for each start that ends otherwise. All starts share the setting that `about.yaml` describes: no
//! kubeconfig, neither authentication nor authorization, swap allowed, cgroup v1, two CPUs.

use std::path::Path;

use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::json;
use nodeproof_core::objects::Json;
use nodeproof_core::profile::{Release, Settings};
use nodeproof_core::sim::{Simulation, SimulationOptions};

use super::files::{self, KubeletAbout};
use super::{KUBELET, difference};
use crate::replay::load::{self, LoadError};
use crate::replay::report::ReplayReport;
use crate::replay::{Ledger, finish};

/// The file with the starts.
const FILE: &str = "results.jsonl";

/// Tells whether a directory holds starts of a kubelet.
pub(super) fn is_here(dir: &Path) -> bool {
    files::has(dir, FILE)
}

/// Replays the starts of a directory.
pub(super) fn replay(dir: &Path, release: Option<Release>, ledger: &Ledger) -> Result<ReplayReport, LoadError> {
    let about = KubeletAbout::load(dir, release)?;
    let cases = load::load_lines(dir, FILE, "results.jsonl (or results.jsonl.gz)", |line| Ok(line.clone()))?;
    let mut report = ReplayReport {
        recording: format!("kubelet-{}/{}", about.kubernetes, about.name),
        writes: cases.len(),
        judged: cases.len(),
        ..ReplayReport::default()
    };
    for (at, case) in cases.iter().enumerate() {
        let real = match case.get("error").as_str() {
            Some(text) => Json::text(last_words(text)),
            None => Json::Null,
        };
        let real = in_order(&real);
        let sim = start(case, &about).map_or_else(|why| Json::text(said(&why, &about)), |()| Json::Null);
        let sim = in_order(&sim);
        report.matched += usize::from(real == sim);
        if real != sim {
            let named = case.get("case").as_str().map_or_else(|| format!("line {}", at + 1), str::to_owned);
            report.differences.push(difference(0, format!("starts/{named}"), "error".to_owned(), real, sim));
        }
    }
    report.by_writer.insert(KUBELET, (report.judged, report.matched));
    finish(&mut report, ledger);
    Ok(report)
}

/// Puts the paths of a missing cgroup in order: the kubelet walks a map, and names them in any.
fn in_order(words: &Json) -> Json {
    let Some((before, list)) = words.as_str().and_then(|text| text.split_once("some missing paths: ")) else {
        return words.clone();
    };
    let mut paths: Vec<&str> = list.split(", ").collect();
    paths.sort_unstable();
    Json::text(format!("{before}some missing paths: {}", paths.join(", ")))
}

/// Returns the kubelet's own words: with the recorded path of its file, and without the place in the machine's body.
fn said(why: &str, about: &KubeletAbout) -> String {
    const OWN_FILE: &str = "/var/lib/kubelet/config.yaml";
    let how = about.about.get("what").as_str().unwrap_or_default();
    let file = how.split_once("--config ").and_then(|(_, rest)| rest.split_whitespace().next()).unwrap_or(OWN_FILE);
    let own =
        why.split_once(": ").filter(|(place, rest)| place.starts_with("kubelet.flags.") && rest.starts_with("fail"));
    own.map_or(why, |(_, rest)| rest).replace(OWN_FILE, file)
}

/// Starts a kubelet; the error is its last word.
fn start(case: &Json, about: &KubeletAbout) -> Result<(), String> {
    let config = config_of(case.get("config"))?;
    let mut flags = json!({"kubeconfig": ""});
    for word in words(case.get("flags").as_str().unwrap_or_default()) {
        let (name, value) = word.split_once('=').unwrap_or((&word, "true"));
        flags.set(&[name.trim_start_matches('-')], value);
    }
    let mut machine = json!({"name": "kubelet", "cgroupVersion": 1, "swap": "0",
        "capacity": {"cpu": "2", "memory": "24684084Ki", "ephemeral-storage": "264212084Ki"}});
    machine.set(&["kubelet", "version"], about.kubernetes.as_str());
    machine.set(&["kubelet", "flags"], flags);
    machine.set(&["kubelet", "config"], config);
    let machine = MachineSpec::from_json(&machine).map_err(|error| error.to_string())?;
    let options = SimulationOptions { settings: Settings::of(about.release), ..SimulationOptions::default() };
    Simulation::new(options).add_machine(machine).map_err(|error| error.to_string())
}

/// Returns the configuration of a start: what it sets over what all starts have, or the whole file.
fn config_of(given: &Json) -> Result<Json, String> {
    if let Some(file) = given.as_str() {
        let value: serde_json::Value = serde_yaml::from_str(file).map_err(|error| error.to_string())?;
        return Json::parse(&value.to_string()).map_err(|error| error.to_string());
    }
    let mut config = json!({"authentication": {"anonymous": {"enabled": false}, "webhook": {"enabled": false}},
        "authorization": {"mode": "AlwaysAllow"}, "failSwapOn": false, "cgroupDriver": "cgroupfs"});
    for (name, value) in given.fields() {
        config.set(&[name], value.clone());
    }
    Ok(config)
}

/// Splits the flags of a command line as a shell does.
fn words(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut quote, mut is_in_word) = (None, false);
    for letter in line.chars() {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            (' ', None) => is_in_word = false,
            _ => {
                if !is_in_word {
                    found.push(String::new());
                    is_in_word = true;
                }
                if let Some(word) = found.last_mut() {
                    word.push(letter);
                }
            }
        }
    }
    found
}

/// Returns what a line of the log says: without its place, and the error without its quotes.
fn last_words(text: &str) -> String {
    let said = || {
        let (place, rest) = text.split_once("] \"")?;
        let (message, error) = rest.split_once("\" err=\"")?;
        let is_place = place.split_once(".go:").is_some_and(|(_, line)| line.bytes().all(|byte| byte.is_ascii_digit()));
        is_place.then(|| format!("{message}: {}", error.strip_suffix('"').unwrap_or(error).replace("\\\"", "\"")))
    };
    said().unwrap_or_else(|| text.to_owned())
}

/// Tells whether a line of a recorded log says what the model's kubelet did.
pub(super) fn are_same_words(line: &str, why: &str) -> bool {
    let said = in_order(&Json::text(last_words(line)));
    let why = in_order(&Json::text(why));
    said.as_str().zip(why.as_str()).is_some_and(|(said, why)| said.contains(why))
}

#[cfg(test)]
mod tests {
    use super::{last_words, words};

    #[test]
    fn flags_are_split_as_a_shell_does() {
        assert_eq!(words("--a=1  --b=' ' --c=\"x<1,y\""), ["--a=1", "--b= ", "--c=x<1,y"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn a_line_of_the_log_is_read_without_its_place() {
        assert_eq!(last_words("kubelet.go:1704] \"Failed\" err=\"no \\\"x\\\"\""), "Failed: no \"x\"");
        assert_eq!(last_words("failed to run Kubelet: why"), "failed to run Kubelet: why");
    }
}
