//! Reads words as values: durations, quantities, taints, labels, conditions. Output: the value, or what is wrong with
//! the word; nothing is guessed.

use jiff::SignedDuration;
use nodeproof_core::objects::{Json, Path, Text};
use nodeproof_core::scenario::Taint;

use crate::load::near::nearest;

/// What is wrong with a word, and what would be valid.
pub(super) type Wrong = String;

/// Units of durations with their milliseconds, longest first.
const UNITS: [(&str, i128); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads `40s`, `5m`, `1m30s`, `200ms`, `46.251s`.
pub(super) fn duration(word: &str) -> Result<SignedDuration, Wrong> {
    let wrong = |why: &str| format!("{word:?} is no duration: {why}");
    const HOURS_MAX: i128 = 24 * 365;
    let mut rest = word.trim();
    let mut sum: i128 = 0;
    let mut last_unit = i128::MAX;
    if rest.is_empty() {
        return Err(wrong("it is empty; as in 40s, 5m or 1m30s"));
    }
    if let Some(bare) = rest.strip_suffix(['.', ',', ';', ':', '!']).filter(|bare| duration(bare).is_ok()) {
        return Err(wrong(&format!("the {:?} at its end is too much: {bare}", &rest[bare.len()..])));
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        if number.is_empty() {
            return Err(wrong("a number with a unit is needed, as in 40s, 5m or 1m30s"));
        }
        if unit.is_empty() {
            return Err(wrong(&format!("the unit is missing, as in {number}s or {number}m")));
        }
        let Some((_, milliseconds)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(wrong(&format!("there is no unit {unit:?}; the units are h, m, s and ms")));
        };
        if *milliseconds >= last_unit {
            return Err(wrong("units go from large to small, each once, as in 1m30s"));
        }
        last_unit = *milliseconds;
        sum += scale(number, *milliseconds).ok_or_else(|| wrong("the number has too many digits or points"))?;
        rest = tail;
    }
    if sum > HOURS_MAX * 3_600_000 {
        return Err(wrong("it is longer than a year"));
    }
    i64::try_from(sum).map(SignedDuration::from_millis).map_err(|_| wrong("it is too long"))
}

/// Multiplies a decimal number; `None` if it is no number or the result is no whole number of milliseconds.
fn scale(number: &str, unit: i128) -> Option<i128> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || whole.len() > 12 || part.len() > 6 || part.contains('.') {
        return None;
    }
    let scaled = format!("{whole}{part}").parse::<i128>().ok()? * unit;
    let divisor = 10_i128.pow(u32::try_from(part.len()).ok()?);
    (scaled % divisor == 0).then_some(scaled / divisor)
}

/// Prints a duration as it is read: `1m30s`.
pub(super) fn show_duration(duration: SignedDuration) -> String {
    let mut rest = duration.as_millis();
    if rest == 0 {
        return "0s".to_owned();
    }
    let mut shown = String::new();
    for (name, milliseconds) in UNITS {
        if rest >= milliseconds {
            shown += &format!("{}{name}", rest / milliseconds);
            rest %= milliseconds;
        }
    }
    shown
}

/// Checks a quantity: `4`, `500m`, `16Gi`.
pub(super) fn quantity(word: &str) -> Result<Text, Wrong> {
    let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let (number, suffix) = word.split_at(digits);
    let is_number = number.parse::<f64>().is_ok() && !number.starts_with('.') && !number.ends_with('.');
    let suffixes = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if is_number && suffixes.contains(&suffix) {
        return Ok(Text::from(word));
    }
    Err(format!("{word:?} is no quantity: a number with a suffix of Kubernetes, as in 4, 500m or 16Gi"))
}

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Reads `key=value:Effect` or `key:Effect`.
pub(super) fn taint(word: &str) -> Result<Taint, Wrong> {
    let wrong = |why: String| format!("{word:?} is no taint: {why}");
    let (rest, effect) =
        word.rsplit_once(':').ok_or_else(|| wrong("the effect is missing, as in key=value:NoSchedule".to_owned()))?;
    let (key, value) = rest.split_once('=').map_or((rest, None), |(key, value)| (key, Some(value)));
    qualified_name(key).map_err(&wrong)?;
    if let Some(value) = value {
        label_value(value).map_err(&wrong)?;
    }
    Ok(Taint { key: Text::from(key), value: value.map(Text::from), effect: effect_name(effect).map_err(wrong)? })
}

fn effect_name(effect: &str) -> Result<Text, Wrong> {
    if EFFECTS.contains(&effect) {
        return Ok(Text::from(effect));
    }
    let near = nearest(effect, EFFECTS)
        .map_or_else(|| format!("the effects are {}", EFFECTS.join(", ")), |near| format!("did you mean {near}?"));
    Err(format!("there is no effect {effect:?}; {near}"))
}

