//! What is special about CertificateSigningRequests: who asked, who may approve and sign, what may change.
//!
//! Mirrors pkg/registry/certificates/certificates/strategy.go, pkg/apis/certificates/validation/validation.go and
//! plugin/pkg/admission/certificates (v1.34). Inputs: authorised writes. Outputs: the object with its requester and the
//! times of its conditions, or the refusal. Left out on purpose: the check of the request's signature.

use alloc::format;
use alloc::string::String;

use jiff::Timestamp;

use super::admission_write::Write;
use super::attributes::Attributes;
use super::fields::put;
use super::validation::{FieldError, RuleWords, quote};
use super::{ApiServer, Origin};
use crate::network::{Answer, Identity};
use crate::objects::names::{self, Wording};
use crate::objects::time::to_time;
use crate::objects::{Json, base64, x509};
use crate::profile::Settings;

const GROUP: &str = "certificates.k8s.io";
/// The conditions of which an approval is made. Source: k8s.io/api certificates/v1/types.go (v1.34).
const APPROVALS: [&str; 2] = ["Approved", "Denied"];

/// Notes who asks. Source: strategy.go (v1.34), `csrStrategy.PrepareForCreate`.
pub(super) fn note_requester(tree: &mut Json, identity: &Identity) {
    tree.set(&["spec", "username"], &identity.user);
    let groups = identity.groups.iter().map(Json::from).collect::<Json>();
    put(tree, &["spec", "groups"], &groups);
    for field in ["uid", "extra"] {
        tree.remove(&["spec", field]);
    }
    identity.details.iter().for_each(|details| details.add_to(tree.entry(&["spec"])));
}

/// Resets what a change may not touch, and gives new conditions their times.
///
/// Source: strategy.go (v1.34), `PrepareForUpdate` of the three strategies, `populateConditionTimestamps`.
pub(super) fn prepare_update(subresource: &str, tree: &mut Json, old: &Json, now: Timestamp) {
    put(tree, &["spec"], old.get("spec"));
    match subresource {
        "" => put(tree, &["status"], old.get("status")),
        "approval" => {
            let conditions = tree.at(&["status", "conditions"]).clone();
            put(tree, &["status"], old.get("status"));
            put(tree, &["status", "conditions"], &conditions);
        }
        // A change of the status keeps the approval as it is.
        _ => keep_approval(tree, old),
    }
    if subresource.is_empty() || tree.at(&["status", "conditions"]).is_empty() {
        return;
    }
    let before = old.at(&["status", "conditions"]);
    for condition in tree.entry(&["status", "conditions"]).make_array() {
        if condition.get("lastUpdateTime").is_null() {
            condition.set(&["lastUpdateTime"], to_time(now));
        }
        if condition.get("lastTransitionTime").is_null() {
            let same = |own: &&Json| own.get("type") == condition.get("type");
            let kept = before.items().iter().find(same).filter(|own| own.get("status") == condition.get("status"));
            let since = kept.map(|own| own.get("lastTransitionTime").clone()).filter(|since| !since.is_null());
            condition.set(&["lastTransitionTime"], since.unwrap_or_else(|| Json::from(to_time(now))));
        }
    }
}

fn is_approval(condition: &Json) -> bool {
    condition.get("type").as_str().is_some_and(|kind| APPROVALS.contains(&kind))
}

/// Source: strategy.go (v1.34), `preserveConditionInstances`.
fn keep_approval(tree: &mut Json, old: &Json) {
    let mut kept = old.at(&["status", "conditions"]).items().iter().filter(|own| is_approval(own));
    if tree.at(&["status", "conditions"]).is_empty() {
        return;
    }
    for condition in tree.entry(&["status", "conditions"]).make_array() {
        if is_approval(condition)
            && let Some(own) = kept.find(|own| own.get("type") == condition.get("type"))
        {
            *condition = own.clone();
        }
    }
}

/// Checks a new request. Source: validation.go (v1.34), `validateCertificateSigningRequest`.
pub(super) fn validate(tree: &Json, errors: &mut alloc::vec::Vec<FieldError>) {
    let spec = tree.get("spec");
    if spec.get("request").is_null() {
        let why = "PEM block type must be CERTIFICATE REQUEST";
        errors.push(FieldError::invalid("spec.request", spec.get("request"), why).in_go("[]byte(nil)"));
    } else if let Err(why) = x509::read_request(spec.get("request").as_str().unwrap_or("")) {
        errors.push(FieldError::invalid("spec.request", spec.get("request"), format!("{why}")));
    }
    if spec.get("usages").is_empty() {
        errors.push(FieldError::required("spec.usages", ""));
    }
    for (at, usage) in spec.get("usages").items().iter().enumerate() {
        let text = usage.as_str().unwrap_or("");
        if !USAGES.contains(&text) {
            errors.push(FieldError::not_supported(format!("spec.usages[{at}]"), text, &USAGES));
        }
    }
    for (at, usage) in spec.get("usages").items().iter().enumerate() {
        if spec.get("usages").items()[..at].contains(usage) {
            errors.push(FieldError::duplicate(format!("spec.usages[{at}]"), usage));
        }
    }
    signer_name(spec.get("signerName").as_str().unwrap_or(""), errors);
    if spec.get("expirationSeconds").as_i64().is_some_and(|seconds| seconds < 600) {
        let why = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.push(FieldError::invalid("spec.expirationSeconds", spec.get("expirationSeconds"), why));
    }
}

