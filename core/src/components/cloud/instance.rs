//! An instance of a cloud and what can happen to it, as `PUT cloud/instances/NAME` names it. Data.
//!
//! Inputs: a JSON body. Outputs: an [`Instance`], or an error that names the field; and the way back.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use jiff::SignedDuration;

use crate::json;
use crate::objects::time::exact_seconds;
use crate::objects::{FieldError, FieldReader, Json, NodeAddress, Text};

/// Something that happens to a cloud.
#[derive(Clone, Debug, PartialEq)]
pub enum CloudAction {
    /// It is there.
    Appear,
    /// An instance is there, as it is described and in no other way.
    Put(Text, Box<Instance>),
    /// An instance is there no more.
    Remove(Text),
}

/// Which interface of k8s.io/cloud-provider a provider has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interface {
    /// `InstancesV2`.
    #[default]
    V2,
    /// `Instances` with `Zones`, the older one.
    Instances,
}

/// What a cloud answers instead of doing what it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CloudError {
    /// `InstanceNotFound`.
    NotFound,
    /// `NotImplemented`.
    NotImplemented,
    /// Any other error, with its text.
    Other(Text),
}

/// An instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Whether the provider says that it exists. Default true.
    pub exists: bool,
    /// Whether it exists and does not run. Default false.
    pub shutdown: bool,
    /// Its id, as `test:///zone/i-1`; `None` for one without.
    pub provider_id: Option<Text>,
    /// Its type, as `m5.large`.
    pub kind: Option<Text>,
    /// Its zone.
    pub zone: Option<Text>,
    /// Its region.
    pub region: Option<Text>,
    /// Its addresses, each with `type` and `address`.
    pub addresses: Vec<Json>,
    /// Further labels for its Node.
    pub labels: Vec<(Text, Text)>,
    /// What the cloud answers to calls about it, by the name of the call.
    pub errors: BTreeMap<Text, CloudError>,
    /// The provider's interface, if this instance says it: one for the whole cloud, so that the last word counts.
    pub interface: Option<Interface>,
    /// How long the cloud takes for each answer about it. Default none.
    pub delay: SignedDuration,
}

/// The calls that can fail, and `all` for all of them.
const CALLS: [&str; 6] =
    ["all", "instanceExists", "instanceShutdown", "instanceMetadata", "createRoute", "deleteRoute"];

impl Instance {
    /// Reads an instance; whatever is left out has its default.
    ///
    /// # Errors
    /// A field is unknown or does not fit.
    pub fn from_json(body: &Json) -> Result<Self, FieldError> {
        let mut reader = FieldReader::new(body, "")?;
        let interface = reader.word("interface", "interface", &["instancesV2", "instances"])?;
        let instance = Self {
            exists: reader.boolean("exists")?.unwrap_or(true),
            shutdown: reader.boolean("shutdown")?.unwrap_or(false),
            provider_id: reader.text("providerID")?.cloned(),
            kind: reader.text("type")?.cloned(),
            zone: reader.text("zone")?.cloned(),
            region: reader.text("region")?.cloned(),
            addresses: addresses(&mut reader)?,
            labels: labels(&mut reader)?,
            errors: errors(&mut reader)?,
            interface: interface.map(|word| if word == "instances" { Interface::Instances } else { Interface::V2 }),
            delay: reader.duration("delay")?.unwrap_or_default(),
        };
        reader.finish()?;
        Ok(instance)
    }

