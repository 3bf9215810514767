//! Authentication and impersonation: which identity a request is judged by.
//!
//! Mirrors k8s.io/apiserver pkg/authentication/request/bearertoken and pkg/endpoints/filters/{authentication.go,
//! impersonation/} (v1.34; v1.36 for constrained impersonation). A connection has an identity. A header `Authorization`
//! replaces it; the headers `Impersonate-*` then replace it by another one, if the sender is authorised to do so.
//! Inputs: identity and headers. Outputs: the identity that the request is judged by, or the refusal. Left out on
//! purpose: client certificates, OpenID Connect and webhooks, which end in an identity too.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::attributes::{Attributes, refusal};
use super::tokens::Credential;
use super::{ApiServer, status};
use crate::network::{Answer, Call, Content, Identity};
use crate::objects::Text;
use crate::profile::Value;

const AUTHENTICATED: &str = "system:authenticated";
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
        let lets_in = self.settings.value("anonymous-auth") != Value::Bool(false);
        if identity.is_anonymous() && !lets_in { Err(unauthorized()) } else { Ok(identity) }
    }

    /// Returns the identity that the headers `Impersonate-*` name, or the sender's own if there are none.
    ///
    /// # Errors
    /// The sender may not impersonate it.
    pub(super) fn impersonate(&mut self, identity: Arc<Identity>, call: &Call) -> Result<Arc<Identity>, Answer> {
        let all = |name: &'static str| {
            let found = call.headers.iter().filter(move |(own, _)| *own == *name).map(|(_, value)| value.clone());
            found.filter(|value| !value.is_empty()).collect::<Vec<Text>>()
        };
        let user = all("impersonate-user").into_iter().next();
        let mut groups = all("impersonate-group");
        let Some(user) = user else {
            return if groups.is_empty() { Ok(identity) } else { Err(self.without_user(&groups, call)) };
        };
        let account = user.strip_prefix(ACCOUNT_PREFIX).and_then(|rest| rest.split_once(':'));
        let who = match account {
            Some((namespace, name)) => Attributes { resource: "serviceaccounts", namespace, name, ..impersonation() },
            None => Attributes { resource: "users", name: &user, ..impersonation() },
        };
        self.may_impersonate(&identity, &who, call)?;
        for group in &groups {
            self.may_impersonate(&identity, &Attributes { resource: "groups", name: group, ..impersonation() }, call)?;
        }
        if let Some((namespace, _)) = account
            && groups.is_empty()
        {
            groups.extend([Text::of(ACCOUNTS), Text::from(format!("{ACCOUNTS}:{namespace}"))]);
        }
        let more = if *user == *Identity::ANONYMOUS { Identity::UNAUTHENTICATED } else { AUTHENTICATED };
        // One of the two that is named stays alone.
        if !groups.iter().any(|group| [AUTHENTICATED, Identity::UNAUTHENTICATED].contains(&group.as_str())) {
            groups.push(Text::of(more));
        }
        Ok(Arc::new(Identity { user, groups, agent: identity.agent.clone() }))
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

    fn without_user(&self, groups: &[Text], call: &Call) -> Answer {
        if self.settings.profile().is("impersonation-is-constrained") {
            let list: Vec<String> = groups.iter().map(|group| format!("{:?}", group.as_str())).collect();
            return status::bad_request(&format!(
                "requested &user.DefaultInfo{{Name:\"\", UID:\"\", Groups:[]string{{{}}}, \
                 Extra:map[string][]string(nil)}} without impersonating a user name",
                list.join(", ")
            ));
        }
        let list: Vec<String> = groups.iter().map(|group| format!("{{Group  {group}    }}")).collect();
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

fn impersonation() -> Attributes<'static> {
    Attributes { verb: "impersonate", ..Attributes::default() }
}

/// 401: the credentials are invalid. Source: k8s.io/apiserver pkg/endpoints/filters/authentication.go (v1.34).
fn unauthorized() -> Answer {
    status::failure(401, "Unauthorized", "Unauthorized", None)
}
