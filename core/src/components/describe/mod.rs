//! What `kubectl describe node` prints.
//!
//! Mirrors k8s.io/kubectl pkg/describe/describe.go (v1.34), `describeNode`, `describeNodeResource`, `DescribeEvents`,
//! and the parts of k8s.io/kubectl pkg/util/resource that it uses. Pure: objects as the API shows them, and the
//! instant. Outputs: lines. Left out on purpose: resources of whole Pods that are being resized.

mod tab_writer;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::Timestamp;

use self::tab_writer::TabWriter;
use super::pod_resources::{Amounts, PodLevel, limits, requests, spec_in_effect};
use crate::objects::Json;
use crate::objects::quantity::{Format, Quantity};
use crate::objects::time::{human_duration, parse};
use crate::profile::Profile;

/// Longest annotation that stays in one line. Source: describe.go (v1.34), `maxAnnotationLen`.
const ANNOTATION_MAX: usize = 140;
/// The annotation that is not shown. Source: describe.go (v1.34), `skipAnnotations`.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Source: describe.go (v1.34), `LabelNodeRolePrefix`, `NodeLabelRole`.
const ROLE_PREFIX: &str = "node-role.kubernetes.io/";
const ROLE: &str = "kubernetes.io/role";
/// How many pools of devices are shown. Source: describe.go (v1.36), `maxPoolsToShow`.
const POOLS_MAX: usize = 10;

/// A Node with what is told of it.
#[derive(Clone, Debug)]
pub struct DescribedNode<'a> {
    /// The Node.
    pub node: &'a Json,
    /// Its Lease, or the message with which it was not found.
    pub lease: Result<&'a Json, &'a str>,
    /// Its Pods that have not ended, by namespace and name.
    pub pods: &'a [Json],
    /// The Events about it; `None` if they are not asked for.
    pub events: Option<&'a [Json]>,
    /// The ResourceSlices that are its own.
    pub slices: &'a [Json],
    /// The release of kubectl.
    pub profile: &'a Profile,
    /// The instant.
    pub now: Timestamp,
}

fn text<'a>(json: &'a Json, path: &[&str]) -> &'a str {
    json.at(path).as_str().unwrap_or("")
}

/// Prints a time as RFC 1123 with a zone in figures; one that is missing as Go's zero.
fn time(json: &Json) -> String {
    let at = json.as_str().and_then(parse);
    let zero = || String::from("Mon, 01 Jan 0001 00:00:00 +0000");
    at.map_or_else(zero, |at| at.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string())
}

/// Prints a time of a Lease, which may be missing.
fn lease_time(json: &Json) -> String {
    if json.is_null() { String::from("<unset>") } else { time(json) }
}

fn since(json: &Json, now: Timestamp) -> String {
    let at = json.as_str().and_then(parse);
    at.map_or_else(|| String::from("<unknown>"), |at| human_duration(now.duration_since(at)))
}

