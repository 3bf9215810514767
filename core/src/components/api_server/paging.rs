//! Lists in pages and lists of the past: continue tokens, resourceVersion and its match rules.
//!
//! Mirrors k8s.io/apiserver pkg/storage/{continue,errors}.go, pkg/storage/cacher/store_btree.go and
//! k8s.io/apimachinery pkg/apis/meta/internalversion/validation (v1.34). A past state is made from the present one by
//! undoing the writes that the watch history holds. Which reads wait for their revision is decided in `delayed_reads`.
//! Inputs: a selection and the options of a list. Outputs: a page with its continue token, or the refusal. Nothing is
//! changed. Left out on purpose: past revisions that etcd still has and the watch history has not.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::options::RequestOptions;
use super::validation::FieldError;
use super::watch::Selection;
use super::{ApiServer, status, syntax};
use crate::network::kinds::{Kind, KindIndex};
use crate::network::{Answer, WatchType};
use crate::objects::{Json, Object, ObjectKey, Text, base64};

/// Tells whether objects of a kind are read from the watch cache; Events never are.
///
/// Source: pkg/kubeapiserver/default_storage_factory_builder.go (v1.34), `DefaultWatchCacheSizes`.
pub(super) fn is_cached(kind: &Kind) -> bool {
    kind.rules() != "Event"
}

const VERSION: &str = "meta.k8s.io/v1";
/// Source: k8s.io/apiserver pkg/storage/etcd3/errors.go (v1.34), `inconsistentContinue`.
const TOO_OLD_TO_CONTINUE: &str = "The provided continue parameter is too old to display a consistent list result. \
    You can start a new list without the continue parameter, or use the continue token in this response to retrieve \
    the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that \
    were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
/// Source: as above, `expired`.
const TOO_OLD_TO_LIST: &str = "The resourceVersion for the provided list is too old.";

/// Where the next page begins, and in which state of the store.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Token {
    /// The revision of the first page; below zero for whatever is current.
    revision: i64,
    /// The key from which on the page is shown, below the kind's prefix.
    start: String,
}

impl Token {
    fn parse(text: &str) -> Result<Self, String> {
        let bad = |why: String| format!("invalid continue token: continue key is not valid: {why}");
        let bytes =
            base64::decode_for_url(text).map_err(|at| bad(format!("illegal base64 data at input byte {at}")))?;
        let text = String::from_utf8(bytes.clone());
        let json = text.ok().and_then(|text| Json::parse(&text).ok());
        let Some(json) = json else {
            return Err(bad(syntax::problem_of_bytes(&bytes)));
        };
        check_form(&json).map_err(bad)?;
        let version = json.get("v").as_str().unwrap_or("");
        if version != VERSION {
            return Err(bad(format!("server does not recognize this encoded version {version}")));
        }
        let revision = json.get("rv").as_i64().unwrap_or(0);
        if revision == 0 {
            return Err(bad(format!("incorrect encoded start resourceVersion (version {VERSION})")));
        }
        match json.get("start").as_str() {
            None | Some("") => Err(bad(format!("encoded start key empty (version {VERSION})"))),
            Some(start) => {
                let key = start.strip_prefix('/').unwrap_or(start);
                let is_clean = key.is_empty() || key.split('/').all(|part| !["", ".", ".."].contains(&part));
                if is_clean { Ok(Self { revision, start: key.to_string() }) } else { Err(bad(start.to_string())) }
            }
        }
    }

    fn text(&self) -> String {
        let text = format!("{{\"v\":\"{VERSION}\",\"rv\":{},\"start\":\"/{}\\u0000\"}}", self.revision, self.start);
        base64::encode_for_url(text.as_bytes())
    }
}

/// Refuses a token with values of other types, in the words of Go's encoding/json.
fn check_form(json: &Json) -> Result<(), String> {
    const TYPES: [(&str, &str); 3] = [("v", "string"), ("rv", "int64"), ("start", "string")];
    let no = |found: &str, what: &str| Err(format!("json: cannot unmarshal {found} into Go {what}"));
    if let Some(found) = syntax::no_struct(json) {
        return no(found, "value of type storage.continueToken");
    }
    for (name, value) in json.fields() {
        let Some((_, kind)) = TYPES.iter().find(|(own, _)| name.eq_ignore_ascii_case(own)) else { continue };
        let is_right =
            value.is_null() || if *kind == "int64" { value.as_i64().is_some() } else { value.as_str().is_some() };
        if !is_right {
            let found = syntax::kind_of(value);
            return no(found, &format!("struct field continueToken.{name} of type {kind}"));
        }
    }
    Ok(())
}

/// A page: its objects, the state it shows, and what follows.
pub(super) struct Page {
    pub(super) items: Vec<Object>,
    pub(super) revision: u64,
    pub(super) next: String,
    pub(super) remaining: Option<u64>,
}

