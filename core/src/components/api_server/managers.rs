//! The managers of fields: `metadata.managedFields`, read, changed by writes, and written.
//!
//! Mirrors k8s.io/apimachinery pkg/util/managedfields/internal (v1.34) and the `GetResetFields` of the strategies in
//! pkg/registry. Inputs: two states of an object and who made the second. Outputs: the entries. Invariant: an object
//! without entries gets none by an update, as in the real server, so nothing here runs where creations are not tracked.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::body_kinds::SCALE;
use super::call::RequestInfo;
use super::options::RequestOptions;
use super::reset_fields::{reset_fields, unowned};
use super::workloads::TEMPLATE_GENERATION;
use super::{ApiServer, Origin};
use crate::json;
use crate::network::kinds::{Kind, KindIndex, Trait};
use crate::objects::ownership::{self, FieldSet};
use crate::objects::{Json, Object, Text, time};

/// Most managers that have updated an object. Source: managedfields/internal/fieldmanager.go (v1.34),
/// `DefaultMaxUpdateManagers`.
const UPDATERS_MAX: usize = 10;
/// Who is given what the oldest of too many managers own. Source: internal/capmanagers.go (v1.34).
const OLDEST: &str = "ancient-changes";
/// Who is given what an object without managers has when it is applied first. Source: managedfields/fieldmanager.go
/// (v1.34).
const BEFORE_FIRST_APPLY: &str = "before-first-apply";
/// Longest name that is taken from a user agent, in bytes. Source: k8s.io/apimachinery pkg/apis/meta/v1/validation
/// (v1.34), `FieldManagerMaxLength`.
const NAME_MAX: usize = 128;
/// The server's own user agent.
const SERVER: &str = "kube-apiserver";
/// Fields that are not sent where the server makes an object itself, but filled in afterwards. Source: the answers of
/// kube-apiserver 1.34.4.
const FILLED: [(&str, &[&str]); 3] = [
    ("Namespace", &["spec", "finalizers"]),
    ("Service", &["spec", "clusterIPs"]),
    ("Service", &["spec", "ipFamilies"]),
];

/// Who owns fields, and how it got them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Manager {
    /// `Apply` or `Update`.
    operation: Text,
    name: Text,
    api_version: Text,
    subresource: Text,
}

impl Manager {
    pub(super) fn new(kind: &Kind, operation: &'static str, name: &Text, subresource: &Text) -> Self {
        let api_version = Text::from(kind.resource.api_version());
        Self { operation: Text::of(operation), name: name.clone(), api_version, subresource: subresource.clone() }
    }

    /// Returns the text by which the real server tells managers apart and orders their conflicts.
    pub(super) fn identifier(&self) -> String {
        let mut text = format!("{{\"manager\":{:?},\"operation\":{:?}", self.name.as_str(), self.operation.as_str());
        if !self.applies() {
            text += &format!(",\"apiVersion\":{:?}", self.api_version.as_str());
        }
        if !self.subresource.is_empty() {
            text += &format!(",\"subresource\":{:?}", self.subresource.as_str());
        }
        text + "}"
    }

    /// Returns the manager as conflicts name it. Source: internal/conflict.go (v1.34), `printManager`.
    pub(super) fn shown(&self) -> String {
        let mut text = format!("{:?}", self.name.as_str());
        if !self.subresource.is_empty() {
            text += &format!(" with subresource {:?}", self.subresource.as_str());
        }
        if !self.applies() {
            text += &format!(" using {}", self.api_version);
        }
        text
    }

    fn applies(&self) -> bool {
        self.operation == *"Apply"
    }
}

/// What a manager owns.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    pub(super) set: FieldSet,
    /// Since when; `None` for a manager that has never changed a value.
    pub(super) time: Option<Text>,
}

/// The managers of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Managers(pub(super) BTreeMap<Manager, Owned>);

