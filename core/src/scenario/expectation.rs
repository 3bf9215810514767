//! What a `Then` line says: a subject, a predicate, and a bound in time. Data; `run` judges it.
//!
//! Zero of every bound is the instant at which the act's `When` took effect; limits are inclusive. The order of the
//! lines does not matter.

use alloc::boxed::Box;
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::Position;
use super::grace::GraceLimits;
use super::pods::{PodPlace, PodsBy};
use crate::network::{ENDPOINT_SLICES, EVENTS, LEASES, NODE_LEASES, NODES, PODS, Resource};
use crate::objects::{Json, ObjectKey, Path, Text};

/// A `Then` line.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The subject and what must be true of it.
    pub fact: Fact,
    /// When.
    pub bound: Bound,
    /// Which limits of the bound are told by the grace period.
    pub in_grace: GraceLimits,
    /// Where it stands.
    pub position: Position,
}

/// Something that is true or not at each observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What it is about.
    pub subject: Subject,
    /// What is true of it.
    pub predicate: Predicate,
}

/// What an expectation is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// An object by kind and name.
    Object(ObjectRef),
    /// Pods that are not named, since their names are random or do not matter.
    PodsOf {
        /// The namespace.
        namespace: Text,
        /// Which.
        by: PodsBy,
        /// Where; `None` for anywhere, without a Node too.
        place: Option<PodPlace>,
    },
    /// Several objects of one kind, of which some are counted.
    Several {
        /// Their name in texts: `Nodes of zone a`.
        called: Text,
        /// The objects.
        of: Vec<ObjectRef>,
    },
    /// Every Node that existed when the act began and still exists, or the Lease of every such Node; later Nodes are
    /// ignored.
    Every(Every),
    /// The answer to the act's last request.
    Answer,
    /// The watch that the scenario has opened last.
    Watch,
    /// The command of kubectl that was started last.
    Command,
    /// A machine as its own tools show it: processes, containers, limits.
    Machine(Text),
    /// All objects of a kind, as `kubectl get` shows them.
    Table(Resource),
    /// The result of a look of the user's own.
    Own(OwnLook),
}

impl Subject {
    /// Tells whether watches of the API show it, without a request of the scenario's own.
    #[must_use]
    pub const fn is_of_the_api(&self) -> bool {
        !matches!(self, Self::Answer | Self::Watch | Self::Command | Self::Machine(_) | Self::Own(_))
    }
}

impl Fact {
    /// Tells whether its truth may depend on the renewal of a Lease.
    #[must_use]
    pub fn depends_on_renewals(&self) -> bool {
        let is_named = matches!(&self.subject, Subject::Object(_) | Subject::Several { .. });
        let of_leases = self.looks_at().contains(&LEASES) && !(is_named && self.predicate.is_of_presence());
        of_leases || self.predicate.is_of_renewals()
    }

    /// Returns the kinds of objects that it looks at.
    #[must_use]
    pub fn looks_at(&self) -> Vec<Resource> {
        if self.predicate.is_of_events() {
            return Vec::from([EVENTS]);
        }
        match &self.subject {
            Subject::Object(of) => Vec::from([of.resource.clone()]),
            Subject::PodsOf { .. } => Vec::from([PODS]),
            Subject::Several { of, .. } => of.iter().map(|of| of.resource.clone()).collect(),
            Subject::Every(_) => Vec::from([NODES, LEASES]),
            Subject::Table(resource) => Vec::from([resource.clone()]),
            Subject::Answer | Subject::Watch | Subject::Command | Subject::Machine(_) | Subject::Own(_) => Vec::new(),
        }
    }
}

/// Which object of every Node is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Every {
    /// The Node itself.
    Node,
    /// Its Lease.
    Lease,
}

impl Every {
    /// Returns that object for a Node.
    #[must_use]
    pub fn of(self, node: impl Into<Text>) -> ObjectRef {
        match self {
            Self::Node => ObjectRef::node(node),
            Self::Lease => ObjectRef::lease(node),
        }
    }
}

