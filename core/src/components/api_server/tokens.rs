//! Tokens of service accounts.
//!
//! Mirrors pkg/registry/core/serviceaccount/storage/token.go and pkg/apis/authentication/validation (v1.34). Inputs: a
//! TokenRequest. Outputs: the same with a token, which the server takes as a credential until it expires, or until the
//! account or the object that it is bound to is gone. Left out on purpose: signatures (a token has the form of a JWT,
//! and the server knows it by its text).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::call::RequestInfo;
use super::options::RequestOptions;
use super::validation::{FieldError, quote};
use super::{ApiServer, Origin, admission, status};
use crate::json;
use crate::network::{Answer, Identity, NODES, PODS, Resource, SECRETS, UserDetails};
use crate::objects::{Json, ObjectKey, Text, base64, time};

/// Source: k8s.io/kubernetes cmd/kube-apiserver, `--api-audiences` as kubeadm leaves it: the issuer.
const AUDIENCE: &str = "https://kubernetes.default.svc.cluster.local";
/// Source: pkg/apis/authentication/v1/defaults.go (v1.34).
const SECONDS_DEFAULT: i64 = 60 * 60;
/// Source: pkg/apis/authentication/validation/validation.go (v1.34): ten minutes.
const SECONDS_MIN: i64 = 10 * 60;
/// Source: as above.
const SECONDS_MAX: i64 = 1 << 32;

/// The time that Pods ask for. Source: pkg/serviceaccount/claims.go (v1.34), `WarnOnlyBoundTokenExpirationSeconds`.
const SECONDS_OF_PODS: i64 = 60 * 60 + 7;
/// How long such a token really lasts. Source: pkg/serviceaccount/claims.go (v1.34), `ExpirationExtensionSeconds`;
/// `--service-account-extend-token-expiration` is on by default.
const EXTENDED: SignedDuration = SignedDuration::from_hours(24 * 365);
/// By how much a token outlives its end and what it is bound to. Source: gopkg.in/go-jose/go-jose.v2 jwt/validation.go,
/// `DefaultLeeway`; pkg/serviceaccount/claims.go (v1.34), `Validate`.
const LEEWAY: SignedDuration = SignedDuration::from_mins(1);

/// Whose token it is, and for whom.
type TokenOwner<'a> = (&'a Arc<Identity>, Vec<Text>);
/// An object on which a token depends, with its uid.
type BoundObject = (Resource, ObjectKey, Text);

/// A token that the server knows.
#[derive(Clone, Debug)]
pub(super) struct Credential {
    identity: Arc<Identity>,
    /// For whom it is; none of one that lasts, which is for the API server.
    audiences: Vec<Text>,
    /// When it expires; `None` for one that lasts.
    expires: Option<Timestamp>,
    /// What has to be there, with its uid.
    bound: Vec<BoundObject>,
}

impl Credential {
    /// Makes a token that lasts.
    pub(super) const fn lasting(identity: Arc<Identity>) -> Self {
        Self { identity, audiences: Vec::new(), expires: None, bound: Vec::new() }
    }

    /// Returns those of some audiences that it is for; of none, the API server. Refuses if there is none of them.
    ///
    /// Source: pkg/serviceaccount/jwt.go (v1.31, v1.34), `AuthenticateToken`.
    fn audiences_among(&self, wanted: &[Text]) -> Result<Vec<Text>, String> {
        let own_server = [Text::of(AUDIENCE)];
        let or_server = |list: &[Text]| if list.is_empty() { own_server.to_vec() } else { list.to_vec() };
        let (own, wanted) = (or_server(&self.audiences), or_server(wanted));
        let both: Vec<Text> = own.iter().filter(|own| wanted.contains(own)).cloned().collect();
        if both.is_empty() {
            let (own, wanted) = (quoted_list(&own), quoted_list(&wanted));
            return Err(format!("token audiences {own} is invalid for the target audiences {wanted}"));
        }
        Ok(both)
    }
}

/// Prints texts as Go's `%q` does.
fn quoted_list(texts: &[Text]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quote(text)).collect();
    format!("[{}]", texts.join(" "))
}

impl ApiServer {
    /// Returns whose token it is, if it is valid and for the API server.
    pub(super) fn owner_of_token(&self, token: &str, now: Timestamp) -> Option<&Arc<Identity>> {
        let known = self.valid_token(token, now)?;
        known.audiences_among(&[]).is_ok().then_some(&known.identity)
    }