impl Managers {
    /// Reads the entries of an object; none if one of them is malformed.
    pub(super) fn read(list: &Json) -> Self {
        let text = |entry: &Json, field| entry.get(field).as_text().cloned().unwrap_or_default();
        let read = |entry: &Json| {
            let manager = Manager {
                operation: text(entry, "operation"),
                name: text(entry, "manager"),
                api_version: text(entry, "apiVersion"),
                subresource: text(entry, "subresource"),
            };
            let is_known = ["Apply", "Update"].contains(&manager.operation.as_str())
                && !manager.api_version.is_empty()
                && entry.get("fieldsType").as_str() == Some("FieldsV1");
            let set = FieldSet::parse(entry.get("fieldsV1")).filter(|_| is_known)?;
            Some((manager, Owned { set, time: entry.get("time").as_text().cloned() }))
        };
        list.items().iter().map(read).collect::<Option<_>>().map_or_else(Self::default, Self)
    }

    /// Returns the entries in the order of the real server, `Null` for none.
    pub(super) fn json(&self) -> Json {
        let mut entries: Vec<Json> = self
            .0
            .iter()
            .map(|(manager, owned)| {
                let mut entry = json!({"manager": &manager.name, "operation": &manager.operation,
                    "apiVersion": &manager.api_version, "fieldsType": "FieldsV1"});
                entry.set(&["fieldsV1"], owned.set.json());
                if let Some(time) = &owned.time {
                    entry.set(&["time"], time);
                }
                if !manager.subresource.is_empty() {
                    entry.set(&["subresource"], &manager.subresource);
                }
                entry
            })
            .collect();
        entries.sort_by(ownership::order);
        if entries.is_empty() { Json::Null } else { Json::array(entries) }
    }

    /// Returns the managers of a subresource that shows one field of an object under another path.
    pub(super) fn of_subresource(&self, path: &FieldSet, shown: &FieldSet, version: &Text) -> Self {
        let owners = self.0.iter().filter(|(_, owned)| !owned.set.intersection(path).is_empty());
        let renamed = |manager: &Manager| Manager { api_version: version.clone(), ..manager.clone() };
        Self(
            owners
                .map(|(manager, owned)| (renamed(manager), Owned { set: shown.clone(), time: owned.time.clone() }))
                .collect(),
        )
    }

    /// Returns the managers after a write through such a subresource. Who owns the field there owns it now, without
    /// a time: that belongs to the subresource's version. Source: k8s.io/apimachinery
    /// pkg/util/managedfields/scalehandler.go (v1.34), `ToParent`.
    pub(super) fn with_subresource(mut self, below: Self, path: &FieldSet, shown: &FieldSet, version: &Text) -> Self {
        let applies =
            |manager: &Manager| below.0.keys().any(|own| own.applies() && own.identifier() == manager.identifier());
        for (manager, owned) in &mut self.0 {
            if !(manager.applies() && applies(manager)) {
                owned.set = owned.set.difference(path);
            }
        }
        self.0.retain(|_, owned| !owned.set.is_empty());
        for (manager, _) in below.0.into_iter().filter(|(_, owned)| !owned.set.intersection(shown).is_empty()) {
            let manager = Manager { api_version: version.clone(), ..manager };
            // Upstream writes another entry of the same manager, which is lost with the next write.
            self.0.entry(manager).or_insert_with(|| Owned { set: path.clone(), time: None });
        }
        self
    }

    /// Takes fields from all managers but one, and forgets those that own nothing more.
    pub(super) fn lose(&mut self, but: Option<&Manager>, gone: &FieldSet) {
        for (_, owned) in self.0.iter_mut().filter(|(manager, _)| Some(*manager) != but) {
            owned.set = owned.set.difference(gone);
        }
        self.0.retain(|_, owned| !owned.set.is_empty());
    }