/// Names a look of the user's own: a function that the driver calls again and again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnLook {
    /// Its name.
    pub name: Text,
    /// Its parameters, as JSON text.
    pub body: Text,
}

/// Names an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectRef {
    /// The kind as people write it: `Node`, `Pod`.
    pub kind: Text,
    /// Where the API keeps it.
    pub resource: Resource,
    /// Namespace and name.
    pub key: ObjectKey,
}

impl ObjectRef {
    /// Names a Node.
    #[must_use]
    pub fn node(name: impl Into<Text>) -> Self {
        Self { kind: Text::of("Node"), resource: NODES, key: ObjectKey::cluster(name) }
    }

    /// Names a Pod.
    #[must_use]
    pub fn pod(namespace: impl Into<Text>, name: impl Into<Text>) -> Self {
        Self { kind: Text::of("Pod"), resource: PODS, key: ObjectKey::namespaced(namespace, name) }
    }

    /// Names the Lease of a Node.
    #[must_use]
    pub fn lease(node: impl Into<Text>) -> Self {
        Self { kind: Text::of("Lease"), resource: LEASES, key: ObjectKey::namespaced(NODE_LEASES, node) }
    }

    /// Names the EndpointSlice of a Service. A run knows slices by their Services, since their own names are random.
    #[must_use]
    pub fn endpoint_slice(namespace: impl Into<Text>, service: impl Into<Text>) -> Self {
        let key = ObjectKey::namespaced(namespace, service);
        Self { kind: Text::of("EndpointSlice"), resource: ENDPOINT_SLICES, key }
    }
}

/// What is counted of a heartbeat: its JSON as sent, or as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// The body of the request: the whole Lease, or the patch of a status.
    Sent,
    /// The object after the write; the store keeps each version.
    Stored,
}