/// Reads the toleration of `key[=value][:Effect]`, for some seconds or for ever.
pub(super) fn toleration(word: &str, seconds: Option<SignedDuration>) -> Result<Json, Wrong> {
    let (rest, effect) = word.rsplit_once(':').map_or((word, None), |(rest, effect)| (rest, Some(effect)));
    let (key, value) = rest.split_once('=').map_or((rest, None), |(key, value)| (key, Some(value)));
    qualified_name(key).map_err(|why| format!("{word:?} is no toleration: {why}"))?;
    let mut toleration = nodeproof_core::json!({"key": key, "operator": "Exists"});
    if let Some(value) = value {
        toleration.set(&["operator"], Json::text("Equal"));
        toleration.set(&["value"], Json::text(value));
    }
    if let Some(effect) = effect {
        let effect = effect_name(effect).map_err(|why| format!("{word:?} is no toleration: {why}"))?;
        toleration.set(&["effect"], Json::text(effect));
    }
    if let Some(seconds) = seconds {
        if seconds.subsec_nanos() != 0 {
            return Err(format!("a toleration lasts whole seconds, not {}", show_duration(seconds)));
        }
        if effect != Some("NoExecute") {
            return Err(format!("only a toleration of NoExecute has a duration: \"{rest}:NoExecute\""));
        }
        toleration.set(&["tolerationSeconds"], seconds.as_secs());
    }
    Ok(toleration)
}

/// Reads `key=value` or, where a value is not needed, `key`.
pub(super) fn label(word: &str) -> Result<(Text, Option<Text>), Wrong> {
    let (key, value) = word.split_once('=').map_or((word, None), |(key, value)| (key, Some(value)));
    let wrong = |why: String| format!("{word:?} is no label: {why}");
    qualified_name(key).map_err(wrong)?;
    if let Some(value) = value {
        label_value(value).map_err(wrong)?;
    }
    Ok((Text::from(key), value.map(Text::from)))
}

/// Reads `key=value`: what has no value kubectl takes for the name of a resource.
pub(super) fn new_label(word: &str) -> Result<(Text, Text), Wrong> {
    let (key, value) = label(word)?;
    let value = value.ok_or_else(|| format!("{word:?} is no label to set: the value is missing, as in {key}=value"))?;
    Ok((key, value))
}

/// Checks `[domain/]name`.
fn qualified_name(key: &str) -> Result<(), Wrong> {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    let ends_well = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    let fits = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if name.len() > 63 || !ends_well(name) || !fits(name) || key.matches('/').count() > 1 {
        return Err(format!("{key:?} is no key, as in example.com/name"));
    }
    Ok(())
}

fn label_value(value: &str) -> Result<(), Wrong> {
    if value.len() <= 63 && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return Ok(());
    }
    Err(format!("{value:?} is no value: letters, digits, `-`, `_` and `.`, at most 63"))
}

/// Reads `Ready=Unknown`.
pub(super) fn condition(word: &str) -> Result<(Text, Text), Wrong> {
    let statuses = ["True", "False", "Unknown"];
    let Some((kind, status)) = word.split_once('=') else {
        return Err(format!("{word:?} is no condition: the status is missing, as in {word}=True"));
    };
    if kind.is_empty() || !kind.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c)) {
        return Err(format!("{kind:?} is no type of a condition, as in Ready=True"));
    }
    if !statuses.contains(&status) {
        let near = nearest(status, statuses).map_or_else(
            || "the statuses are True, False and Unknown".to_owned(),
            |near| format!("did you mean {kind}={near}?"),
        );
        return Err(format!("there is no status {status:?}; {near}"));
    }
    Ok((Text::from(kind), Text::from(status)))
}

/// Reads names in quotes: `"a", "b" and "c"`.
pub(super) fn names(words: &str) -> Result<Vec<String>, Wrong> {
    let mut names = Vec::new();
    let mut rest = words.trim();
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let Some((name, tail)) = quoted else {
            return Err(format!("{words:?} is no list of names, as in \"a\", \"b\" and \"c\""));
        };
        names.push(name.to_owned());
        rest = tail.trim_start().trim_start_matches(',').trim_start();
        rest = rest.strip_prefix("and ").unwrap_or(rest).trim_start();
    }
    Ok(names)
}

/// Reads the name of an object: lower-case letters, digits, `-` and `.`.
pub(super) fn object_name(word: &str) -> Result<Text, Wrong> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let ends_well = |text: &str| !text.starts_with(['-', '.']) && !text.ends_with(['-', '.']);
    if word.is_empty() || word.len() > 253 || !word.chars().all(fits) || !ends_well(word) {
        return Err(format!("{word:?} is no name of an object: lower-case letters, digits, `-` and `.`"));
    }
    Ok(Text::from(word))
}

