//! What the server says of wrong objects of kinds around workloads, in the words of kube-apiserver v1.34.4.

use alloc::string::String;

use super::Fixture;
use crate::json;
use crate::network::{Call, ENDPOINT_SLICES, Resource, Verb};
use crate::objects::Json;

impl Fixture {
    /// Posts an object with a change; returns the code and the message without its beginning.
    fn posted(&mut self, of: &Resource, valid: &Json, path: &[&str], value: impl Into<Json>) -> (u16, String) {
        let mut body = valid.clone();
        body.set(path, value);
        let answer = self.call(Call::new(Verb::Create, of.clone(), "default", "").body(body));
        let message = answer.message();
        (answer.code, String::from(message.split_once(" is invalid: ").map_or("", |(_, told)| told)))
    }
}

#[test]
fn an_endpoint_slice_has_addresses_of_its_type_and_ports_of_its_own() {
    let slice = json!({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "metadata": {"name": "x"},
        "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80}]});
    let mut fixture = Fixture::new();
    let mut told = |path: &[&str], value: Json| fixture.posted(&ENDPOINT_SLICES, &slice, path, value).1;
    assert_eq!(told(&["addressType"], Json::from("")), "addressType: Required value");
    assert_eq!(
        told(&["addressType"], Json::from("In")),
        "addressType: Unsupported value: \"In\": supported values: \"FQDN\", \"IPv4\", \"IPv6\""
    );
    assert_eq!(
        told(&["addressType"], Json::from("IPv6")),
        "endpoints[0].addresses: Invalid value: \"10.0.0.1\": must be an IPv6 address"
    );
    assert_eq!(
        told(&["endpoints"], json!([{"addresses": ["abc"]}])),
        "endpoints[0].addresses[0]: Invalid value: \"abc\": must be a valid IP address, (e.g. 10.9.8.7 or \
         2001:db8::ffff)"
    );
    assert_eq!(told(&["endpoints"], json!([{}])), "endpoints[0].addresses: Required value: must contain at least 1 address");
    assert_eq!(told(&["ports"], json!([{"name": "p"}, {"name": "p"}])), "ports[1].name: Duplicate value: \"p\"");
    assert_eq!(
        told(&["ports"], json!([{"protocol": "../a"}])),
        "ports[0].protocol: Unsupported value: \"../a\": supported values: \"SCTP\", \"TCP\", \"UDP\""
    );
    let answer = fixture.call(Call::new(Verb::Create, ENDPOINT_SLICES, "default", "").body(slice));
    let port = answer.body().unwrap().get("ports").items()[0].clone();
    assert_eq!(port, json!({"name": "", "port": 80, "protocol": "TCP"}));
}
