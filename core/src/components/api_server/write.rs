//! POST and PUT.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/handlers/{create,update}.go, pkg/registry/generic/registry/store.go and
//! pkg/registry/rest/{create,update}.go (v1.34). Inputs: a request that was routed, with its body. Outputs: a commit
//! and the object with warnings, or the refusal. Invariant: a refused write, a dry run and a write without a change
//! commit nothing.

mod body;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::attributes::Attributes;
use super::call::{RequestInfo, as_headers, json_of};
use super::fields::put;
use super::managers::is_same_but_times;
use super::naming::{check_name, fix_namespace};
use super::options::RequestOptions;
use super::validation::{FieldError, worded};
use super::{ApiServer, Origin, admission, certificates, changes, custom, jobs, status, strategy};
use crate::network::kinds::{self, Kind, Trait};
use crate::network::{Answer, Body, PODS};
use crate::objects::{Json, NULL, Object, ObjectKey, Text, time};

pub(super) use body::{other_custom_type, unknown_fields, warnings};

/// An object of a request, as the server has understood it.
pub(super) struct Read {
    pub(super) tree: Json,
    pub(super) warnings: Vec<Text>,
}

/// Returns the text of a failed precondition about the uid.
pub(super) fn uid_precondition(options: &RequestOptions, key: &str, wanted: &str, found: &str) -> String {
    failed_precondition(options, key, ("UID", wanted), found)
}

/// Returns the text of a failed precondition. A dry run names the key without the prefix of the store.
///
/// Source: k8s.io/apiserver pkg/storage/{errors,interfaces}.go and pkg/registry/generic/registry/dryrun.go (v1.34).
pub(super) fn failed_precondition(
    options: &RequestOptions,
    key: &str,
    (what, wanted): (&str, &str),
    found: &str,
) -> String {
    let prefix = if options.dry_run { "/" } else { "/registry/" };
    format!(
        "StorageError: invalid object, Code: 4, Key: {prefix}{key}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
    )
}

impl ApiServer {
    pub(super) fn create(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        body: Body,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        if kind.rules() == "Binding" {
            let warnings = self.check_body(kind, options, &body)?;
            let mut binding = json_of(body).unwrap_or_default();
            fix_namespace(kind, &mut binding, &info.namespace)?;
            // Only the subresource takes the uid as a precondition. Source: k8s.io/apiserver
            // pkg/endpoints/handlers/create.go (v1.34), `WipeObjectMetaSystemFields`.
            binding.remove(&["metadata", "uid"]);
            let name = binding.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
            self.check_namespace(kind, &info.namespace, if name.is_empty() { "Unknown" } else { &name })?;
            let pods = kinds::find(&PODS).expect("a kind of the table");
            let pod = RequestInfo {
                kind_index: pods,
                kind: self.kinds.at(pods),
                namespace: info.namespace.clone(),
                name,
                subresource: Text::of("binding"),
            };
            return both_with_warnings(self.bind(&pod, options, origin, &binding), warnings);
        }
        if kind.is(Trait::Review) {
            let read = self.read_body(kind, options, body, &NULL)?;
            let answer = self.review(info, origin, read.tree);
            return answer.map(|answer| with_warnings(answer, read.warnings));
        }
        let mut read = self.read_body(kind, options, body, &NULL)?;
        read.warnings.extend(drop_repeated_owners(&mut read.tree, ""));
        match self.create_tree(info, options, origin, read.tree) {
            Ok((object, more)) => Ok(answer(201, object, [read.warnings, more].concat())),
            Err(refusal) => Err(with_warnings(refusal, read.warnings)),
        }
    }

