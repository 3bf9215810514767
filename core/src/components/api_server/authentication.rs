//! Authentication and impersonation: which identity a request is judged by.
//!
//! Mirrors k8s.io/apiserver pkg/authentication/request/bearertoken and pkg/endpoints/filters/{authentication.go,
//! impersonation/} (v1.34; v1.36 for constrained impersonation). A connection has an identity. A header `Authorization`
//! replaces it; the headers `Impersonate-*` then replace it by another one, if the sender is authorised to do so.
//! Inputs: identity and headers. Outputs: the identity that the request is judged by, or the refusal. Left out on
//! purpose: client certificates, OpenID Connect and webhooks, which end in an identity too.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::attributes::{Attributes, refusal};
use super::tokens::Credential;
use super::{ApiServer, status};
use crate::network::{Answer, Call, Content, Identity, UserDetails, http};
use crate::objects::Text;
use crate::objects::names::{self, Wording};
use crate::profile::Value;

const AUTHENTICATED: &str = "system:authenticated";
/// The group of the resources about users.
const AUTHENTICATION: &str = "authentication.k8s.io";
const ACCOUNTS: &str = "system:serviceaccounts";
const ACCOUNT_PREFIX: &str = "system:serviceaccount:";

impl ApiServer {
    /// Accepts a bearer token, as `--token-auth-file` does.
    pub fn accept_token(&mut self, token: impl Into<Text>, identity: Arc<Identity>) {
        self.tokens.insert(token.into(), Credential::lasting(identity));
    }

    /// Finds out who asks.
    pub(super) fn authenticate(
        &self,
        identity: &Arc<Identity>,
        call: &Call,
        now: Timestamp,
    ) -> Result<Arc<Identity>, Answer> {
        let Some(header) = call.header_value("authorization") else {
            check_known(identity)?;
            return self.unless_nobody(identity.clone());
        };
        let mut words = header.trim().split(' ');
        let is_bearer = words.next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
        let token = words.next().unwrap_or("");
        if !is_bearer || token.is_empty() {
            return self.unless_nobody(Identity::anonymous(identity.agent.clone()));
        }
        let known = self.owner_of_token(token, now).ok_or_else(unauthorized)?;
        Ok(Arc::new(Identity { agent: identity.agent.clone(), ..Identity::clone(known) }))
    }

    /// Refuses who has no credentials, if nobody in particular is not let in.
    fn unless_nobody(&self, identity: Arc<Identity>) -> Result<Arc<Identity>, Answer> {
        let lets_in = || self.settings.value("anonymous-auth") != Value::Bool(false);
        if identity.is_anonymous() && !lets_in() { Err(unauthorized()) } else { Ok(identity) }
    }