impl DescribedNode<'_> {
    /// Returns the lines.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut out = TabWriter::default();
        self.head(&mut out);
        self.status(&mut out);
        self.pods(&mut out);
        if let Some(events) = self.events {
            self.events(events, &mut out);
        }
        out.finish()
    }

    fn head(&self, out: &mut TabWriter) {
        let node = self.node;
        out.line(format!("Name:\t{}", text(node, &["metadata", "name"])));
        let labels = node.at(&["metadata", "labels"]);
        let roles: BTreeSet<&str> = labels
            .fields()
            .filter_map(|(key, value)| match key.strip_prefix(ROLE_PREFIX) {
                Some(role) => Some(role),
                None => value.as_str().filter(|_| **key == *ROLE),
            })
            .filter(|role| !role.is_empty())
            .collect();
        let roles = roles.into_iter().collect::<Vec<_>>().join(",");
        out.line(format!("Roles:\t{}", if roles.is_empty() { "<none>" } else { &roles }));
        let mut pairs: Vec<String> =
            labels.fields().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or(""))).collect();
        pairs.sort();
        several("Labels", &pairs, out);
        annotations(node.at(&["metadata", "annotations"]), out);
        out.line(format!("CreationTimestamp:\t{}", time(node.at(&["metadata", "creationTimestamp"]))));
        let mut taints: Vec<(String, String)> = node.at(&["spec", "taints"]).items().iter().map(taint).collect();
        taints.sort();
        several("Taints", &taints.into_iter().map(|(_, shown)| shown).collect::<Vec<_>>(), out);
        let unschedulable = node.at(&["spec", "unschedulable"]).as_bool().unwrap_or(false);
        out.line(format!("Unschedulable:\t{unschedulable}"));
        match self.lease {
            Ok(lease) => {
                let spec = lease.get("spec");
                let holder = spec.get("holderIdentity").as_str().unwrap_or("<unset>");
                out.line("Lease:");
                out.line(format!("  HolderIdentity:\t{holder}"));
                out.line(format!("  AcquireTime:\t{}", lease_time(spec.get("acquireTime"))));
                out.line(format!("  RenewTime:\t{}", lease_time(spec.get("renewTime"))));
            }
            Err(why) => out.line(format!("Lease:\tFailed to get lease: {why}")),
        }
    }

    fn status(&self, out: &mut TabWriter) {
        let status = self.node.get("status");
        if !status.get("conditions").is_empty() {
            out.line("Conditions:");
            out.line("  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage");
            out.line("  ----\t------\t-----------------\t------------------\t------\t-------");
        }
        for condition in status.get("conditions").items() {
            let own = |field: &str| text(condition, &[field]);
            let (beat, since) = (time(condition.get("lastHeartbeatTime")), time(condition.get("lastTransitionTime")));
            let (kind, state) = (own("type"), own("status"));
            out.line(format!("  {kind} \t{state} \t{beat} \t{since} \t{} \t{}", own("reason"), own("message")));
        }
        out.line("Addresses:");
        for address in status.get("addresses").items() {
            out.line(format!("  {}:\t{}", text(address, &["type"]), text(address, &["address"])));
        }
        for (title, list) in [("Capacity:", status.get("capacity")), ("Allocatable:", status.get("allocatable"))] {
            if !list.is_empty() {
                out.line(title);
            }
            let mut rows: Vec<String> =
                list.fields().map(|(name, value)| format!("  {name}:\t{}", shown(value))).collect();
            rows.sort();
            rows.into_iter().for_each(|row| out.line(row));
        }
        slices(self.slices, out);
        out.line("System Info:");
        let tells_proxy = self.profile.is("kubectl-tells-kube-proxy-version");
        let proxy = tells_proxy.then_some(("Kube-Proxy Version", "kubeProxyVersion"));
        let info = [
            ("Machine ID", "machineID"),
            ("System UUID", "systemUUID"),
            ("Boot ID", "bootID"),
            ("Kernel Version", "kernelVersion"),
            ("OS Image", "osImage"),
            ("Operating System", "operatingSystem"),
            ("Architecture", "architecture"),
            ("Container Runtime Version", "containerRuntimeVersion"),
            ("Kubelet Version", "kubeletVersion"),
        ];
        for (title, field) in info.into_iter().chain(proxy) {
            out.line(format!("  {title}:\t{}", text(status, &["nodeInfo", field])));
        }
        let spec = self.node.get("spec");
        if !text(spec, &["podCIDR"]).is_empty() {
            out.line(format!("PodCIDR:\t{}", text(spec, &["podCIDR"])));
        }
        if !spec.get("podCIDRs").is_empty() {
            let all: Vec<&str> = spec.get("podCIDRs").items().iter().filter_map(Json::as_str).collect();
            out.line(format!("PodCIDRs:\t{}", all.join(",")));
        }
        if !text(spec, &["providerID"]).is_empty() {
            out.line(format!("ProviderID:\t{}", text(spec, &["providerID"])));
        }
    }

    fn pods(&self, out: &mut TabWriter) {
        let status = self.node.get("status");
        let allocatable = if status.get("allocatable").is_empty() { "capacity" } else { "allocatable" };
        let allocatable = Amounts::of(status.get(allocatable));
        out.line(format!("Non-terminated Pods:\t({} in total)", self.pods.len()));
        out.line("  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge");
        out.line("  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---");
        let (mut asked, mut limited) = (Amounts::default(), Amounts::default());
        let mut formats = Formats::default();
        for pod in self.pods {
            let [(own, most), counted] = self.amounts(pod);
            formats.learn(pod.get("spec"));
            let share = |amounts: &Amounts, name: &str| {
                let percent = percent(amounts.get(name), allocatable.get(name), false);
                format!("{} ({percent}%)", formats.print(name, amounts.get(name)))
            };
            out.line(format!(
                "  {}\t{}\t\t{}\t{}\t{}\t{}\t{}",
                text(pod, &["metadata", "namespace"]),
                text(pod, &["metadata", "name"]),
                share(&own, "cpu"),
                share(&most, "cpu"),
                share(&own, "memory"),
                share(&most, "memory"),
                since(pod.at(&["metadata", "creationTimestamp"]), self.now)
            ));
            asked.add(&counted.0);
            limited.add(&counted.1);
        }
        out.line("Allocated resources:");
        out.line("  (Total limits may be over 100 percent, i.e., overcommitted.)");
        out.line("  Resource\tRequests\tLimits");
        out.line("  --------\t--------\t------");
        let names: Vec<&str> = allocatable.iter().map(|(name, _)| name.as_str()).collect();
        let huge = names.iter().copied().filter(|name| name.starts_with("hugepages-"));
        for name in ["cpu", "memory", "ephemeral-storage"].into_iter().chain(huge) {
            let share = |amounts: &Amounts| {
                let percent = percent(amounts.get(name), allocatable.get(name), true);
                format!("{} ({percent}%)", formats.print(name, amounts.get(name)))
            };
            out.line(format!("  {name}\t{}\t{}", share(&asked), share(&limited)));
        }
        let is_standard = |name: &str| {
            ["cpu", "memory", "ephemeral-storage", "pods"].contains(&name) || name.starts_with("hugepages-")
        };
        for name in names.into_iter().filter(|name| !is_standard(name)) {
            let (asked, limited) = (asked.get(name), limited.get(name));
            out.line(format!("  {name}\t{}\t{}", formats.print(name, asked), formats.print(name, limited)));
        }
    }

    /// Returns requests and limits of a Pod, as its line tells them and as they are summed up.
    fn amounts(&self, pod: &Json) -> [(Amounts, Amounts); 2] {
        let (spec, level) = (pod.get("spec"), PodLevel::of_kubectl(self.profile));
        let (asked, limited) = (requests(spec, level), limits(spec, level));
        let in_effect = spec_in_effect(pod);
        let in_effect = in_effect.as_ref().unwrap_or(spec);
        let resized = requests(in_effect, level);
        match self.profile.text("kubectl-counts-status-resources") {
            "requests" => [(resized.clone(), limited.clone()), (resized, limited)],
            "lines" => [(resized, limits(in_effect, level)), (asked, limited)],
            _ => [(asked.clone(), limited.clone()), (asked, limited)],
        }
    }

    fn events(&self, events: &[Json], out: &mut TabWriter) {
        if events.is_empty() {
            return out.line("Events:\t<none>");
        }
        out.flush();
        let mut events: Vec<&Json> = events.iter().collect();
        events.sort_by_key(|event| event.get("lastTimestamp").as_str().and_then(parse));
        out.line("Events:");
        out.line("  Type\tReason\tAge\tFrom\tMessage");
        out.line("  ----\t------\t----\t----\t-------");
        for event in events {
            let first =
                if event.get("eventTime").is_null() { event.get("firstTimestamp") } else { event.get("eventTime") };
            let first = since(first, self.now);
            let count = event.get("count").as_i64().unwrap_or(0);
            let series = event.get("series");
            let age = if series.is_object() {
                let last = since(series.get("lastObservedTime"), self.now);
                format!("{last} (x{} over {first})", series.get("count").as_i64().unwrap_or(0))
            } else if count > 1 {
                format!("{} (x{count} over {first})", since(event.get("lastTimestamp"), self.now))
            } else {
                first
            };
            let source = [text(event, &["source", "component"]), text(event, &["reportingComponent"])];
            let source = source.into_iter().find(|source| !source.is_empty()).unwrap_or("");
            let (kind, reason) = (text(event, &["type"]), text(event, &["reason"]));
            let field = text(event, &["involvedObject", "fieldPath"]);
            let tells_field = !field.is_empty() && self.profile.is("kubectl-tells-field-paths");
            let field = if tells_field { format!("{field}: ") } else { String::new() };
            out.line(format!("  {kind}\t{reason}\t{age}\t{source}\t{field}{}", text(event, &["message"]).trim()));
        }
    }
}