    /// Creates an object; returns it with the server's warnings.
    fn create_tree(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        mut tree: Json,
    ) -> Result<(Object, Vec<Text>), Answer> {
        let kind = info.kind;
        fix_namespace(kind, &mut tree, &info.namespace)?;
        self.check_definition(kind, &tree)?;
        self.check_namespace(kind, &info.namespace, sent_name(&tree))?;
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
            tree.remove(&["metadata", field]);
        }
        let shares_labels = jobs::shares_labels(kind, &tree);
        strategy::default(kind, &mut tree, &self.settings);
        custom::refuse_not_modelled(kind, &tree)?;
        if !options.applies {
            self.note_manager(info, options, origin, None, &mut tree);
        }
        let managers = tree.remove(&["metadata", "managedFields"]);
        admission::create(self, kind, origin, &mut tree)?;
        self.check_escalation(info, origin, &tree, None)?;
        refuse_version(&mut tree, options.dry_run)?;
        self.allocate(kind, &mut tree, &NULL, options.dry_run)?;
        tree.set(&["metadata", "uid"], self.new_uid());
        tree.set(&["metadata", "creationTimestamp"], time::to_time(origin.now));
        let generated = self.name_new(info, &mut tree);
        let mut warnings = super::warnings::of_sent(kind, &tree, &self.settings);
        strategy::prepare_create(kind, &mut tree, &self.settings, origin.now);
        if shares_labels {
            jobs::share_labels(&mut tree);
        }
        if kind.rules() == "CertificateSigningRequest" {
            certificates::note_requester(&mut tree, &origin.identity);
        }
        if strategy::resets_status(kind) {
            put(&mut tree, &["status"], self.empty(kind).get("status"));
        }
        let name = tree.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
        let mut errors = strategy::validate_create(kind, &tree, &self.settings);
        self.check_schema(info, &tree, &NULL, &mut errors);
        if !errors.is_empty() {
            return Err(with_warnings(status::invalid(kind, &name, &errors), as_headers(&warnings)));
        }
        // Source: k8s.io/apiserver pkg/registry/rest/create.go (v1.34), `BeforeCreate`: a valid object is warned about
        // whatever becomes of it.
        warnings.extend(super::warnings::of(kind, &tree, &NULL, &self.settings));
        let admitted = admission::validate_create(self, kind, origin, &tree, options.dry_run, &mut warnings);
        let warnings = as_headers(&warnings);
        if let Err(refusal) = admitted {
            return Err(with_warnings(refusal, warnings));
        }
        if let Some(existing) = self.tables[info.kind_index].store.get(&info.namespace, &name) {
            let terminating = !existing.stable().at(&["metadata", "deletionTimestamp"]).is_null();
            return Err(with_warnings(refuse_existing(kind, &name, terminating, generated), warnings));
        }
        if let Some(managers) = managers {
            tree.set(&["metadata", "managedFields"], managers);
        }
        let is_undefaulted = strategy::default_stored(kind, &mut tree);
        if options.dry_run {
            return Ok((Object::as_received(tree), warnings));
        }
        if is_undefaulted {
            self.undefaulted.extend(tree.at(&["metadata", "uid"]).as_text().cloned());
        }
        Ok((self.commit(info.kind_index, origin, tree), warnings))
    }

    pub(super) fn update(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        body: Body,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        if info.subresource == *"scale" {
            return self.update_scale(info, options, origin, body);
        }
        let current = self.tables[info.kind_index].store.get(&info.namespace, &info.name).cloned();
        let known = current.as_ref().map_or(&NULL, Object::stable);
        let sent = if let Body::Json(tree) = &body { tree.clone() } else { Json::Null };
        let mut read = self.read_body(kind, options, body, known)?;
        check_name(kind, &mut read.tree, info).map_err(|refusal| with_warnings(refusal, read.warnings.clone()))?;
        read.warnings.extend(drop_repeated_owners(&mut read.tree, ""));
        let Some(current) = current else {
            let warnings = read.warnings.clone();
            let put = self.put_missing(info, options, origin, read);
            return put.map_err(|refusal| with_warnings(refusal, warnings));
        };
        let uid = read.tree.at(&["metadata", "uid"]).as_str().unwrap_or("");
        if !uid.is_empty() && uid != current.uid() {
            let why = uid_precondition(options, &strategy::storage_key(kind, info), uid, current.uid());
            return Err(with_warnings(status::conflict(&kind.resource, &info.name, &why), read.warnings));
        }
        match self.update_tree(info, options, origin, &current, (read.tree, &sent)) {
            Ok((object, more)) => Ok(answer(200, object, [read.warnings, more].concat())),
            Err(refusal) => Err(with_warnings(refusal, read.warnings)),
        }
    }

    fn put_missing(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        read: Read,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        if !kind.is(Trait::CreateOnUpdate) || !info.subresource.is_empty() {
            return Err(status::not_found(&kind.resource, &info.name));
        }
        let sent = read.tree.at(&["metadata", "uid"]).as_str().unwrap_or("");
        if !sent.is_empty() {
            let why = uid_precondition(options, &strategy::storage_key(kind, info), sent, "");
            return Err(status::conflict(&kind.resource, &info.name, &why));
        }
        self.create_named(info, options, origin, read)
    }

    /// Creates an object that a PUT or an apply names and that does not exist.
    pub(super) fn create_named(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        read: Read,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        let asked = Attributes {
            verb: "create",
            group: &kind.resource.group,
            resource: &kind.resource.plural,
            namespace: &info.namespace,
            name: &info.name,
            ..Attributes::default()
        };
        self.check_attributes(&origin.identity, &asked)?;
        let mut tree = read.tree;
        read_version(&tree)?;
        tree.remove(&["metadata", "resourceVersion"]);
        let (object, more) = self.create_tree(info, options, origin, tree)?;
        Ok(answer(201, object, [read.warnings, more].concat()))
    }

    /// Replaces an object's current state; returns the new one with the server's warnings. Beside the new state stands
    /// what it was read from, which errors print.
    pub(super) fn update_tree(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        current: &Object,
        (mut tree, sent): (Json, &Json),
    ) -> Result<(Object, Vec<Text>), Answer> {
        let kind = info.kind;
        let old = current.json();
        strategy::default(kind, &mut tree, &self.settings);
        custom::refuse_not_modelled(kind, &tree)?;
        if !options.applies {
            self.note_manager(info, options, origin, Some(&old), &mut tree);
        }
        admission::update(self, info, origin, &old, &mut tree)?;
        self.check_escalation(info, origin, &tree, Some(&old))?;
        self.check_version(kind, &tree, current, &info.name)?;
        if info.subresource.is_empty() {
            self.allocate(kind, &mut tree, &old, options.dry_run)?;
        }
        changes::prepare_update(kind, &info.subresource, &mut tree, &old, (&self.settings, origin.now));
        keep_system_fields(&mut tree, &old, options.dry_run);
        let mut errors = strategy::validate_update(kind, &info.subresource, (&tree, sent), &old, &self.settings);
        self.check_schema(info, &tree, &old, &mut errors);
        if !errors.is_empty() {
            return Err(status::invalid(kind, &info.name, &errors));
        }
        let mut warnings = super::warnings::of_change(kind, &info.subresource, (&tree, &old), &self.settings);
        let admitted = admission::validate_update(self, info, origin, (&tree, &old), options.dry_run, &mut warnings);
        let warnings = as_headers(&warnings);
        if let Err(refusal) = admitted {
            return Err(with_warnings(refusal, warnings));
        }
        tree.set(&["metadata", "resourceVersion"], old.at(&["metadata", "resourceVersion"]).clone());
        let is_undefaulted = self.undefaulted.contains(current.uid());
        if is_same_but_times(&tree, &old) && (options.dry_run || !is_undefaulted) {
            return Ok((current.clone(), warnings));
        }
        if options.dry_run {
            return Ok((Object::as_received(tree), warnings));
        }
        if is_undefaulted {
            self.undefaulted.remove(current.uid());
        }
        let key = current.key();
        if strategy::is_finished(&tree) {
            // Without its last finalizer the object is removed in the same request. The answer shows it without the
            // finalizer; watches see it as it was stored last.
            self.commit_removal(info.kind_index, origin, &key);
            return Ok((Object::as_received(tree), warnings));
        }
        Ok((self.commit(info.kind_index, origin, tree), warnings))
    }

    /// Refuses a write that is based on an older revision.
    fn check_version(&self, kind: &Kind, tree: &Json, current: &Object, name: &str) -> Result<(), Answer> {
        let version = read_version(tree)?;
        if version == 0 {
            if kind.is(Trait::Conditional) {
                let field = "metadata.resourceVersion";
                let error = FieldError::invalid(field, &Json::Int(0), "must be specified for an update").in_go("0x0");
                let errors = worded(Vec::from([error]), &self.settings);
                return Err(status::invalid_of(&kind.resource.plural, &kind.resource.group, name, &errors));
            }
            return Ok(());
        }
        if version != current.resource_version() {
            return Err(status::conflict(&kind.resource, name, status::MODIFIED));
        }
        Ok(())
    }

    /// Refuses what is created in a namespace that is not there or is going away: objects, and what is POSTed to
    /// subresources. Source: k8s.io/apiserver pkg/admission/plugin/namespace/lifecycle/admission.go and
    /// pkg/admission/errors.go (v1.34), `extractResourceName`.
    pub(super) fn check_namespace(&self, kind: &Kind, namespace: &str, name: &str) -> Result<(), Answer> {
        if !kind.is_namespaced() {
            return Ok(());
        }
        let Some(object) = self.object(&crate::network::NAMESPACES, &ObjectKey::cluster(namespace)) else {
            return Err(status::not_found(&crate::network::NAMESPACES, namespace));
        };
        if object.stable().at(&["metadata", "deletionTimestamp"]).is_null() {
            return Ok(());
        }
        let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut answer = status::forbidden(&kind.resource, name, &why);
        if let crate::network::Content::Json(body) = &mut answer.content {
            let message = format!("namespace {namespace} is being terminated");
            let cause =
                crate::json!({"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"});
            body.set(&["details", "causes"], Json::array(Vec::from([cause])));
        }
        Err(answer)
    }
}