impl ApiServer {
    /// Finds the objects that a list shows.
    pub(super) fn page(
        &self,
        kind_index: KindIndex,
        selection: &Selection,
        options: &RequestOptions,
    ) -> Result<Page, Answer> {
        let (revision, start) = self.state_to_list(options)?;
        let all = if revision == self.revision {
            self.selected(kind_index, selection)
        } else {
            self.selected_at(kind_index, selection, revision).ok_or_else(|| self.expired_list(start.as_ref()))?
        };
        // The cache ignores the limit at revision 0; etcd serves pages.
        let whole = options.resource_version == "0"
            && is_cached(self.kinds.at(kind_index))
            && (start.is_none() || self.cache_serves_the_past());
        let key = |object: &Object| path_of(object, selection);
        let rest = match &start {
            None => all,
            Some(token) => {
                let from = token.start.trim_end_matches('\0');
                let after = |object: &Object| key(object).as_str() > from;
                all.into_iter().skip_while(|object| !after(object)).collect()
            }
        };
        let limit = options.limit.filter(|_| !whole).and_then(|limit| usize::try_from(limit).ok());
        let Some(limit) = limit.filter(|limit| *limit < rest.len()) else {
            return Ok(Page { items: rest, revision, next: String::new(), remaining: None });
        };
        let left = rest.len() - limit;
        let items: Vec<Object> = rest.into_iter().take(limit).collect();
        let start = items.last().map(key).unwrap_or_default();
        let next = Token { revision: i64::try_from(revision).unwrap_or(-1), start }.text();
        let remaining = selection.is_everything().then(|| u64::try_from(left).unwrap_or(u64::MAX));
        Ok(Page { items, revision, next, remaining })
    }

    /// Reads which state a list asks for, and where its page begins.
    fn state_to_list(&self, options: &RequestOptions) -> Result<(u64, Option<Token>), Answer> {
        if !options.next.is_empty() {
            let token = Token::parse(&options.next).map_err(|why| status::bad_request(&why))?;
            if !matches!(options.resource_version.as_str(), "" | "0") {
                let why = "specifying resource version is not allowed when using continue";
                return Err(status::bad_request(why));
            }
            let revision = u64::try_from(token.revision).unwrap_or(self.revision);
            return if revision > self.revision { Err(self.not_yet(revision)) } else { Ok((revision, Some(token))) };
        }
        // Before that the watch cache told it in its own way, and only what it left to the store was a bad request.
        let reads_store = is_exact(options) || options.limit.is_some();
        let asked = options.version().map_err(|why| {
            if reads_store || self.settings.profile().is("bad-list-versions-are-bad-requests") {
                status::bad_request(&format!("invalid resource version: {why}"))
            } else {
                status::untyped(&why)
            }
        })?;
        match asked {
            Some(asked) if asked > self.revision && is_exact(options) => Err(self.not_yet(asked)),
            Some(asked) if asked > self.revision && options.limit.is_some() && !self.cache_serves_the_past() => {
                Err(status::too_large_version_now(asked, self.revision))
            }
            Some(asked) if asked > self.revision => Err(status::too_large_version(asked, self.revision)),
            Some(asked) if asked > 0 && is_exact(options) => Ok((asked, None)),
            _ => Ok((self.revision, None)),
        }
    }

    /// Returns the revision that a list needs, if the cache serves it.
    pub(super) fn version_to_list(&self, options: &RequestOptions) -> Option<u64> {
        if !options.next.is_empty() {
            let token = Token::parse(&options.next).ok().filter(|_| self.cache_serves_the_past())?;
            let is_alone = matches!(options.resource_version.as_str(), "" | "0");
            return u64::try_from(token.revision).ok().filter(|_| is_alone);
        }
        let of_etcd = (is_exact(options) || options.limit.is_some()) && !self.cache_serves_the_past();
        options.version().ok().flatten().filter(|_| !of_etcd)
    }

    /// Refuses a list of exactly one revision that the store has not reached.
    fn not_yet(&self, asked: u64) -> Answer {
        if self.cache_serves_the_past() {
            status::too_large_version(asked, self.revision)
        } else {
            status::untyped("etcdserver: mvcc: required revision is a future revision")
        }
    }

    fn cache_serves_the_past(&self) -> bool {
        self.settings.profile().is("cache-lists-the-past")
    }

    /// Returns what a list showed at a past revision; `None` if it is compacted, or the watch history no longer
    /// reaches it.
    fn selected_at(&self, kind_index: KindIndex, selection: &Selection, revision: u64) -> Option<Vec<Object>> {
        let table = &self.tables[kind_index];
        if revision < table.history.oldest().max(self.compaction.oldest()) {
            return None;
        }
        let mut objects: BTreeMap<ObjectKey, Object> =
            table.store.iter("").map(|object| (object.key(), object.clone())).collect();
        let newest_first = table.history.newest_first(&table.store);
        for write in newest_first.take_while(|write| write.object.resource_version() > revision) {
            let key = write.object.key();
            match (write.watch_type, write.before) {
                (WatchType::Added, _) | (_, None) => objects.remove(&key),
                (_, Some(before)) => objects.insert(key, before),
            };
        }
        let plural = &self.kinds.at(kind_index).resource.plural;
        Some(objects.into_values().filter(|object| selection.matches(plural, object)).collect())
    }

