//! Converts YAML bodies of requests to the JSON that the API server reads.
//!
//! Inputs: a media type, a text. Output: the text as JSON; unchanged if it is no YAML, since the server then reports
//! the mistake. Of several documents only the first one counts, as in k8s.io/apimachinery pkg/runtime/serializer/json
//! (v1.34).

use std::borrow::Cow;

use serde::Deserialize as _;

/// Returns the body of a request as JSON if its media type is YAML, else as it is.
#[must_use]
pub fn as_json<'a>(media_type: &str, body: &'a str) -> Cow<'a, str> {
    if !media_type.contains("yaml") || body.is_empty() {
        return Cow::Borrowed(body);
    }
    let first = serde_yaml::Deserializer::from_str(body).next();
    let value = first.and_then(|document| serde_json::Value::deserialize(document).ok());
    value.map_or(Cow::Borrowed(body), |value| Cow::Owned(value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::as_json;

    #[test]
    fn yaml_becomes_json_and_everything_else_stays() {
        let node = "kind: Node\nmetadata: {name: n1}\n---\nkind: Pod\n";
        assert_eq!(as_json("application/yaml", node), r#"{"kind":"Node","metadata":{"name":"n1"}}"#);
        assert_eq!(as_json("application/json", node), node);
        assert_eq!(as_json("application/yaml", "a: [\n"), "a: [\n");
    }
}
