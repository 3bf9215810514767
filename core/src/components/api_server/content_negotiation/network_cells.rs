//! The cells of Services, of what is behind them and of what leads to them, whose columns are in `network_columns`.
//!
//! Mirrors pkg/printers/internalversion/printers.go (v1.34). Inputs: an object. Outputs: one cell for each
//! column behind the name; `None` for kinds of other files.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::cell_values::{NONE, UNKNOWN, joined, labels, number, selector, text, text_or, with_more};
use crate::objects::Json;

/// Returns the cells of an object of a kind.
pub(super) fn of(plural: &str, object: &Json, age: Json) -> Option<Vec<Json>> {
    Some(match plural {
        "services" => service(object, age),
        "endpoints" => Vec::from([Json::from(endpoints(object)), age]),
        "endpointslices" => slice(object, age),
        "networkpolicies" => Vec::from([selector(object.at(&["spec", "podSelector"])), age]),
        "ingresses" => ingress(object, age),
        "ingressclasses" => {
            let parameters = object.at(&["spec", "parameters"]);
            let group = parameters.get("apiGroup").as_str().map(|group| format!(".{group}")).unwrap_or_default();
            let part = |field: &str| parameters.get(field).as_str().unwrap_or("");
            let shown = format!("{}{group}/{}", part("kind"), part("name"));
            let shown = if parameters.is_null() { String::from(NONE) } else { shown };
            Vec::from([text(object, &["spec", "controller"]), Json::from(shown), age])
        }
        "servicecidrs" => Vec::from([Json::from(joined(object.at(&["spec", "cidrs"]), None)), age]),
        "ipaddresses" => Vec::from([Json::from(parent(object.at(&["spec", "parentRef"]))), age]),
        _ => return None,
    })
}

fn service(service: &Json, age: Json) -> Vec<Json> {
    let ports: Vec<String> = service
        .at(&["spec", "ports"])
        .items()
        .iter()
        .map(|port| {
            let (number, node) = (number(port, &["port"]), number(port, &["nodePort"]));
            let protocol = port.get("protocol").as_str().unwrap_or("TCP");
            if node > 0 { format!("{number}:{node}/{protocol}") } else { format!("{number}/{protocol}") }
        })
        .collect();
    Vec::from([
        text(service, &["spec", "type"]),
        text_or(service, &["spec", "clusterIP"], NONE),
        outside(service),
        listed(&ports, NONE),
        age,
        Json::from(labels(service.at(&["spec", "selector"]))),
    ])
}

/// Returns the addresses by which a Service is reached from outside the cluster.
///
/// Source: printers.go (v1.34), `getServiceExternalIP`, `loadBalancerStatusStringer`; the server's tables are wide.
fn outside(service: &Json) -> Json {
    let own = service.at(&["spec", "externalIPs"]).items().iter().filter_map(Json::as_str).map(String::from);
    match service.at(&["spec", "type"]).as_str() {
        Some("ClusterIP" | "NodePort") => listed(&own.collect::<Vec<_>>(), NONE),
        Some("LoadBalancer") => {
            let address = |one: &Json| {
                let mut texts = ["ip", "hostname"].into_iter().filter_map(|field| one.get(field).as_str());
                texts.find(|text| !text.is_empty()).map(String::from)
            };
            let given = service.at(&["status", "loadBalancer", "ingress"]).items().iter().filter_map(address);
            let given: BTreeSet<String> = given.collect();
            listed(&given.into_iter().chain(own).collect::<Vec<_>>(), "<pending>")
        }
        Some("ExternalName") => text(service, &["spec", "externalName"]),
        _ => Json::from(UNKNOWN),
    }
}

fn listed(parts: &[String], none: &str) -> Json {
    Json::from(if parts.is_empty() { String::from(none) } else { parts.join(",") })
}

fn endpoints(object: &Json) -> String {
    let subsets = object.get("subsets").items();
    if subsets.is_empty() {
        return String::from(NONE);
    }
    let mut parts: Vec<String> = Vec::new();
    for subset in subsets {
        let addresses = || subset.get("addresses").items().iter().filter_map(|address| address.get("ip").as_str());
        if subset.get("ports").is_empty() {
            parts.extend(addresses().map(String::from));
        }
        for port in subset.get("ports").items() {
            let number = port.get("port").as_i64().unwrap_or(0);
            parts.extend(
                addresses().map(
                    |ip| {
                        if ip.contains(':') { format!("[{ip}]:{number}") } else { format!("{ip}:{number}") }
                    },
                ),
            );
        }
    }
    if parts.is_empty() { String::new() } else { with_more(&parts) }
}

