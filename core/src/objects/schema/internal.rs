//! Values as the server's own structures print them: in the order and under the names of Go's fields.
//!
//! Mirrors encoding/json over the types without tags in pkg/apis (v1.34), and the conversions in pkg/apis/core/v1
//! conversion.go that move fields. Inputs: a type of the schema, a value as it is stored. Outputs: JSON on one line, or
//! on lines with an indent.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::internal_types::INTERNAL;
use super::{FieldType, Presence, Schema, parse_kind};
use crate::objects::{Json, NULL, WrittenJson};

/// The fields of Pods that clients see beside the security context, and the server within it. Source:
/// pkg/apis/core/v1/conversion.go (v1.34), `Convert_v1_PodSpec_To_core_PodSpec`.
const OF_HOST: [&str; 5] = ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"];

impl Schema {
    /// Prints a value on one line. The type is named in the notation of the schema, as `[NodeSelectorTerm]`.
    #[must_use]
    pub fn internal_json(&self, type_text: &str, value: &Json) -> String {
        self.shown(&parse_kind(type_text, &self.names), value).go_text()
    }

    /// Prints a structure on lines, a level further in by one space.
    #[must_use]
    pub fn internal_lines(&self, name: &str, value: &Json) -> String {
        self.of_structure(name, value).go_lines()
    }

    fn shown(&self, kind: &FieldType, value: &Json) -> WrittenJson {
        match (kind, value) {
            (FieldType::Object(place), _) if !value.is_null() => self.of_structure(self.at(*place).name, value),
            (FieldType::List(item), Json::Array(items)) => {
                WrittenJson::List(items.iter().map(|own| self.shown(item, own)).collect())
            }
            (FieldType::Map(item), Json::Object(_)) => {
                let shown = |(name, own): (&_, &Json)| (ToString::to_string(name), self.shown(item, own));
                WrittenJson::Fields(value.fields().map(shown).collect())
            }
            (_, Json::Array(items)) => {
                WrittenJson::List(items.iter().map(|own| self.shown(&FieldType::Any, own)).collect())
            }
            (_, Json::Object(_)) => self.of_structure("", value),
            (_, plain) => WrittenJson::from(plain),
        }
    }

    /// Returns a structure with all of its fields.
    fn of_structure(&self, name: &str, value: &Json) -> WrittenJson {
        let Some((source, fields)) = fields_of(name) else {
            return WrittenJson::Fields(self.as_clients_see(name, value));
        };
        let moved = (name == "PodSpec").then(|| with_host_fields(value));
        let value = moved.as_ref().unwrap_or(value);
        let mut shown = Vec::new();
        for text in fields.split_whitespace() {
            if let Some(field) = text.strip_prefix('+') {
                shown.extend(self.as_clients_see("ObjectMeta", value.get(field)));
            } else if let Some(own) = self.field(source, text, value) {
                shown.push(own);
            }
        }
        WrittenJson::Fields(shown)
    }

    /// Returns a field of a structure as the table writes it; `None` if the release has none of that name.
    fn field(&self, source: &str, text: &str, value: &Json) -> Option<(String, WrittenJson)> {
        let (text, own_kind) = text.split_once(':').map_or((text, None), |(text, kind)| (text, Some(kind)));
        let is_plain = text.ends_with('!');
        let text = text.trim_end_matches('!');
        let (name, seen) = text.split_once('=').unwrap_or((text, text));
        let (kind, presence, item) = if let Some(kind) = own_kind {
            let presence = if kind.ends_with('*') { Presence::Pointer } else { Presence::OmitEmpty };
            let found = value.fields().find(|(field, _)| field.eq_ignore_ascii_case(seen));
            (parse_kind(kind.trim_end_matches('*'), &self.names), presence, found.map_or(&NULL, |(_, item)| item))
        } else {
            let field = self.named(source)?.fields.iter().find(|field| field.name.eq_ignore_ascii_case(seen))?;
            (field.kind.clone(), field.presence, value.get(field.name))
        };
        let shown = match item {
            Json::Null if presence == Presence::Pointer && !is_plain => WrittenJson::Null,
            Json::Null => self.zero_of(&kind),
            item => self.shown(&kind, item),
        };
        Some((name.to_string(), shown))
    }

    /// Returns the fields of a type that the server has no other form of: those that are set.
    fn as_clients_see(&self, name: &str, value: &Json) -> Vec<(String, WrittenJson)> {
        let of = self.named(name);
        let is_left_out = |field: &str, item: &Json| {
            let presence = of.and_then(|of| of.field(field)).map(|known| known.presence);
            presence == Some(Presence::OmitEmpty) && (item.is_array() || item.is_object()) && item.is_empty()
        };
        let mut fields: Vec<_> = value
            .fields()
            .filter(|(field, item)| !is_left_out(field, item))
            .map(|(field, item)| {
                let known = of.and_then(|of| of.field(field));
                let kind = known.map_or(&FieldType::Any, |known| &known.kind);
                (known.map_or(usize::MAX, |known| known.place), field.to_string(), self.shown(kind, item))
            })
            .collect();
        fields.sort_by_key(|(place, ..)| *place);
        fields.into_iter().map(|(_, field, shown)| (field, shown)).collect()
    }