    /// Gives a manager more fields, from now on.
    fn gain(&mut self, manager: Manager, gained: FieldSet, now: Timestamp) {
        if gained.is_empty() {
            return;
        }
        let had = self.0.remove(&manager).map_or_else(FieldSet::default, |owned| owned.set);
        let time = Some(Text::from(time::to_time(now)));
        self.0.insert(manager, Owned { set: had.union(&gained), time });
    }

    /// Merges the managers that updated longest ago until few enough are left.
    fn cap(&mut self) {
        let mut updaters: Vec<Manager> = self.0.keys().filter(|manager| !manager.applies()).cloned().collect();
        let mut count = updaters.len();
        updaters.sort_by(|own, other| {
            let time = |manager| self.0[manager].time.clone();
            time(own).cmp(&time(other)).then_with(|| own.identifier().cmp(&other.identifier()))
        });
        let mut first: BTreeMap<Text, Manager> = BTreeMap::new();
        for manager in updaters {
            if count <= UPDATERS_MAX {
                break;
            }
            let version = manager.api_version.clone();
            let Some(first) = first.get(&version) else {
                first.insert(version, manager);
                continue;
            };
            let bucket = Manager { name: Text::of(OLDEST), subresource: Text::of(""), ..manager.clone() };
            let kept = self.0.remove(&bucket).or_else(|| self.0.remove(first));
            let Some(owned) = self.0.remove(&manager) else { continue };
            let set = kept.map_or_else(FieldSet::default, |kept| kept.set).union(&owned.set);
            self.0.insert(bucket, Owned { set, time: owned.time });
            count -= 1;
        }
    }
}

impl ApiServer {
    /// Notes who sets the fields of objects, as every real server does; what is there was made by the server itself.
    pub fn track_managers(&mut self) {
        self.tracks_managers = true;
        for kind_index in self.tables.indexes() {
            let known: Vec<Object> = self.tables[kind_index].store.iter("").cloned().collect();
            for object in known {
                let mut tree = object.json();
                self.own_initial(kind_index, &mut tree);
                let key = object.key();
                if let Some(place) = self.tables[kind_index].store.find(&key.namespace, &key.name) {
                    self.tables[kind_index].store.replace(place, Object::new(tree, object.resource_version()));
                }
            }
        }
    }

    /// Names the server as the manager of an object that it made when it started.
    pub(super) fn own_initial(&self, kind_index: KindIndex, tree: &mut Json) {
        if !self.tracks_managers {
            return;
        }
        let kind = self.kinds.at(kind_index);
        let manager = Manager::new(kind, "Update", &Text::of(SERVER), &Text::of(""));
        let mut sent = tree.clone();
        for path in FILLED.iter().filter(|(name, _)| *name == kind.name).map(|(_, path)| path) {
            sent.remove(path);
        }
        if !sent.get("aggregationRule").is_null() {
            sent.remove(&["rules"]);
        }
        let managers = self.updated(kind, Managers::default(), manager, (&self.empty(kind), &sent), self.started);
        put_managers(tree, &managers);
    }

    /// Writes into a new state of an object who owns its fields after a POST, PUT or PATCH.
    pub(super) fn note_manager(
        &self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        live: Option<&Json>,
        tree: &mut Json,
    ) {
        let kind = info.kind;
        let sent = tree.remove(&["metadata", "managedFields"]).unwrap_or_default();
        let stored = live.map_or(&Json::Null, |live| live.at(&["metadata", "managedFields"]));
        if sent.is_null() && stored.is_null() && (live.is_some() || !self.tracks_managers) {
            return;
        }
        let managers = if !info.subresource.is_empty() {
            Managers::read(stored)
        } else if is_reset(&sent) {
            Managers::default()
        } else {
            let sent = Managers::read(&sent);
            if sent.0.is_empty() { Managers::read(stored) } else { sent }
        };
        let is_tracked = !managers.0.is_empty() || live.is_none() && self.tracks_managers;
        let managers = if is_tracked && !self.can_be_owned(kind, live, tree) {
            Managers::default()
        } else if is_tracked {
            let manager = Manager::new(kind, "Update", &manager_name(options, origin), &info.subresource);
            let empty;
            let before = match live {
                Some(live) => live,
                None => {
                    empty = self.empty(kind);
                    &empty
                }
            };
            self.updated(kind, managers, manager, (before, tree), origin.now)
        } else {
            managers
        };
        put_managers(tree, &managers);
    }