/// Reads the revision that a write is based on: 0 for none.
fn read_version(tree: &Json) -> Result<u64, Answer> {
    let sent = tree.at(&["metadata", "resourceVersion"]).as_str().unwrap_or("");
    let version = if sent.is_empty() { Ok(0) } else { sent.parse::<u64>() };
    version.map_err(|_| status::untyped(&format!("strconv.ParseUint: parsing {sent:?}: invalid syntax")))
}

/// Drops owners that come twice, and warns of them; a patch does so later than a PUT, which is told.
///
/// Source: k8s.io/apiserver pkg/endpoints/handlers/create.go (v1.34), `dedupOwnerReferencesAndAddWarning`.
pub(super) fn drop_repeated_owners(tree: &mut Json, when: &str) -> Option<Text> {
    let path = ["metadata", "ownerReferences"];
    let owners = tree.at(&path).items();
    let is_repeated = |at: usize| owners[..at].contains(&owners[at]);
    let repeated: Vec<&str> = (0..owners.len())
        .filter(|at| is_repeated(*at))
        .map(|at| owners[at].get("uid").as_str().unwrap_or(""))
        .collect();
    if repeated.is_empty() {
        return None;
    }
    let why = format!(
        ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and \
         may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        repeated.join(", ")
    );
    let kept = (0..owners.len()).filter(|at| !is_repeated(*at)).map(|at| owners[at].clone()).collect::<Json>();
    tree.set(&path, kept);
    as_headers(&[why]).pop()
}