    /// Returns whose token it is and for which of some audiences, or why it is not taken.
    pub(super) fn review_token(&self, token: &str, wanted: &[Text], now: Timestamp) -> Result<TokenOwner<'_>, String> {
        const INVALID: &str = "invalid bearer token";
        let known = self.valid_token(token, now).ok_or(INVALID)?;
        let audiences = known.audiences_among(wanted).map_err(|why| format!("[{INVALID}, {why}]"))?;
        Ok((&known.identity, audiences))
    }

    /// Source: pkg/serviceaccount/claims.go (v1.34), `Validate`.
    fn valid_token(&self, token: &str, now: Timestamp) -> Option<&Credential> {
        let known = self.tokens.get(token)?;
        let is_over = known.expires.is_some_and(|at| now > at + LEEWAY);
        let is_there = |(resource, key, uid): &BoundObject| {
            let found = self.object(resource, key).filter(|found| *found.uid() == **uid);
            let gone_at = found.as_ref().map(|found| found.stable().at(&["metadata", "deletionTimestamp"]));
            let gone_at = gone_at.and_then(Json::as_str).and_then(time::parse);
            found.is_some() && gone_at.is_none_or(|at| at + LEEWAY >= now)
        };
        (!is_over && known.bound.iter().all(is_there)).then_some(known)
    }

    /// Answers a request for a token of a service account.
    pub(super) fn issue_token(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        body: Option<Json>,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        let mut tree = body.unwrap_or_else(Json::object);
        if tree.at(&["spec", "expirationSeconds"]).is_null() {
            tree.set(&["spec", "expirationSeconds"], SECONDS_DEFAULT);
        }
        admission::connect(self, info, origin, &tree)?;
        check_named(info, &tree)?;
        tree.set(&["metadata", "name"], &info.name);
        tree.set(&["metadata", "namespace"], &info.namespace);
        let key = ObjectKey::namespaced(info.namespace.clone(), info.name.clone());
        let Some(account) = self.object(&kind.resource, &key) else {
            return Err(status::not_found(&kind.resource, &info.name));
        };
        if tree.at(&["spec", "audiences"]).is_empty() {
            tree.set(&["spec", "audiences"], Vec::from([Json::from(AUDIENCE)]));
        }
        let tells_uid = self.settings.profile().is("token-requests-keep-uids");
        if tells_uid {
            check_uid(info, &tree, account.uid())?;
            tree.set(&["metadata", "uid"], account.uid());
        }
        let seconds = tree.at(&["spec", "expirationSeconds"]).as_i64().unwrap_or(SECONDS_DEFAULT);
        check_seconds(seconds)?;
        check_attestations(tree.at(&["spec", "attestations"]))?;
        let mut bound = Vec::from([(kind.resource.clone(), key.clone(), Text::from(account.uid()))]);
        bound.extend(self.check_bound_object(info, &tree)?);
        if tree.at(&["spec", "boundObjectRef"]).is_null() {
            tree.set(&["spec", "boundObjectRef"], Json::Null);
        }
        tree.set(&["kind"], "TokenRequest");
        tree.set(&["apiVersion"], "authentication.k8s.io/v1");
        tree.set(&["metadata", "creationTimestamp"], time::to_time(origin.now));
        let ends = origin.now + SignedDuration::from_secs(seconds);
        let user = format!("system:serviceaccount:{}:{}", info.namespace, info.name);
        let audiences: Vec<Text> =
            tree.at(&["spec", "audiences"]).items().iter().filter_map(Json::as_text).cloned().collect();
        let id = self.new_uid();
        let claims = json!({"aud": tree.at(&["spec", "audiences"]).clone(), "exp": ends.as_second(),
            "iat": origin.now.as_second(), "iss": AUDIENCE, "jti": id.as_str(),
            "kubernetes.io": {"namespace": &info.namespace,
                "serviceaccount": {"name": &info.name, "uid": account.uid()}},
            "nbf": origin.now.as_second(), "sub": user.as_str()});
        let token = format!(
            "{}.{}.{}",
            base64::encode_for_url(b"{\"alg\":\"RS256\"}"),
            base64::encode_for_url(format!("{claims}").as_bytes()),
            base64::encode_for_url(id.as_bytes())
        );
        tree.set(&["status", "token"], token.as_str());
        tree.set(&["status", "expirationTimestamp"], time::to_time(ends));
        let is_of_pod = seconds == SECONDS_OF_PODS && bound.iter().any(|(resource, ..)| *resource == PODS);
        let expires = Some(if is_of_pod { origin.now + EXTENDED } else { ends });
        if !options.dry_run {
            let groups = groups_of_account(&info.namespace);
            let details = UserDetails { uid: Text::from(account.uid()), extra: self.extra_of_token(&id, &bound) };
            let (user, details) = (Text::from(user), Some(Arc::new(details)));
            let identity = Arc::new(Identity { user, groups, agent: Text::of(""), details });
            self.tokens.insert(Text::from(token), Credential { identity, audiences, expires, bound });
        }
        Ok(Answer::json(201, tree))
    }

    /// Returns what a token says of its user beside the account.
    ///
    /// Source: k8s.io/apiserver pkg/authentication/serviceaccount/util.go (v1.31, v1.34), `UserInfo`.
    fn extra_of_token(&self, id: &str, bound: &[BoundObject]) -> BTreeMap<Text, Vec<Text>> {
        let mut extra = BTreeMap::new();
        let mut say = |what: &str, value: Text| {
            extra.insert(Text::from(format!("authentication.kubernetes.io/{what}")), Vec::from([value]));
        };
        say("credential-id", Text::from(format!("JTI={id}")));
        let mut node = None;
        for (resource, key, uid) in bound {
            if *resource == PODS {
                say("pod-name", key.name.clone());
                say("pod-uid", uid.clone());
                let pod = self.object(resource, key);
                node = pod.and_then(|pod| pod.stable().at(&["spec", "nodeName"]).as_text().cloned());
            } else if *resource == NODES {
                node = Some(key.name.clone());
            }
        }
        if let Some(name) = node.filter(|name| !name.is_empty()) {
            if let Some(node) = self.object(&NODES, &ObjectKey::cluster(&name)) {
                say("node-uid", Text::from(node.uid()));
            }
            say("node-name", name);
        }
        extra
    }

    /// Refuses a token that is bound to what is not there, or not the account's; returns what it is bound to.
    fn check_bound_object(&self, info: &RequestInfo, tree: &Json) -> Result<Option<BoundObject>, Answer> {
        let bound = tree.at(&["spec", "boundObjectRef"]);
        if bound.is_null() {
            return Ok(None);
        }
        let text = |field: &str| bound.get(field).as_str().unwrap_or("");
        let (group, version) = Resource::group_and_version(text("apiVersion"));
        let (resource, namespace) = match (group, text("kind")) {
            ("", "Pod") => (PODS, info.namespace.clone()),
            ("", "Secret") => (SECRETS, info.namespace.clone()),
            ("", "Node") => (NODES, Text::of("")),
            (_, kind) => {
                let shown = format!("{group}/{version}, Kind={kind}");
                return Err(status::bad_request(&format!("cannot bind token to object of type {shown}")));
            }
        };
        let key = ObjectKey { namespace, name: Text::from(text("name")) };
        let found = self.object(&resource, &key).ok_or_else(|| status::not_found(&resource, text("name")))?;
        let account = found.stable().at(&["spec", "serviceAccountName"]).as_str().unwrap_or("");
        if resource == PODS && account != info.name.as_str() {
            return Err(status::bad_request(&format!(
                "cannot bind token for serviceaccount {:?} to pod running with different serviceaccount name.",
                info.name.as_str()
            )));
        }
        let uid = text("uid");
        if !uid.is_empty() && uid != found.uid() {
            let why = format!(
                "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have \
                 been deleted and then recreated"
            );
            // The conflict names the kind in place of the resource.
            let named = Resource { group: Text::of(""), version: Text::of(""), plural: Text::from(text("kind")) };
            return Err(status::conflict(&named, text("name"), &why));
        }
        let uid = Text::from(found.uid());
        Ok(Some((resource, key, uid)))
    }
}