/// Sums slices up by driver and pool.
fn slices(slices: &[Json], out: &mut TabWriter) {
    let mut pools: BTreeMap<String, (&str, &str, usize, usize)> = BTreeMap::new();
    for slice in slices {
        let (driver, pool) = (text(slice, &["spec", "driver"]), text(slice, &["spec", "pool", "name"]));
        let sum = pools.entry(format!("{driver}/{pool}")).or_insert((driver, pool, 0, 0));
        sum.2 += 1;
        sum.3 += slice.at(&["spec", "devices"]).items().len();
    }
    if pools.is_empty() {
        return;
    }
    out.line("Node-Local ResourceSlices:");
    out.line("  Driver\tPool\tSlices\tDevices");
    out.line("  ------\t----\t------\t-------");
    for (driver, pool, slices, devices) in pools.values().take(POOLS_MAX) {
        out.line(format!("  {driver}\t{pool}\t{slices}\t{devices}"));
    }
    if pools.len() > POOLS_MAX {
        out.line(format!("  ...and {} more pools", pools.len() - POOLS_MAX));
    }
}

/// In which form sums of resources are printed: that of the first quantity which is not zero.
/// Source: k8s.io/apimachinery pkg/api/resource/quantity.go (v1.34), `Add`.
#[derive(Default)]
struct Formats(Vec<(String, Format)>);