/// Adds warnings to a refusal, before those that it has: the body is read first.
pub(super) fn with_warnings(mut refusal: Answer, warnings: Vec<Text>) -> Answer {
    let first = refusal.headers.iter().position(|(name, _)| name.as_str() == "Warning");
    let place = first.unwrap_or(refusal.headers.len());
    refusal.headers.splice(place..place, warnings.into_iter().map(|warning| (Text::of("Warning"), warning)));
    refusal
}

/// Adds the warnings about the body to what became of it.
pub(super) fn both_with_warnings(result: Result<Answer, Answer>, warnings: Vec<Text>) -> Result<Answer, Answer> {
    match result {
        Ok(answer) => Ok(with_warnings(answer, warnings)),
        Err(refusal) => Err(with_warnings(refusal, warnings)),
    }
}

pub(super) fn answer(code: u16, object: Object, warnings: Vec<Text>) -> Answer {
    let mut answer = Answer::object(code, object);
    answer.headers.extend(warnings.into_iter().map(|warning| (Text::of("Warning"), warning)));
    answer
}

fn refuse_existing(kind: &Kind, name: &str, terminating: bool, generated: bool) -> Answer {
    let mut answer = status::already_exists(&kind.resource, name);
    let qualified = kind.resource.qualified();
    if let crate::network::Content::Json(body) = &mut answer.content {
        if generated {
            let message = format!(
                "{qualified} {name:?} already exists, the server was not able to generate a unique name for the object"
            );
            body.set(&["message"], message);
            body.set(&["details", "retryAfterSeconds"], 1_i64);
            answer.headers.push((Text::of("Retry-After"), Text::of("1")));
        } else if terminating {
            body.set(&["message"], format!("object is being deleted: {qualified} {name:?} already exists"));
        }
    }
    answer
}

/// Returns the name of a new object, or what its name is to begin with.
fn sent_name(tree: &Json) -> &str {
    let sent = ["name", "generateName"].map(|field| tree.at(&["metadata", field]).as_str().unwrap_or(""));
    sent.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown")
}

/// Restores what clients cannot change.
fn keep_system_fields(tree: &mut Json, old: &Json, is_dry_run: bool) {
    let stored = old.get("metadata");
    if tree.at(&["metadata", "uid"]).as_str().unwrap_or("").is_empty() {
        tree.set(&["metadata", "uid"], stored.get("uid").clone());
    }
    restore(tree, stored, "creationTimestamp");
    // It is dropped on the way to the store, which a dry run does not go.
    if !is_dry_run {
        restore(tree, stored, "selfLink");
    }
    if !stored.get("deletionTimestamp").is_null() {
        restore(tree, stored, "deletionTimestamp");
        if tree.at(&["metadata", "deletionGracePeriodSeconds"]).is_null() {
            restore(tree, stored, "deletionGracePeriodSeconds");
        }
    }
}

fn restore(tree: &mut Json, stored: &Json, field: &str) {
    if stored.get(field).is_null() {
        tree.remove(&["metadata", field]);
    } else {
        tree.set(&["metadata", field], stored.get(field).clone());
    }
}

/// Refuses a version, which a new object cannot have. Nothing is stored in a dry run: there a version passes, and
/// stays.
fn refuse_version(tree: &mut Json, is_dry_run: bool) -> Result<(), Answer> {
    if is_dry_run {
        return Ok(());
    }
    match tree.remove(&["metadata", "resourceVersion"]).as_ref().and_then(Json::as_str) {
        None | Some("" | "0") => Ok(()),
        Some(_) => Err(status::untyped("resourceVersion should not be set on objects to be created")),
    }
}