    /// Tells whether owners can be told of the fields of an object: each item of a list is named, and of a custom kind
    /// both states fit the type.
    ///
    /// Source: k8s.io/apimachinery pkg/util/managedfields/internal/structuredmerge.go (v1.34), `Update`.
    fn can_be_owned(&self, kind: &Kind, live: Option<&Json>, tree: &Json) -> bool {
        let typed = self.typed(kind);
        if !kind.is(Trait::Custom) {
            return ownership::unnamed(typed, tree).is_none();
        }
        live.into_iter().chain([tree]).all(|tree| ownership::problem(typed, tree).is_none())
    }

    /// Returns the managers of the Scale of an object after an update.
    pub(super) fn note_scale(
        &self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        known: Managers,
        change: (&Json, &Json),
    ) -> Managers {
        if known.0.is_empty() {
            return known;
        }
        let manager = Manager::new(&SCALE, "Update", &manager_name(options, origin), &info.subresource);
        self.updated(&SCALE, known, manager, change, origin.now)
    }

    /// Returns the managers of an object that none has applied yet and that has none: one for all that it has.
    pub(super) fn before_first_apply(&self, info: &RequestInfo, live: &Json, now: Timestamp) -> Managers {
        let kind = info.kind;
        // What is made by an apply was nobody's before.
        if live.at(&["metadata", "uid"]).is_null() {
            return Managers::default();
        }
        let manager = Manager::new(kind, "Update", &Text::of(BEFORE_FIRST_APPLY), &info.subresource);
        self.updated(kind, Managers::default(), manager, (&self.empty(kind), live), now)
    }

    fn updated(
        &self,
        kind: &Kind,
        mut managers: Managers,
        manager: Manager,
        (before, after): (&Json, &Json),
        now: Timestamp,
    ) -> Managers {
        let mut before = before.clone();
        before.remove(&["metadata", "managedFields"]);
        let shown;
        let after = match kind.rules() {
            "DaemonSet" => {
                shown = with_template_generation(after);
                &shown
            }
            _ => after,
        };
        let found = ownership::compare(self.typed(kind), &before, after);
        let found = found.without(&reset_fields(kind, &manager.subresource));
        let taken = found.set();
        managers.lose(None, &taken.clone().union(found.removed()));
        managers.gain(manager, taken.difference(&unowned()), now);
        managers.cap();
        managers
    }
}

/// Writes managers into an object.
pub(super) fn put_managers(tree: &mut Json, managers: &Managers) {
    match managers.json() {
        Json::Null => _ = tree.remove(&["metadata", "managedFields"]),
        list => tree.set(&["metadata", "managedFields"], list),
    }
}

/// Tells whether two states of an object differ in nothing but the times of managers. Source: k8s.io/apimachinery
/// pkg/util/managedfields/fieldmanager.go and k8s.io/apiserver pkg/endpoints/handlers/fieldmanager/equality.go (v1.34).
pub(super) fn is_same_but_times(own: &Json, other: &Json) -> bool {
    let without = |tree: &Json| {
        let mut tree = tree.clone();
        if !tree.at(&["metadata", "managedFields"]).is_null() {
            for entry in tree.entry(&["metadata", "managedFields"]).make_array() {
                entry.remove(&["time"]);
            }
        }
        tree
    };
    own == other || !other.at(&["metadata", "managedFields"]).is_null() && without(own) == without(other)
}