/// What can be said of a subject.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// `has condition TYPE=STATUS[, reason TEXT][, message TEXT]`.
    Condition {
        /// The condition's type.
        kind: Text,
        /// `True`, `False` or `Unknown`.
        status: Text,
        /// The reason, if it matters.
        reason: Option<Text>,
        /// The whole message, if it matters.
        message: Option<Text>,
    },
    /// `has taint KEY[=VALUE]:EFFECT`; `timeAdded` is ignored.
    Taint(Taint),
    /// `has label KEY=VALUE`; without a value any will do.
    Label {
        /// The key.
        key: Text,
        /// The value, if it matters.
        value: Option<Text>,
    },
    /// `field PATH is …`.
    Field {
        /// Which field.
        path: Path,
        /// What it must be.
        test: FieldTest,
    },
    /// The phase of a Pod: `status.phase`.
    Phase(Text),
    /// A Lease is renewed, or the Ready condition of a Node gets a new heartbeat time, again and again; wants
    /// [`Bound::For`].
    RenewedEvery {
        /// The pause between two renewals.
        every: SignedDuration,
        /// How much longer or shorter a pause may be.
        tolerance: SignedDuration,
    },
    /// A Lease is renewed again and again, each time within a quarter of its own duration and what a kubelet adds to
    /// that; wants [`Bound::For`].
    RenewedOnTime,
    /// An invariant of every Node.
    Sound(Aspect),
    /// The size of a kubelet's writes of its Node's status and Lease; wants [`Bound::For`] and a [`Subject::Several`].
    Costs {
        /// What is counted.
        what: Cost,
        /// Least and most, in bytes per minute.
        bytes: (u64, u64),
    },
    /// The object is there.
    Exists,
    /// The object is there and its `metadata.deletionTimestamp` is set.
    Terminating,
    /// Its deletion was asked for: it is `Terminating` or gone.
    Deleted,
    /// The object that was there is there no longer (one of the same name with another uid is another object).
    Gone,
    /// An Event about the subject was recorded since zero.
    Event {
        /// Its reason.
        reason: Text,
        /// Its whole message, if it matters.
        message: Option<Text>,
        /// How many times in all; `None` for at least once.
        times: Option<u32>,
    },
    /// So many of the Pods of an owner, or of several objects, fulfil a predicate.
    Count {
        /// How many.
        count: usize,
        /// What each must fulfil.
        of: Box<Predicate>,
    },
    /// A machine's container runtime shows a container of a Pod, and it runs.
    ContainerRuns {
        /// The Pod's namespace.
        namespace: Text,
        /// The Pod.
        pod: Text,
        /// The container.
        container: Text,
    },
    /// The API server answered.
    Answered {
        /// The HTTP code, if it matters.
        code: Option<u16>,
        /// A part of the message, if it matters.
        text: Option<Text>,
    },
    /// The answer is a list of exactly these objects, in this order; a name may have its namespace: `default/web`.
    Lists(Vec<Text>),
    /// A watch has shown an event in this act.
    Shows {
        /// `ADDED`, `MODIFIED` or `DELETED`; `None` for any event.
        event: Option<Text>,
        /// The object's name, which may have its namespace; `None` for any.
        name: Option<Text>,
        /// A field of the object, if it matters.
        field: Option<(Path, FieldTest)>,
    },
    /// A command of kubectl has printed this line in this act.
    Prints(Text),
    /// A command of kubectl has ended: with success, without, or either way.
    Ended {
        /// Whether its exit code is 0, if that matters.
        success: Option<bool>,
    },
    /// The action of the `When` was refused, as a start with an unknown flag.
    Refused {
        /// A part of the text, if it matters.
        text: Option<Text>,
    },
    /// No field changes except those that sibling lines name, and heartbeat times, resourceVersion and managedFields.
    NothingElseChanges,
    /// The object, its history or the table equals what is stored.
    MatchesSnapshot(SnapshotKind),
    /// A look of the user's own says that it holds.
    Holds,
    /// The opposite of another predicate.
    Not(Box<Predicate>),
    /// All of several predicates.
    All(Vec<Predicate>),
}

impl Predicate {
    /// Tells whether it is about renewals.
    fn is_of_renewals(&self) -> bool {
        match self {
            Self::Sound(_) | Self::Costs { .. } => true,
            Self::Not(inner) | Self::Count { of: inner, .. } => inner.is_of_renewals(),
            Self::All(parts) => parts.iter().any(Self::is_of_renewals),
            _ => false,
        }
    }

    /// Tells whether it is only about the existence of a named object.
    fn is_of_presence(&self) -> bool {
        match self {
            Self::Exists | Self::Terminating | Self::Deleted | Self::Gone => true,
            Self::Not(inner) | Self::Count { of: inner, .. } => inner.is_of_presence(),
            Self::All(parts) => parts.iter().all(Self::is_of_presence),
            _ => false,
        }
    }

    fn is_of_events(&self) -> bool {
        match self {
            Self::Event { .. } => true,
            Self::Not(inner) => inner.is_of_events(),
            _ => false,
        }
    }

    /// Turns a predicate into its opposite.
    #[must_use]
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }
}

/// An invariant of Nodes that needs no knowledge of the wanted Node: its parts are consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// Its Lease names it as holder, and as owner with its uid.
    Lease,
    /// The four conditions of a kubelet are there, each once, and all of them are Unknown or none is.
    Conditions,
    /// The taints agree with the conditions and with `spec.unschedulable`.
    Taints,
    /// What is allocatable is no more than the capacity; CPU, memory and Pods are there.
    Allocatable,
    /// The labels of host name, operating system and architecture are there and agree with what the kubelet reports.
    Labels,
    /// There are a host name and a valid internal address.
    Addresses,
    /// The kubelet is no newer than the API server, and no older than the version skew policy allows.
    Skew,
    /// A heartbeat was seen within the grace period, or Ready is Unknown.
    HeardFrom,
    /// No condition has been Unknown for longer than this.
    UnknownAtMost(SignedDuration),
}

