//! Replays starts of a kubelet with one bad or odd setting each: the model has to refuse it with the recorded words, or
//! to run.
//!
//! Inputs: `about.yaml` and `results.jsonl`, a line for each start with `config`, `flags` and `error`. Output: a report
//! with a difference for each start that ends otherwise. All starts share the setting that `about.yaml` describes: no
//! kubeconfig, neither authentication nor authorization, swap allowed, cgroup v1, two CPUs.

use std::path::Path;

use nodeproof_core::components::host::{check_field_names, find_flag, read_flag, type_of};
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::json;
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::profile::{Release, Settings};
use nodeproof_core::sim::{Simulation, SimulationOptions};
use serde::Deserialize as _;

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
    let mut machine = json!({"name": "kubelet", "cgroupVersion": 1, "swap": "0",
        "capacity": {"cpu": "2", "memory": "24684084Ki", "ephemeral-storage": "264212084Ki"}});
    machine.set(&["kubelet", "version"], about.kubernetes.as_str());
    machine.set(&["kubelet", "config"], config);
    let mut machine = MachineSpec::from_json(&machine).map_err(|error| error.to_string())?;
    let kubelet = std::sync::Arc::make_mut(&mut machine.kubelet);
    kubelet.flags = command_line(&words(case.get("flags").as_str().unwrap_or_default()))?;
    let options = SimulationOptions { settings: Settings::of(about.release), ..SimulationOptions::default() };
    Simulation::new(options).add_machine(machine).map_err(|error| error.to_string())
}

/// Reads a command line: flags with their values, in their order, without a kubeconfig unless one is named.
///
/// Source: github.com/spf13/pflag flag.go, `parseArgs`; cmd/kubelet/app/server.go (v1.34), `NewKubeletCommand`.
fn command_line(words: &[String]) -> Result<Vec<(Text, Text)>, String> {
    let failed = |why: String| Err(format!("failed to parse kubelet flag: {why}"));
    let mut flags = vec![(Text::of("kubeconfig"), Text::default())];
    let mut left = words.iter();
    let mut commands = Vec::new();
    while let Some(word) = left.next() {
        if word == "--" {
            commands.extend(left.by_ref());
            break;
        }
        let Some(long) = word.strip_prefix("--") else {
            match word.strip_prefix('-') {
                Some("v") if left.len() == 0 => return failed("flag needs an argument: 'v' in -v".to_owned()),
                Some(short) if short.starts_with('v') => {
                    let value = short[1..].strip_prefix('=').unwrap_or(&short[1..]);
                    let next = if value.is_empty() { left.next().map_or("", |next| next) } else { value };
                    flags.push((Text::of("v"), Text::from(next)));
                }
                Some(short) if !short.is_empty() => {
                    let letter = short.chars().next().unwrap_or_default();
                    return failed(format!("unknown shorthand flag: '{letter}' in {word}"));
                }
                _ => commands.push(word),
            }
            continue;
        };
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        if name.is_empty() || name.starts_with('-') {
            return failed(format!("bad flag syntax: {word}"));
        }
        let value = match (find_flag(name), value) {
            (_, Some(value)) => value,
            (Some((.., "bool" | "gobool")), None) => "true",
            (Some(_), None) => match left.next() {
                Some(next) => next,
                None => return failed(format!("flag needs an argument: {word}")),
            },
            (None, None) => "true",
        };
        let place = "kubelet.flags";
        let (name, value) = read_flag(&Text::from(name), &Json::from(value), place).map_err(|error| error.message)?;
        flags.push((name, value));
    }
    match commands.first() {
        Some(command) => Err(format!("unknown command {command}")),
        None => Ok(flags),
    }
}

/// Returns the configuration of a start: what it sets over what all starts have, or the whole file.
fn config_of(given: &Json) -> Result<Json, String> {
    if let Some(file) = given.as_str() {
        return config_file(file);
    }
    let mut config = json!({"authentication": {"anonymous": {"enabled": false}, "webhook": {"enabled": false}},
        "authorization": {"mode": "AlwaysAllow"}, "failSwapOn": false, "cgroupDriver": "cgroupfs"});
    for (name, value) in given.fields() {
        config.set(&[name], value.clone());
    }
    Ok(known_fields(&config))
}

/// Leaves out the fields that no kubelet knows: it passes them over, and the control interface refuses them.
fn known_fields(config: &Json) -> Json {
    let is_known = |name: &Text| {
        let mut one = Json::object();
        one.set(&[name], true);
        check_field_names(&one, "config").is_ok()
    };
    config.fields().filter(|(name, _)| is_known(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Reads a file as the kubelet's decoder does: the first document of it, with its kind.
///
/// Source: pkg/kubelet/kubeletconfig/configfiles/configfiles.go and k8s.io/apimachinery
/// pkg/runtime/serializer/json/{json.go,meta.go} (v1.34).
fn config_file(file: &str) -> Result<Json, String> {
    const FILE: &str = "/etc/kubelet.yaml";
    let load = |why: String| {
        format!(
            "failed to load kubelet config file, path: {FILE}, error: failed to load Kubelet config file {FILE}, error \
             {why}"
        )
    };
    let decode = |why: String| load(format!("failed to decode: {why}"));
    if file.is_empty() {
        return Err(load(format!("kubelet config file \"{FILE}\" was empty")));
    }
    let first = serde_yaml::Deserializer::from_str(file).next();
    let value = match first.map(serde_json::Value::deserialize) {
        Some(Ok(value)) => value,
        Some(Err(error)) => return Err(decode(yaml_error(&error))),
        None => serde_json::Value::Null,
    };
    let config = whole_numbers(&Json::parse(&value.to_string()).map_err(|error| decode(error.to_string()))?);
    if !config.is_object() && !config.is_null() {
        return Err(decode(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct {{ \
             APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
            type_of(&config)
        )));
    }
    let is_missing = |field: &str| config.get(field).is_null() || config.get(field).as_str() == Some("");
    for (field, said) in [("kind", "Kind"), ("apiVersion", "apiVersion")] {
        if is_missing(field) {
            return Err(decode(format!("Object '{said}' is missing in '{file}'")));
        }
    }
    Ok(known_fields(&config))
}

/// Says what is wrong with a text that is no YAML, as the kubelet's library does.
fn yaml_error(error: &serde_yaml::Error) -> String {
    let text = error.to_string();
    let why = text.split(" at line ").next().unwrap_or_default().split(", while").next().unwrap_or_default();
    match error.location() {
        Some(place) if place.index() > 0 => format!("yaml: line {}: {why}", place.line()),
        _ => format!("yaml: {why}"),
    }
}

/// Returns a value in which numbers without a fraction are integers: the conversion to JSON writes them so.
fn whole_numbers(value: &Json) -> Json {
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "checked")]
        Json::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => Json::Int(*number as i64),
        Json::Object(_) => value.fields().map(|(name, value)| (name.clone(), whole_numbers(value))).collect(),
        Json::Array(items) => items.iter().map(whole_numbers).collect(),
        _ => value.clone(),
    }
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
