//! What a plain scalar means, as YAML 1.1 has it.
//!
//! Mirrors go.yaml.in/yaml/v2 resolve.go (v2.4), and k8s.io/yaml's conversion to JSON. Inputs: the text of a scalar
//! without quotes. Outputs: the value. A date stays a text, and a number without a fraction is a whole one.

use alloc::string::{String, ToString};

use crate::objects::Json;
use crate::objects::integer::parts;

/// Largest number below which Go prints a float without an exponent. Source: encoding/json encode.go (Go 1.24).
const LARGEST_PLAIN: f64 = 1e21;

/// Resolves a plain scalar.
pub(super) fn resolve(text: &str) -> Json {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Json::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Json::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Json::Bool(false);
        }
        _ => {}
    }
    let starts_number = text.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter));
    if !starts_number {
        return Json::text(text);
    }
    let plain = text.replace('_', "");
    whole(&plain).or_else(|| float(&plain)).unwrap_or_else(|| Json::text(text))
}

/// Reads a whole number in any base: `0x`, `0o` or a leading zero, `0b`.
fn whole(text: &str) -> Option<Json> {
    let (sign, digits, base) = parts(text);
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let number = i128::from_str_radix(&digits, base).ok()? * sign;
    #[expect(clippy::cast_precision_loss, reason = "as Go does with what is beyond its integers")]
    let beyond = || Json::Float(number as f64);
    match i64::try_from(number) {
        Ok(number) => Some(Json::Int(number)),
        Err(_) => Some(beyond()),
    }
}

/// Reads a number with a fraction or an exponent.
fn float(text: &str) -> Option<Json> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = unsigned.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
        && unsigned.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.')
        && unsigned.bytes().any(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| text.parse::<f64>().ok()).flatten()?;
    let is_whole = number.is_finite() && number.abs() < LARGEST_PLAIN && number.to_string().parse::<i64>().is_ok();
    Some(if is_whole { number.to_string().parse().map_or(Json::Null, Json::Int) } else { Json::Float(number) })
}

/// Returns a key as JSON has it: a text.
pub(super) fn key(value: &Json) -> String {
    match value {
        Json::Str(text) => text.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::resolve;
    use crate::objects::Json;

    #[test]
    fn scalars_mean_what_yaml_1_1_says() {
        let cases = [
            ("yes", Json::Bool(true)),
            ("Off", Json::Bool(false)),
            ("nO", Json::text("nO")),
            ("~", Json::Null),
            ("0755", Json::Int(493)),
            ("0x1F", Json::Int(31)),
            ("1_000", Json::Int(1000)),
            ("-7", Json::Int(-7)),
            ("1.0", Json::Int(1)),
            ("1.5", Json::Float(1.5)),
            ("1e3", Json::Int(1000)),
            (".5", Json::Float(0.5)),
            ("1.2.3", Json::text("1.2.3")),
            ("10.0.0.0/24", Json::text("10.0.0.0/24")),
            ("2026-01-02", Json::text("2026-01-02")),
            ("-", Json::text("-")),
            ("08", Json::Int(8)),
        ];
        for (text, expected) in cases {
            assert_eq!(resolve(text), expected, "{text}");
        }
    }
}