    /// Returns the JSON object that reads as this instance.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut shown = json!({"exists": self.exists, "shutdown": self.shutdown});
        for (field, value) in
            [("providerID", &self.provider_id), ("type", &self.kind), ("zone", &self.zone), ("region", &self.region)]
        {
            if let Some(value) = value {
                shown.set(&[field], value);
            }
        }
        shown.set(&["addresses"], self.addresses.clone());
        for (name, value) in &self.labels {
            shown.set(&["labels", name], value);
        }
        for (call, error) in &self.errors {
            let text = match error {
                CloudError::NotFound => &Text::of("not-found"),
                CloudError::NotImplemented => &Text::of("not-implemented"),
                CloudError::Other(text) => text,
            };
            shown.set(&["errors", call], text);
        }
        if let Some(interface) = self.interface {
            shown.set(&["interface"], if interface == Interface::V2 { "instancesV2" } else { "instances" });
        }
        if !self.delay.is_zero() {
            shown.set(&["delay"], exact_seconds(self.delay));
        }
        shown
    }

    /// Returns what a call is answered with in place of its result.
    pub(super) fn error(&self, call: &str) -> Option<&CloudError> {
        self.errors.get(call).or_else(|| self.errors.get("all"))
    }

    /// Returns what the provider tells of it.
    pub(super) fn metadata(&self) -> Json {
        let text = |value: &Option<Text>| value.clone().unwrap_or_default();
        let mut told = Json::object();
        for (field, value) in
            [("providerID", &self.provider_id), ("type", &self.kind), ("zone", &self.zone), ("region", &self.region)]
        {
            told.set(&[field], text(value));
        }
        told.set(&["addresses"], self.addresses.clone());
        told.set(
            &["labels"],
            self.labels.iter().map(|(name, value)| (name.clone(), Json::from(value))).collect::<Json>(),
        );
        told
    }
}

fn addresses(reader: &mut FieldReader<'_>) -> Result<Vec<Json>, FieldError> {
    let path = reader.path("addresses");
    let read = NodeAddress::read_list(reader.list("addresses")?.unwrap_or_default(), &path)?;
    Ok(read.iter().map(NodeAddress::json).collect())
}

fn labels(reader: &mut FieldReader<'_>) -> Result<Vec<(Text, Text)>, FieldError> {
    let path = reader.path("labels");
    let Some(map) = reader.any("labels") else { return Ok(Vec::new()) };
    let read = |(name, value): (&Text, &Json)| match value.as_text() {
        Some(value) => Ok((name.clone(), value.clone())),
        None => Err(FieldError::new(format!("{path}.{name}"), format!("a string is needed, not {value}"))),
    };
    FieldReader::new(map, path.clone())?;
    map.fields().map(read).collect()
}

fn errors(reader: &mut FieldReader<'_>) -> Result<BTreeMap<Text, CloudError>, FieldError> {
    let path = reader.path("errors");
    let Some(map) = reader.any("errors") else { return Ok(BTreeMap::new()) };
    FieldReader::new(map, path.clone())?;
    let read = |(name, value): (&Text, &Json)| {
        if !CALLS.contains(&name.as_str()) {
            return Err(FieldError::unknown(format!("{path}.{name}"), "call", name, CALLS));
        }
        let error = match value.as_text() {
            Some(word) if *word == *"not-found" => CloudError::NotFound,
            Some(word) if *word == *"not-implemented" => CloudError::NotImplemented,
            Some(text) => CloudError::Other(text.clone()),
            None => return Err(FieldError::new(format!("{path}.{name}"), format!("a text is needed, not {value}"))),
        };
        Ok((name.clone(), error))
    };
    map.fields().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::Instance;
    use crate::json;

    #[test]
    fn an_instance_is_read_and_shown_alike() {
        let body = json!({"exists": true, "shutdown": false, "providerID": "test:///a/1", "type": "small", "zone": "a",
            "region": "r", "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}], "labels": {"rack": "7"},
            "errors": {"all": "quota", "instanceExists": "not-found"}, "interface": "instances", "delay": "3s"});
        let read = Instance::from_json(&body).unwrap();
        assert_eq!(Instance::from_json(&read.json()), Ok(read));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_field() {
        for (field, body) in [
            ("shutdwon", json!({"shutdwon": true})),
            ("exists", json!({"exists": "no"})),
            ("addresses[0].type", json!({"addresses": [{"type": "IP", "address": "1"}]})),
            ("addresses[0].address", json!({"addresses": [{"type": "InternalIP"}]})),
            ("addresses[0].address", json!({"addresses": [{"type": "ExternalIP", "address": "300.1.1.1"}]})),
            ("labels.rack", json!({"labels": {"rack": 7}})),
            ("errors.instanceExist", json!({"errors": {"instanceExist": "x"}})),
            ("errors.all", json!({"errors": {"all": 5}})),
            ("interface", json!({"interface": "v2"})),
            ("delay", json!({"delay": "-1s"})),
        ] {
            assert_eq!(Instance::from_json(&body).unwrap_err().field, field);
        }
    }
}