/// A taint as people write it: `key[=value]:Effect`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taint {
    /// The key.
    pub key: Text,
    /// The value, if it matters.
    pub value: Option<Text>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: Text,
}

/// What a field must be.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldTest {
    /// Equal to a value.
    Is(Json),
    /// Equal to one of several values.
    OneOf(Vec<Json>),
    /// There, and another value.
    IsNot(Json),
    /// There, whatever it is.
    Present,
    /// Not there.
    Absent,
    /// There, with all that a part of it says: fields of a map, items of a list by their keys.
    Has(Json),
    /// As it was at zero; a field that is absent then is refused, since that proves nothing.
    Unchanged,
}

/// Which snapshot a line means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SnapshotKind {
    /// The canonical object at the end of the act.
    Object,
    /// What changed during the act, when, and by which writer.
    History,
    /// A list as `kubectl get` shows it.
    Table,
    /// The lines that a command of kubectl has printed in the act.
    Output,
}

/// When a fact must be true.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// At zero.
    AtOnce,
    /// At zero, or later by this time, which observations may take to arrive; it does not prolong the act.
    Soon(SignedDuration),
    /// At some instant from zero to this.
    Within(SignedDuration),
    /// It becomes true in this interval and not before.
    Between(SignedDuration, SignedDuration),
    /// At every observation from zero to this.
    For(SignedDuration),
    /// It becomes true exactly this long after zero or after another fact became true.
    At {
        /// How long after.
        offset: SignedDuration,
        /// After what; `None` for zero.
        after: Option<Box<Fact>>,
    },
    /// It becomes true in this interval after another fact became true, and not before.
    Apart {
        /// How long after at least.
        from: SignedDuration,
        /// How long after at most.
        to: SignedDuration,
        /// After what.
        after: Box<Fact>,
    },
    /// It becomes true later, by resourceVersion, than another fact does.
    After {
        /// The other fact.
        fact: Box<Fact>,
        /// And not later than this after zero, if given.
        within: Option<SignedDuration>,
    },
    /// During the whole act: snapshots, and what must not change.
    Act,
}

impl Bound {
    /// Returns the fact that the bound depends on.
    #[must_use]
    pub fn anchor(&self) -> Option<&Fact> {
        match self {
            Self::At { after: Some(fact), .. } | Self::Apart { after: fact, .. } | Self::After { fact, .. } => {
                Some(fact)
            }
            _ => None,
        }
    }

    /// Moves the limits that are told by the grace period; none becomes negative.
    pub(super) fn shift(&mut self, limits: GraceLimits, by: SignedDuration) {
        let (from, to) = match self {
            Self::Between(from, to) | Self::Apart { from, to, .. } => (Some(from), Some(to)),
            Self::Within(to) | Self::For(to) | Self::At { offset: to, .. } => (None, Some(to)),
            Self::After { within, .. } => (None, within.as_mut()),
            Self::AtOnce | Self::Soon(_) | Self::Act => (None, None),
        };
        for limit in from.filter(|_| limits.from).into_iter().chain(to.filter(|_| limits.to)) {
            *limit = (*limit + by).max(SignedDuration::ZERO);
        }
    }

    /// Returns the largest offset that is known before the run.
    #[must_use]
    pub fn end(&self) -> SignedDuration {
        match self {
            Self::Within(limit) | Self::Between(_, limit) | Self::For(limit) => *limit,
            Self::At { offset, after: None } => *offset,
            Self::After { within, .. } => within.unwrap_or_default(),
            Self::AtOnce | Self::Soon(_) | Self::At { .. } | Self::Apart { .. } | Self::Act => SignedDuration::ZERO,
        }
    }
}