/// Source: k8s.io/api certificates/v1/types.go (v1.34), `KeyUsage`, in the order in which they are told.
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// Checks a change. Source: validation.go (v1.34), `validateCertificateSigningRequestUpdate`, `validateConditions`.
/// Checks the name of a signer: a domain, and a path in it. Source: pkg/apis/core/validation/names.go (v1.34),
/// `ValidateSignerName`; pkg/apis/certificates/validation/validation.go (v1.34) for the old one.
fn signer_name(name: &str, errors: &mut alloc::vec::Vec<FieldError>) {
    const FIELD: &str = "spec.signerName";
    let mut refuse = |value: &str, why: &str| errors.push(FieldError::invalid_text(FIELD, value, why));
    if name == "kubernetes.io/legacy-unknown" {
        refuse(name, "the legacy signerName is not allowed via this API version");
        return;
    }
    let Some((domain, path)) = name.split_once('/').filter(|(_, path)| !path.contains('/')) else {
        match name {
            "" => errors.push(FieldError::required(FIELD, "")),
            _ => refuse(name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
        }
        return;
    };
    if domain.len() > SUBDOMAIN_BYTES {
        errors.push(FieldError::too_long(FIELD, format!("may not be more than {SUBDOMAIN_BYTES} bytes")));
    }
    labels_of(domain, names::label, errors);
    if !domain.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        errors.push(FieldError::invalid_text(FIELD, domain, why));
    }
    labels_of(path, names::subdomain, errors);
    if name.len() > SIGNER_BYTES {
        errors.push(FieldError::too_long(FIELD, format!("may not be more than {SIGNER_BYTES} bytes")));
    }
}

/// Tells what is wrong with the first part of a name that is not as it should be.
fn labels_of(
    part: &str,
    check: fn(&str, Wording) -> alloc::vec::Vec<String>,
    errors: &mut alloc::vec::Vec<FieldError>,
) {
    let all = part.split('.').map(|label| (label, check(label, Wording::default())));
    let Some((label, problems)) = all.into_iter().find(|(_, problems)| !problems.is_empty()) else { return };
    for problem in problems {
        let why = format!("validating label {label:?}: {problem}");
        errors.push(FieldError::invalid_text("spec.signerName", part, why));
    }
}

/// Source: k8s.io/apimachinery pkg/util/validation/validation.go (v1.34), `DNS1123SubdomainMaxLength`.
const SUBDOMAIN_BYTES: usize = 253;
/// Most bytes of the name of a signer: a domain, a slash, and a label and a domain with a dot between. Source:
/// pkg/apis/core/validation/names.go (v1.34), `ValidateSignerName`.
const SIGNER_BYTES: usize = SUBDOMAIN_BYTES + 1 + SUBDOMAIN_BYTES + 63 + 1;