fn slice(slice: &Json, age: Json) -> Vec<Json> {
    let port = |port: &Json| match (port.get("port").as_i64(), port.get("name").as_str()) {
        (Some(number), _) => number.to_string(),
        (None, Some(name)) => String::from(name),
        (None, None) => String::from("*"),
    };
    let ports: Vec<String> = slice.get("ports").items().iter().map(port).collect();
    let addresses = slice.get("endpoints").items().iter().flat_map(|endpoint| endpoint.get("addresses").items());
    let addresses: Vec<String> = addresses.filter_map(|address| address.as_str().map(String::from)).collect();
    let shown = |parts: &[String]| Json::from(with_more(parts));
    Vec::from([text(slice, &["addressType"]), shown(&ports), shown(&addresses), age])
}

fn ingress(ingress: &Json, age: Json) -> Vec<Json> {
    let hosts: Vec<String> = ingress
        .at(&["spec", "rules"])
        .items()
        .iter()
        .filter_map(|rule| rule.get("host").as_str().filter(|host| !host.is_empty()).map(String::from))
        .collect();
    let hosts = if hosts.is_empty() { String::from("*") } else { with_more(&hosts) };
    let mut addresses: Vec<&str> = Vec::new();
    for entry in ingress.at(&["status", "loadBalancer", "ingress"]).items() {
        let part = |field: &str| entry.get(field).as_str().filter(|text| !text.is_empty());
        addresses.extend(part("ip").or_else(|| part("hostname")).filter(|part| !addresses.contains(part)));
    }
    addresses.sort_unstable();
    let ports = if ingress.at(&["spec", "tls"]).is_empty() { "80" } else { "80, 443" };
    let class = ingress.at(&["spec", "ingressClassName"]).as_str().unwrap_or(NONE);
    Vec::from([Json::from(class), Json::from(hosts), Json::from(addresses.join(",")), Json::from(ports), age])
}

/// Names the object to which an address belongs.
fn parent(parent: &Json) -> String {
    if parent.is_null() {
        return String::from(NONE);
    }
    let part = |field: &str| parent.get(field).as_str().unwrap_or("");
    let group = if part("group").is_empty() { String::new() } else { format!(".{}", part("group")) };
    let namespace = if part("namespace").is_empty() { String::new() } else { format!("/{}", part("namespace")) };
    format!("{}{namespace}/{}", format!("{}{group}", part("resource")).to_lowercase(), part("name"))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{endpoints, outside, slice};
    use crate::json;
    use crate::objects::Json;

    #[test]
    fn a_service_is_reached_from_outside_as_its_type_says() {
        let ingress = json!({"loadBalancer": {"ingress": [{"ip": "3.4.5.6", "hostname": "a.example"}, {"ip": "2.3.4.5"},
            {"hostname": "b.example"}, {}]}});
        for (spec, shown) in [
            (json!({"type": "ClusterIP"}), "<none>"),
            (json!({"type": "NodePort", "externalIPs": ["1.1.1.1", "1.1.1.0"]}), "1.1.1.1,1.1.1.0"),
            (json!({"type": "LoadBalancer"}), "2.3.4.5,3.4.5.6,b.example"),
            (json!({"type": "LoadBalancer", "externalIPs": ["1.1.1.1"]}), "2.3.4.5,3.4.5.6,b.example,1.1.1.1"),
            (json!({"type": "ExternalName", "externalName": "db.example"}), "db.example"),
            (json!({"type": "Other"}), "<unknown>"),
        ] {
            let mut service = json!({});
            service.set(&["spec"], spec);
            service.set(&["status"], ingress.clone());
            assert_eq!(outside(&service).as_str(), Some(shown));
        }
        assert_eq!(outside(&json!({"spec": {"type": "LoadBalancer"}})).as_str(), Some("<pending>"));
    }

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let ips: Vec<Json> = (1..=5).map(|at| json!({"ip": alloc::format!("10.0.0.{at}")})).collect();
        let object = json!({"subsets": [{"addresses": ips, "ports": [{"port": 80}]}]});
        assert_eq!(endpoints(&object), "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more...");
        assert_eq!(endpoints(&json!({})), "<none>");
        let cells = slice(&json!({"addressType": "IPv4", "ports": [{}, {"name": "a"}, {"port": 1}]}), Json::Null);
        assert_eq!(cells, [json!("IPv4"), json!("*,a,1"), json!("<unset>"), Json::Null]);
    }
}