fn groups_of_account(namespace: &str) -> Vec<Text> {
    let own = format!("system:serviceaccounts:{namespace}");
    Vec::from([Text::of("system:serviceaccounts"), Text::from(own), Text::of("system:authenticated")])
}

/// Refuses a request that names another account than the path.
fn check_named(info: &RequestInfo, tree: &Json) -> Result<(), Answer> {
    let named = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
    if named.is_empty() || named == info.name.as_str() {
        return Ok(());
    }
    let why = "must match the service account name if specified";
    let error = FieldError::invalid_text("metadata.name", named, why);
    Err(status::invalid_of("TokenRequest", "authentication.k8s.io", &info.name, &[error]))
}

/// Refuses a request for another account of the same name. Source: token.go (v1.34), under the gate
/// TokenRequestServiceAccountUIDValidation, which is on.
fn check_uid(info: &RequestInfo, tree: &Json, uid: &str) -> Result<(), Answer> {
    let sent = tree.at(&["metadata", "uid"]).as_str().unwrap_or("");
    if sent.is_empty() || sent == uid {
        return Ok(());
    }
    const REQUESTS: Resource = Resource::of("authentication.k8s.io", "", "TokenRequest");
    let why = format!("the UID in the token request ({sent}) does not match the UID of the service account ({uid})");
    Err(status::conflict(&REQUESTS, &info.name, &why))
}

/// Refuses what only tokens for webhooks say. Source: pkg/apis/authentication/validation/validation.go (v1.37),
/// `ValidateTokenRequest`.
fn check_attestations(sent: &Json) -> Result<(), Answer> {
    if sent.is_empty() {
        return Ok(());
    }
    let why = "attestations may only be specified with a webhook bound object reference";
    let error = FieldError::invalid("spec.attestations", sent, why);
    Err(status::invalid_of("TokenRequest", "authentication.k8s.io", "", &[error]))
}

fn check_seconds(seconds: i64) -> Result<(), Answer> {
    let why = match seconds {
        ..SECONDS_MIN => "may not specify a duration less than 10 minutes",
        SECONDS_MIN..=SECONDS_MAX => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let error = FieldError::invalid("spec.expirationSeconds", &Json::Int(seconds), why);
    Err(status::invalid_of("TokenRequest", "authentication.k8s.io", "", &[error]))
}