pub(super) fn validate_update(
    subresource: &str,
    (tree, old): (&Json, &Json),
    settings: &Settings,
    errors: &mut alloc::vec::Vec<FieldError>,
) {
    let conditions = tree.at(&["status", "conditions"]).items();
    for (at, condition) in conditions.iter().enumerate() {
        let kind = condition.get("type").as_str().unwrap_or("");
        if kind.is_empty() {
            errors.push(FieldError::required(format!("status.conditions[{at}].type"), ""));
        }
        let only_true = ["Approved", "Denied", "Failed"].contains(&kind);
        let allowed: &[&str] = if only_true { &["True"] } else { &["False", "True", "Unknown"] };
        match condition.get("status").as_str().unwrap_or("") {
            "" => errors.push(FieldError::required(format!("status.conditions[{at}].status"), "")),
            status if !allowed.contains(&status) => {
                errors.push(FieldError::not_supported(format!("status.conditions[{at}].status"), status, allowed));
            }
            _ => {}
        }
        let other = APPROVALS.iter().find(|own| **own != kind).filter(|_| APPROVALS.contains(&kind));
        let before = &conditions[..at];
        if before.iter().any(|own| own.get("type").as_str() == other.copied() && other.is_some()) {
            let why = "Approved and Denied conditions are mutually exclusive";
            let field = match settings.profile().is("exclusive-conditions-name-their-list") {
                true => String::from("status.conditions"),
                false => format!("status.conditions[{at}].type"),
            };
            errors.push(FieldError::invalid_text(field, kind, why).declared(one_of_approvals()));
        }
        if before.iter().any(|own| own.get("type") == condition.get("type")) {
            errors.push(FieldError::duplicate(format!("status.conditions[{at}].type"), condition.get("type")));
        }
    }
    let count = |tree: &Json, kind: &str| {
        let all = tree.at(&["status", "conditions"]).items();
        all.iter().filter(|condition| condition.get("type").as_str() == Some(kind)).count()
    };
    for kind in ["Approved", "Denied", "Failed"] {
        if count(tree, kind) < count(old, kind) {
            let why = format!("updates may not remove a condition of type {kind:?}");
            errors.push(FieldError::forbidden("status.conditions", why));
        }
        if subresource == "status" && APPROVALS.contains(&kind) && count(tree, kind) > count(old, kind) {
            let why = format!("updates may not add a condition of type {kind:?}");
            errors.push(FieldError::forbidden("status.conditions", why));
        }
    }
    let (new, before) = (tree.at(&["status", "certificate"]), old.at(&["status", "certificate"]));
    if new != before && !new.is_null() {
        let text = base64::decode(new.as_str().unwrap_or("")).and_then(|bytes| String::from_utf8(bytes).ok());
        if !text.is_some_and(|text| text.contains("-----BEGIN CERTIFICATE-----")) {
            let why = "must contain at least one CERTIFICATE PEM block";
            errors.push(FieldError::invalid_text("status.certificate", "<certificate data>", why));
        }
    }
    if new != before && !before.is_empty() {
        errors.push(FieldError::forbidden("status.certificate", "updates may not modify existing certificate content"));
    }
}

/// Refuses a request for the rights of an administrator.
///
/// Source: plugin/pkg/admission/certificates/subjectrestriction/admission.go (v1.34).
pub(super) fn restrict_subject(write: &Write<'_>) -> Result<(), Answer> {
    const SIGNER: &str = "kubernetes.io/kube-apiserver-client";
    const MASTERS: &str = "system:masters";
    let text = |field: &str| write.tree.at(&["spec", field]).as_str().unwrap_or("");
    if text("signerName") != SIGNER {
        return Ok(());
    }
    match x509::read_request(text("request")) {
        Err(why) => write.refuse(&format!("unable to parse CSR: {why}")),
        Ok(request) if request.subject.organizations.iter().any(|group| group == MASTERS) => {
            write.refuse(&format!("use of {SIGNER} signer with {MASTERS} group is not allowed"))
        }
        Ok(_) => Ok(()),
    }
}

/// Refuses an approval or a signature of somebody who may not give it.
///
/// Source: plugin/pkg/admission/certificates/{approval,signing}/admission.go (v1.34).
pub(super) fn check_signer(
    server: &mut ApiServer,
    write: &Write<'_>,
    origin: &Origin,
    old: &Json,
) -> Result<(), Answer> {
    let name = old.at(&["spec", "signerName"]).as_str().unwrap_or("");
    let verb = match write.subresource {
        "approval" if server.plugins.runs("CertificateApproval") => "approve",
        "status" if server.plugins.runs("CertificateSigning") => {
            let same = |path: &[&str]| write.tree.at(path) == old.at(path);
            if same(&["status", "certificate"]) && same(&["status", "conditions"]) {
                return Ok(());
            }
            "sign"
        }
        _ => return Ok(()),
    };
    let domain = name.split_once('/').map_or("", |(domain, _)| domain);
    for signer in [String::from(name), format!("{domain}/*")] {
        let asked = Attributes { verb, group: GROUP, resource: "signers", name: &signer, ..Attributes::default() };
        if server.authorise(&origin.identity, &asked).is_ok() {
            return Ok(());
        }
    }
    write.refuse(&format!("user not permitted to {verb} requests with signerName {name:?}"))
}
/// Returns what a rule says of a request that is approved and denied. Source: k8s.io/apimachinery
/// pkg/api/validate/union.go (v0.37), `allFields`.
fn one_of_approvals() -> RuleWords {
    let members = APPROVALS.map(|kind| format!("conditions[{{\"type\": {kind:?}}}]"));
    let value = quote(&format!("{{{}}}", members.join(", ")));
    let members = members.map(|member| format!("`{member}`"));
    RuleWords::Both(value, format!("must specify at most one of: {}", members.join(", ")))
}