impl Formats {
    fn learn(&mut self, spec: &Json) {
        let containers = ["containers", "initContainers"].iter().flat_map(|list| spec.get(list).items());
        let holders = containers.chain([spec]);
        let lists = holders.flat_map(|own| ["requests", "limits"].map(|kind| own.at(&["resources", kind])));
        for (name, value) in lists.flat_map(Json::fields) {
            let Some(quantity) = Quantity::from_json(value).filter(|quantity| quantity.milli_value() != 0) else {
                continue;
            };
            if !self.0.iter().any(|(own, _)| *own == **name) {
                self.0.push((name.to_string(), quantity.format()));
            }
        }
    }

    fn print(&self, name: &str, amount: i64) -> String {
        if name == "cpu" {
            return format!("{}", Quantity::milli(amount));
        }
        let format = self.0.iter().find(|(own, _)| own == name).map_or(Format::DecimalSi, |(_, format)| *format);
        format!("{}", Quantity::whole(amount, format))
    }
}

/// Go's conversion of a quotient to a whole number; of none, 0 where the caller checks it, else the smallest number.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as Go does")]
fn percent(part: i64, whole: i64, is_checked: bool) -> i64 {
    if whole == 0 {
        return if is_checked { 0 } else { i64::MIN };
    }
    (part as f64 / whole as f64 * 100.0) as i64
}

fn shown(value: &Json) -> String {
    match value {
        Json::Str(text) => Quantity::canonical(text).unwrap_or_else(|_| text.to_string()),
        other => format!("{other}"),
    }
}

/// Returns a taint, and what it is sorted by.
fn taint(taint: &Json) -> (String, String) {
    let own = |field: &str| text(taint, &[field]);
    let value = if own("value").is_empty() { String::new() } else { format!("={}", own("value")) };
    let effect = if own("effect").is_empty() { String::new() } else { format!(":{}", own("effect")) };
    (format!("{},{}", own("effect"), own("key")), format!("{}{value}{effect}", own("key")))
}

fn several(title: &str, lines: &[String], out: &mut TabWriter) {
    let Some((first, rest)) = lines.split_first() else { return out.line(format!("{title}:\t<none>")) };
    out.line(format!("{title}:\t{first}"));
    rest.iter().for_each(|line| out.line(format!("\t{line}")));
}

fn annotations(annotations: &Json, out: &mut TabWriter) {
    let mut all: Vec<(&str, &str)> = annotations
        .fields()
        .filter(|(key, _)| **key != *LAST_APPLIED)
        .map(|(key, value)| (key.as_str(), value.as_str().unwrap_or("")))
        .collect();
    all.sort_unstable();
    let mut lines = Vec::new();
    for (key, value) in all {
        let value = value.strip_suffix('\n').unwrap_or(value);
        if value.len() + key.len() + 2 <= ANNOTATION_MAX && !value.contains('\n') {
            lines.push(format!("{key}: {value}"));
            continue;
        }
        lines.push(format!("{key}:"));
        lines.extend(value.split('\n').map(|line| format!("  {}", shortened(line, ANNOTATION_MAX - 2))));
    }
    several("Annotations", &lines, out);
}

fn shortened(line: &str, most: usize) -> String {
    if line.len() <= most {
        return String::from(line);
    }
    let end = (0..=most).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    format!("{}...", &line[..end])
}