/// Tells whether a list of managers asks to forget them all.
fn is_reset(list: &Json) -> bool {
    list.is_array() && (list.items().is_empty() || matches!(list.items(), [one] if one.is_empty()))
}

/// Returns the name of the manager that a request is of.
fn manager_name(options: &RequestOptions, origin: &Origin) -> Text {
    let named = options.parameter("fieldManager").filter(|name| !name.is_empty());
    named.cloned().unwrap_or_else(|| name_of_agent(&origin.identity.agent))
}

/// Returns the name of a manager that its request does not name. Source: k8s.io/apiserver
/// pkg/endpoints/handlers/create.go (v1.34), `prefixFromUserAgent`, and k8s.io/apimachinery
/// pkg/util/managedfields/internal/buildmanagerinfo.go, which names those without a name.
fn name_of_agent(agent: &Text) -> Text {
    let name = agent.as_str().split('/').next().unwrap_or("");
    let mut short = String::new();
    for letter in name.chars().filter(|letter| !letter.is_control()) {
        if short.len() + letter.len_utf8() > NAME_MAX {
            break;
        }
        short.push(letter);
    }
    if short.is_empty() { Text::of("unknown") } else { Text::from(short) }
}

/// Returns a DaemonSet with the annotation that the conversion from the internal type writes.
fn with_template_generation(tree: &Json) -> Json {
    let mut tree = tree.clone();
    if tree.at(&["metadata", "annotations", TEMPLATE_GENERATION]).is_null() {
        tree.set(&["metadata", "annotations", TEMPLATE_GENERATION], "0");
    }
    tree
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::{FieldSet, Manager, Managers, OLDEST, Owned, UPDATERS_MAX, is_same_but_times, name_of_agent};
    use crate::json;
    use crate::objects::Text;

    #[test]
    fn the_oldest_of_too_many_managers_become_one() {
        let mut managers = Managers::default();
        for at in 0..=UPDATERS_MAX {
            let manager = Manager {
                operation: Text::of("Update"),
                name: Text::from(format!("m{at:02}")),
                api_version: Text::of("v1"),
                subresource: Text::of(""),
            };
            let time = Some(Text::from(format!("2026-01-01T00:00:{at:02}Z")));
            let mut fields = json!({});
            fields.set(&["f:spec", &format!("f:x{at}")], json!({}));
            let set = FieldSet::parse(&fields).unwrap();
            managers.0.insert(manager, Owned { set, time });
        }
        managers.cap();
        let list = managers.json();
        let names: Vec<&str> = list.items().iter().filter_map(|entry| entry.get("manager").as_str()).collect();
        assert_eq!(names.len(), UPDATERS_MAX);
        assert_eq!(names[..2], [OLDEST, "m02"]);
        let first = &list.items()[0];
        assert_eq!(first.get("fieldsV1"), &json!({"f:spec": {"f:x0": {}, "f:x1": {}}}));
        assert_eq!(first.get("time").as_str(), Some("2026-01-01T00:00:01Z"));
        assert_eq!(Managers::read(&list).json(), list);
    }

    #[test]
    fn times_of_managers_alone_are_no_change() {
        let object = |time: &str, label: &str| {
            json!({"metadata": {"labels": {"a": label}, "managedFields": [
            {"manager": "m", "time": time}]}})
        };
        assert!(is_same_but_times(&object("1", "x"), &object("2", "x")));
        assert!(!is_same_but_times(&object("1", "x"), &object("1", "y")));
        assert!(!is_same_but_times(&object("1", "x"), &json!({"metadata": {"labels": {"a": "x"}}})));
    }

    #[test]
    fn a_manager_without_a_name_is_called_as_its_agent() {
        assert_eq!(name_of_agent(&Text::of("kubelet/v1.34.4 (linux/amd64) kubernetes/abc")).as_str(), "kubelet");
        assert_eq!(name_of_agent(&Text::from("x".repeat(200))).len(), 128);
    }
}
