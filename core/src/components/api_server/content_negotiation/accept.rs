//! The Accept header: its clauses in the order in which the server tries them.
//!
//! Mirrors github.com/munnerz/goautoneg (v0.0.0-20191010083416) and k8s.io/apiserver
//! pkg/endpoints/handlers/negotiation/negotiate.go (v1.34). Inputs: a request. Outputs: media types, each with the form
//! of the answer that its parameters ask for.

use alloc::vec::Vec;

use super::{BODY_TYPES, Include, Representation};
use crate::network::{Call, PROTOBUF, Target};

/// A media type with its parameters.
#[derive(Clone, Debug)]
pub(super) struct Clause<'a> {
    main: &'a str,
    sub: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f64,
    /// Whether what is asked can be shown as a table.
    has_tables: bool,
}

impl<'a> Clause<'a> {
    /// Reads the clauses that a request has; `None` if it says nothing.
    pub(super) fn all(call: &'a Call) -> Option<Vec<Self>> {
        let accept = call.header_value("accept").filter(|accept| !accept.is_empty())?;
        let mut clauses: Vec<Self> = accept.split(',').filter_map(Self::read).collect();
        let has_tables = has_tables(call);
        clauses.iter_mut().for_each(|clause| clause.has_tables = has_tables);
        // Go's sort of up to twelve elements, by a comparison that is no order.
        for end in 1..clauses.len() {
            let mut at = end;
            while at > 0 && clauses[at].comes_before(&clauses[at - 1]) {
                clauses.swap(at, at - 1);
                at -= 1;
            }
        }
        Some(clauses)
    }

    fn read(text: &'a str) -> Option<Self> {
        let (media, rest) = text.trim_matches(' ').split_once(';').unwrap_or((text.trim_matches(' '), ""));
        let (main, sub) = match media.split_once('/') {
            Some((main, sub)) if !sub.is_empty() => (main.trim_matches(' '), sub),
            _ if media.trim_matches('/').trim_matches(' ') == "*" => ("*", "*"),
            _ => return None,
        };
        if sub.trim_end_matches('/').contains('/') {
            return None;
        }
        let mut clause = Self {
            main,
            sub: sub.trim_end_matches('/').trim_matches(' '),
            parameters: Vec::new(),
            quality: 1.0,
            has_tables: true,
        };
        for part in rest.split(';') {
            let Some((name, value)) = part.split_once('=').filter(|(_, value)| !value.is_empty()) else { continue };
            let (name, value) = (name.trim_matches(' '), value.strip_suffix('=').unwrap_or(value));
            match name {
                _ if value.contains('=') => {}
                "q" => clause.quality = value.parse().unwrap_or(0.0),
                _ => clause.parameters.push((name, value.trim_matches(' '))),
            }
        }
        Some(clause)
    }

    fn comes_before(&self, other: &Self) -> bool {
        self.quality > other.quality || self.main != "*" && other.main == "*" || self.sub != "*" && other.sub == "*"
    }

    /// Returns the value of a parameter; the last one that is given counts.
    pub(super) fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().rev().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }

    /// Tells whether a media type is one of those that the clause names.
    pub(super) fn covers(&self, media: &str) -> bool {
        let (main, sub) = media.split_once('/').unwrap_or((media, ""));
        self.main == main && (self.sub == sub || self.sub == "*") || self.main == "*" && self.sub == "*"
    }

    /// Returns the first media type, and the form of the answer, that the server has for the clause.
    pub(super) fn form(&self) -> Option<(&'static str, Representation)> {
        let covered = BODY_TYPES.into_iter().filter(|media| self.covers(media));
        let is_there = |form: &Representation| self.has_tables || !matches!(form, Representation::Table(..));
        covered.filter_map(|media| Some((media, self.representation(media).filter(is_there)?))).next()
    }

    /// Returns the first media type of an answer that is not transformed.
    pub(super) fn plain_form(&self) -> Option<&'static str> {
        let has_version = self.parameter("sv").is_some_and(|version| !version.is_empty());
        self.form().filter(|(_, form)| *form == Representation::Plain && !has_version).map(|(media, _)| media)
    }

    /// Source: `acceptMediaTypeOptions` and k8s.io/apiserver pkg/endpoints/handlers/rest.go (v1.34),
    /// `AllowsMediaTypeTransform`.
    fn representation(&self, media: &str) -> Option<Representation> {
        let given = |name| self.parameter(name).filter(|value| !value.is_empty());
        if given("stream").is_some_and(|stream| stream != "watch" || media == "application/yaml")
            || given("sv").is_some_and(|version| version != "v1")
        {
            return None;
        }
        if ["as", "g", "v"].iter().all(|name| self.parameter(name).is_none()) {
            return Some(Representation::Plain);
        }
        let version = match (self.parameter("g"), self.parameter("v")) {
            (Some("meta.k8s.io"), Some("v1")) => "meta.k8s.io/v1",
            (Some("meta.k8s.io"), Some("v1beta1")) => "meta.k8s.io/v1beta1",
            _ => return None,
        };
        match self.parameter("as") {
            // Cells have values of any type, for which protobuf has no form.
            Some("Table") if media != PROTOBUF => Some(Representation::Table(version, Include::Metadata)),
            Some("PartialObjectMetadata") => Some(Representation::Metadata(version)),
            Some("PartialObjectMetadataList") => Some(Representation::MetadataList(version)),
            _ => None,
        }
    }
}

/// Tells whether what a request is about is stored, which alone has tables.
fn has_tables(call: &Call) -> bool {
    match &call.target {
        Target::Resource { resource, subresource, .. } => {
            !["binding", "eviction", "token"].contains(&subresource.as_str())
                && !resource.plural.ends_with("reviews")
                && resource.plural != *"bindings"
        }
        Target::Path(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::Clause;
    use crate::network::Call;

    fn first(accept: &str) -> Option<&'static str> {
        let call = Call::from_http("GET", "/api/v1/nodes", &[("Accept", accept)], "").unwrap();
        Clause::all(&call).unwrap().iter().find_map(Clause::form).map(|(media, _)| media)
    }

    #[test]
    fn the_clause_of_the_highest_quality_that_the_server_has_decides() {
        let (json, yaml) = (Some("application/json"), Some("application/yaml"));
        let cases = [
            ("application/json;q=0.1,application/yaml;q=0.9", yaml),
            ("*/*,application/yaml", yaml),
            ("application/json;q=0", json),
            ("application/*", json),
            ("*", json),
            ("text/html,*/*;q=0.8", json),
            ("application/json;g=meta.k8s.io;v=v1", None),
            ("application/json;stream=watch", json),
            ("application/yaml;stream=watch", None),
            ("application/json;sv=v1", json),
            ("application/json;sv=v2", None),
            ("application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1", None),
            ("application/*;as=Table;g=meta.k8s.io;v=v1", json),
            ("application/json/x", None),
            ("json", None),
        ];
        for (accept, media) in cases {
            assert_eq!(first(accept), media, "{accept}");
        }
    }
}