/// Reads a path to a field.
pub(super) fn path(word: &str) -> Result<Path, Wrong> {
    word.parse::<Path>().map_err(|error| format!("{word:?} is no path to a field: {error}"))
}

/// Reads a text between quotation marks, in which one is written as `\"`.
pub(super) fn unquoted(word: &str) -> String {
    word.replace("\\\"", "\"")
}

/// Reads a value: valid JSON as JSON, anything else as text.
pub(super) fn value(word: &str) -> Json {
    Json::parse(word).unwrap_or_else(|_| Json::text(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (word, milliseconds) in [
            ("40s", 40_000),
            ("5m", 300_000),
            ("1m30s", 90_000),
            ("200ms", 200),
            ("1h", 3_600_000),
            ("46.251s", 46_251),
            ("0s", 0),
        ] {
            assert_eq!(duration(word).unwrap().as_millis(), milliseconds, "{word}");
        }
        for (word, why) in [
            ("40", "unit is missing"),
            ("40 s", "unit is missing"),
            ("s", "a number"),
            ("-5s", "a number"),
            ("5sec", "no unit \"sec\""),
            ("5d", "the units are"),
            ("5s1m", "large to small"),
            ("1s1s", "large to small"),
            ("", "empty"),
            ("0.0001s", "digits"),
            ("1.2.3s", "digits"),
            ("60s.", "the \".\" at its end is too much: 60s"),
            ("1m30s,", "is too much: 1m30s"),
            ("60.", "unit is missing"),
            ("99999999h", "a year"),
            ("9999999999999999999999s", "digits"),
        ] {
            assert!(duration(word).unwrap_err().contains(why), "{word}: {:?}", duration(word));
        }
    }

    #[test]
    fn a_label_is_set_with_its_value() {
        assert_eq!(new_label("a=b").unwrap(), (Text::from("a"), Text::from("b")));
        assert_eq!(new_label("a=").unwrap(), (Text::from("a"), Text::from("")));
        let why = "\"a\" is no label to set: the value is missing, as in a=value";
        assert_eq!(new_label("a").unwrap_err(), why);
        assert_eq!(label("a").unwrap(), (Text::from("a"), None));
    }

    #[test]
    fn durations_are_shown_as_they_are_read() {
        for word in ["40s", "5m", "1m30s", "200ms", "1h", "46s251ms", "0s"] {
            assert_eq!(show_duration(duration(word).unwrap()), word);
        }
    }

    #[test]
    fn quantities_have_the_suffixes_of_kubernetes() {
        for word in ["4", "500m", "16Gi", "1.5", "100k"] {
            assert!(quantity(word).is_ok(), "{word}");
        }
        for word in ["", "16GB", "Gi", "-1", "1.", "1 Gi", "four"] {
            assert!(quantity(word).is_err(), "{word}");
        }
    }

    #[test]
    fn taints_have_a_key_and_an_effect() {
        let read = taint("example.com/x=a:NoExecute").unwrap();
        assert_eq!((&*read.key, read.value.as_deref(), &*read.effect), ("example.com/x", Some("a"), "NoExecute"));
        for (word, why) in [
            ("x", "effect is missing"),
            ("x:NoExecut", "NoExecute?"),
            (":NoExecute", "no key"),
            ("a b:NoSchedule", "no key"),
        ] {
            assert!(taint(word).unwrap_err().contains(why), "{word}");
        }
    }

    #[test]
    fn tolerations_may_end() {
        let ends = toleration("k=v:NoExecute", Some(SignedDuration::from_secs(60))).unwrap();
        assert_eq!(ends.get("tolerationSeconds").as_i64(), Some(60));
        assert!(toleration("k:NoSchedule", Some(SignedDuration::from_secs(60))).is_err());
        assert!(toleration("k:NoExecute", Some(SignedDuration::from_millis(500))).is_err());
        assert_eq!(toleration("k", None).unwrap().get("operator").as_str(), Some("Exists"));
    }

    #[test]
    fn conditions_have_a_type_and_a_status() {
        assert!(condition("Ready=Unknown").is_ok());
        for (word, why) in [("Ready", "status is missing"), ("Ready=Unknwon", "Ready=Unknown?"), ("=True", "no type")] {
            assert!(condition(word).unwrap_err().contains(why), "{word}");
        }
    }

    #[test]
    fn names_stand_in_quotes() {
        assert_eq!(names(r#""a", "b" and "c""#).unwrap(), ["a", "b", "c"]);
        assert_eq!(names(r#""a""#).unwrap(), ["a"]);
        for words in ["a, b", "\"a", "\"a\" or \"b\""] {
            assert!(names(words).is_err(), "{words}");
        }
        assert!(object_name("Worker_1").is_err());
    }
}