    fn expired_list(&self, start: Option<&Token>) -> Answer {
        let Some(token) = start else { return status::expired(TOO_OLD_TO_LIST) };
        let mut answer = status::expired(TOO_OLD_TO_CONTINUE);
        if let crate::network::Content::Json(body) = &mut answer.content {
            let start = token.start.trim_end_matches('\0').to_string();
            body.set(&["metadata", "continue"], Token { revision: -1, start }.text());
        }
        answer
    }
}

/// Tells whether a list wants one revision and no later one.
fn is_exact(options: &RequestOptions) -> bool {
    match options.version_match.as_str() {
        "" => options.limit.is_some(),
        other => other == "Exact",
    }
}

/// Returns an object's key below the prefix that a list covers.
fn path_of(object: &Object, selection: &Selection) -> String {
    let key = object.key();
    if key.namespace.is_empty() || !selection.namespace.is_empty() {
        key.name.to_string()
    } else {
        format!("{}/{}", key.namespace, key.name)
    }
}

/// Checks the options of a list. Source: internalversion/validation/validation.go (v1.34), `ValidateListOptions`.
pub(super) fn check_list(options: &RequestOptions) -> Result<(), Answer> {
    let mut errors = Vec::new();
    let wanted = options.version_match.as_str();
    let mut forbid = |why: &str| errors.push(FieldError::forbidden("resourceVersionMatch", why));
    if !wanted.is_empty() {
        if options.resource_version.is_empty() {
            forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if !options.next.is_empty() {
            forbid("resourceVersionMatch is forbidden when continue is provided");
        }
        if !["Exact", "NotOlderThan"].contains(&wanted) {
            let supported = ["Exact", "NotOlderThan", ""];
            errors.push(FieldError::not_supported("resourceVersionMatch", wanted, &supported));
        } else if wanted == "Exact" && options.resource_version == "0" {
            forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
    }
    if options.send_initial_events.is_some() {
        errors.push(FieldError::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    if errors.is_empty() { Ok(()) } else { Err(status::invalid_options("ListOptions", &errors)) }
}

/// Makes a watch of what is current begin with a list. Source: k8s.io/apimachinery
/// pkg/apis/meta/internalversion/defaults.go (v1.34), `SetListOptionsDefaults`.
pub(super) fn set_watch_defaults(options: &mut RequestOptions, streams_lists: WatchList) {
    let is_told = options.send_initial_events.is_some() || !options.version_match.is_empty();
    if streams_lists == WatchList::On && !is_told && matches!(options.resource_version.as_str(), "" | "0") {
        options.send_initial_events = Some(true);
        options.version_match = Text::of("NotOlderThan");
    }
}

/// Checks the options of a watch. Source: internalversion/validation/validation.go (v1.34), `validateWatchOptions`.
pub(super) fn check_watch(options: &RequestOptions, streams_lists: WatchList) -> Result<(), Answer> {
    let mut errors = Vec::new();
    let wanted = options.version_match.as_str();
    let field = "resourceVersionMatch";
    if options.send_initial_events.is_some() {
        if wanted != "NotOlderThan" {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            errors.push(FieldError::forbidden(field, why));
        }
        if streams_lists == WatchList::Off {
            let why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
            errors.push(FieldError::forbidden("sendInitialEvents", why));
        }
    }
    if !wanted.is_empty() {
        if options.send_initial_events.is_none() {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(FieldError::forbidden(field, why));
        }
        if wanted != "NotOlderThan" {
            errors.push(FieldError::not_supported(field, wanted, &["NotOlderThan"]));
        }
        if !options.next.is_empty() {
            errors.push(FieldError::forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(status::invalid_options("ListOptions", &errors)) }
}

/// Whether a watch can begin with a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WatchList {
    On,
    Off,
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::Token;

    #[test]
    fn a_token_is_read_back() {
        let token = Token { revision: 6219, start: "n1".to_string() };
        assert_eq!(token.text(), "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NjIxOSwic3RhcnQiOiIvbjFcdTAwMDAifQ");
        assert_eq!(Token::parse(&token.text()).unwrap().start.trim_end_matches('\0'), "n1");
    }

    #[test]
    fn a_token_that_is_none_is_refused_in_the_servers_words() {
        let cases = [
            ("abc", "invalid character 'i' looking for beginning of value"),
            ("a*c", "illegal base64 data at input byte 1"),
            ("x", "illegal base64 data at input byte 0"),
            ("e30", "server does not recognize this encoded version "),
        ];
        for (text, why) in cases {
            let expected = alloc::format!("invalid continue token: continue key is not valid: {why}");
            assert_eq!(Token::parse(text).unwrap_err(), expected);
        }
    }
}