    /// Returns the identity that the headers `Impersonate-*` name, or the sender's own if there are none.
    ///
    /// # Errors
    /// The sender may not impersonate it.
    pub(super) fn impersonate(&mut self, identity: Arc<Identity>, call: &Call) -> Result<Arc<Identity>, Answer> {
        let all = |name: &'static str| {
            call.headers.iter().filter(move |(own, _)| *own == *name).map(|(_, value)| value.clone())
        };
        let first = |name| all(name).next().filter(|value| !value.is_empty());
        let mut groups: Vec<Text> = all("impersonate-group").collect();
        let details = UserDetails { uid: first("impersonate-uid").unwrap_or_default(), extra: extras(call) };
        let Some(user) = first("impersonate-user") else {
            let is_plain = groups.is_empty() && details == UserDetails::default();
            return if is_plain { Ok(identity) } else { Err(self.without_user(&groups, &details, call)) };
        };
        let account = account_of(&user);
        let who = match account {
            Some((namespace, name)) => Attributes { resource: "serviceaccounts", namespace, name, ..impersonation() },
            None => Attributes { resource: "users", name: &user, ..impersonation() },
        };
        self.may_impersonate(&identity, &who, call)?;
        for group in &groups {
            self.may_impersonate(&identity, &Attributes { resource: "groups", name: group, ..impersonation() }, call)?;
        }
        let of_user = Attributes { group: AUTHENTICATION, ..impersonation() };
        for (key, values) in &details.extra {
            for value in values {
                let asked = Attributes { resource: "userextras", subresource: key, name: value, ..of_user };
                self.may_impersonate(&identity, &asked, call)?;
            }
        }
        if !details.uid.is_empty() {
            self.may_impersonate(&identity, &Attributes { resource: "uids", name: &details.uid, ..of_user }, call)?;
        }
        if let Some((namespace, _)) = account
            && groups.is_empty()
        {
            groups.extend([Text::of(ACCOUNTS), Text::from(format!("{ACCOUNTS}:{namespace}"))]);
        }
        let is_anonymous = *user == *Identity::ANONYMOUS;
        let more = if is_anonymous { Identity::UNAUTHENTICATED } else { AUTHENTICATED };
        // One of the two that is named stays alone; of who is nobody the other may stand beside it.
        let has = |name: &str| groups.iter().any(|group| *group == *name);
        if !has(more) && (is_anonymous || !has(Identity::UNAUTHENTICATED)) {
            groups.push(Text::of(more));
        }
        let details = Some(Arc::new(details)).filter(|details| **details != UserDetails::default());
        Ok(Arc::new(Identity { user, groups, agent: identity.agent.clone(), details }))
    }

    fn may_impersonate(&mut self, identity: &Arc<Identity>, asked: &Attributes<'_>, call: &Call) -> Result<(), Answer> {
        let Err(why) = self.authorise(identity, asked) else { return Ok(()) };
        if !self.settings.profile().is("impersonation-is-constrained") {
            return Err(refusal(identity, asked, &why));
        }
        // Upstream checks the constrained verb `impersonate-on:…` first, and its refusal names that verb.
        let mode = match asked.resource {
            "serviceaccounts" => "serviceaccount",
            "users" if asked.name.starts_with("system:node:") => "arbitrary-node",
            _ => "user-info",
        };
        let info = Attributes::of(call);
        let verb = format!("impersonate-on:{mode}:{}", info.get().verb);
        Err(refusal(identity, &Attributes { verb: &verb, ..info.get() }, ""))
    }

    fn without_user(&self, groups: &[Text], details: &UserDetails, call: &Call) -> Answer {
        if self.settings.profile().is("impersonation-is-constrained") {
            let extra = details.extra.iter().map(|(key, values)| format!("{:?}:{}", key.as_str(), go_list(values)));
            let extra = match extra.collect::<Vec<_>>().join(", ") {
                none if none.is_empty() => String::from("(nil)"),
                some => format!("{{{some}}}"),
            };
            return status::bad_request(&format!(
                "requested &user.DefaultInfo{{Name:\"\", UID:{:?}, Groups:{}, Extra:map[string][]string{extra}}} \
                 without impersonating a user name",
                details.uid.as_str(),
                go_list(groups)
            ));
        }
        let mut list: Vec<String> = groups.iter().map(|group| format!("{{Group  {group}    }}")).collect();
        let extra = details.extra.iter().flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
        list.extend(extra.map(|(key, value)| format!("{{UserExtra  {value}  {AUTHENTICATION}/v1  {key}}}")));
        if !details.uid.is_empty() {
            list.push(format!("{{UID  {}  {AUTHENTICATION}/v1  }}", details.uid));
        }
        let message = format!(
            "Internal Server Error: {:?}: requested [{}] without impersonating a user\n",
            call.path_and_query(),
            list.join(" ")
        );
        let headers = Vec::from([(Text::of("X-Content-Type-Options"), Text::of("nosniff"))]);
        Answer { code: 500, headers, content: Content::Text(Text::from(message)) }
    }
}

/// Refuses invalid credentials.
pub(super) fn check_known(identity: &Identity) -> Result<(), Answer> {
    if identity.is_known() { Ok(()) } else { Err(unauthorized()) }
}

/// Returns what the headers `Impersonate-Extra-KEY` say; a key is decoded if it can be.
fn extras(call: &Call) -> BTreeMap<Text, Vec<Text>> {
    let mut extras: BTreeMap<Text, Vec<Text>> = BTreeMap::new();
    for (name, value) in &call.headers {
        let Some(key) = name.strip_prefix("impersonate-extra-") else { continue };
        let key = http::decode(key, false).unwrap_or_else(|| String::from(key));
        extras.entry(Text::from(key)).or_default().push(value.clone());
    }
    extras
}

/// Returns namespace and name of a service account, by the name of its user.
/// Source: k8s.io/apiserver pkg/authentication/serviceaccount/util.go (v1.34), `SplitUsername`.
fn account_of(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(ACCOUNT_PREFIX)?.split_once(':')?;
    let is_good = names::label(namespace, Wording::Characters).is_empty()
        && names::subdomain(name, Wording::Characters).is_empty();
    is_good.then_some((namespace, name))
}

/// Prints a list of texts as Go does with `%#v`.
fn go_list(texts: &[Text]) -> String {
    let list: Vec<String> = texts.iter().map(|text| format!("{:?}", text.as_str())).collect();
    if list.is_empty() { String::from("[]string(nil)") } else { format!("[]string{{{}}}", list.join(", ")) }
}

fn impersonation() -> Attributes<'static> {
    Attributes { verb: "impersonate", ..Attributes::default() }
}

/// 401: the credentials are invalid. Source: k8s.io/apiserver pkg/endpoints/filters/authentication.go (v1.34).
fn unauthorized() -> Answer {
    status::failure(401, "Unauthorized", "Unauthorized", None)
}