    /// Returns what Go prints for a value that is not a pointer and was not set.
    fn zero_of(&self, kind: &FieldType) -> WrittenJson {
        match kind {
            FieldType::Object(place) => self.of_structure(self.at(*place).name, &Json::object()),
            FieldType::Str => WrittenJson::Str(String::new()),
            FieldType::Int | FieldType::Int32 | FieldType::Float | FieldType::IntOrString => {
                WrittenJson::Number("0".to_string())
            }
            FieldType::Bool => WrittenJson::Bool(false),
            FieldType::Quantity => WrittenJson::Str("0".to_string()),
            _ => WrittenJson::Null,
        }
    }
}

/// Finds the type whose fields a structure has, and its line.
fn fields_of(name: &str) -> Option<(&'static str, &'static str)> {
    let mut lines = INTERNAL.lines().filter_map(|line| line.split_once(" = "));
    lines.find_map(|(head, fields)| {
        let (own, source) = head.split_once(':').unwrap_or((head, head));
        (own == name).then_some((source, fields))
    })
}

/// Moves the fields that the server keeps in the security context, which it always has.
fn with_host_fields(spec: &Json) -> Json {
    let mut spec = spec.clone();
    if !spec.get("securityContext").is_object() {
        spec.set(&["securityContext"], Json::object());
    }
    for field in OF_HOST {
        let value = spec.get(field).clone();
        if !value.is_null() {
            spec.set(&["securityContext", field], value);
        }
    }
    spec
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::{INTERNAL, fields_of};
    use crate::json;
    use crate::objects::schema::{Schema, Struct};

    /// The schema without changes is that of the oldest release: what is left came with later ones.
    #[test]
    fn each_field_of_the_table_is_one_of_the_schema() {
        let schema = Schema::new([]);
        let mut later = Vec::new();
        for (head, fields) in INTERNAL.lines().filter_map(|line| line.split_once(" = ")) {
            let source = head.split_once(':').map_or(head, |(_, source)| source);
            for text in fields.split_whitespace().filter(|text| !text.contains([':', '+'])) {
                let text = text.trim_end_matches('!');
                let seen = text.split_once('=').map_or(text, |(_, seen)| seen);
                let known = schema.named(source).into_iter().flat_map(Struct::names);
                if !known.into_iter().any(|name| name.eq_ignore_ascii_case(seen)) {
                    later.push(format!("{head}.{text}"));
                }
            }
        }
        let expected = "PodSpec.Resources PodSpec.HostnameOverride PodSpec.WorkloadRef PodSpec.SchedulingGroup \
            Container.RestartPolicyRules EphemeralContainer.RestartPolicyRules PodSecurityContext.SELinuxChangePolicy \
            ContainerRestartRule.Action ContainerRestartRule.ExitCodes Lifecycle.StopSignal \
            VolumeProjection.PodCertificate EnvVarSource.FileKeyRef ContainerRestartRuleOnExitCodes.Operator \
            ContainerRestartRuleOnExitCodes.Values PodCertificateProjection.SignerName \
            PodCertificateProjection.KeyType PodCertificateProjection.MaxExpirationSeconds \
            PodCertificateProjection.CredentialBundlePath PodCertificateProjection.KeyPath \
            PodCertificateProjection.CertificateChainPath FileKeySelector.VolumeName FileKeySelector.Path \
            FileKeySelector.Key FileKeySelector.Optional";
        assert_eq!(later.join(" "), expected);
        assert!(fields_of("Pod").is_none());
    }

    #[test]
    fn structures_are_printed_as_the_server_keeps_them() {
        let schema = Schema::new([]);
        let driver = json!({"name": "d", "nodeID": "n<", "topologyKeys": ["k"], "allocatable": {}});
        assert_eq!(
            schema.internal_json("CSINodeDriver", &driver),
            "{\"Name\":\"d\",\"NodeID\":\"n\\u003c\",\"TopologyKeys\":[\"k\"],\"Allocatable\":{\"Count\":null}}"
        );
        let terms = json!([{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]);
        assert_eq!(
            schema.internal_json("[NodeSelectorTerm]", &terms),
            "[{\"MatchExpressions\":[{\"Key\":\"k\",\"Operator\":\"Exists\",\"Values\":null}],\"MatchFields\":null}]"
        );
        let selector = json!({"matchExpressions": [{"key": "k", "operator": "Exists"}], "matchLabels": {"a": "b"}});
        assert_eq!(
            schema.internal_json("LabelSelector", &selector),
            "{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"Exists\"}]}"
        );
    }

    #[test]
    fn fields_of_the_host_stand_in_the_security_context() {
        let schema = Schema::new([]);
        let lines = schema.internal_lines("PodSpec", &json!({"hostNetwork": true, "containers": null}));
        let context: Vec<&str> = lines.lines().skip_while(|line| !line.contains("SecurityContext")).take(3).collect();
        assert_eq!(context, [" \"SecurityContext\": {", "  \"HostNetwork\": true,", "  \"HostPID\": false,"]);
        assert_eq!(
            lines.lines().take(3).collect::<Vec<_>>(),
            ["{", " \"Volumes\": null,", " \"InitContainers\": null,"]
        );
    }
}
