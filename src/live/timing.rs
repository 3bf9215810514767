//! Every time limit and period of live runs, in one table with the reasons.
//!
//! Constants only; nothing is decided here. The type or the value shows the unit. A constant without a source is this
//! program's own choice. Left out on purpose: the times of Kubernetes itself, which are in the profile of the core.

use std::time::Duration;

use jiff::SignedDuration;

// Driver: the order of arrivals.

/// How long arrivals are held, so that changes of one kind do not overtake those of another.
pub(super) const HOLD: SignedDuration = SignedDuration::from_millis(150);
/// How long an action's own write is awaited on the watches before the action counts as done.
pub(super) const OWN_WRITE_WAIT: SignedDuration = SignedDuration::from_secs(3);
/// How long nothing may change before an action, so that effects of earlier changes are seen before it: Events follow
/// the writes that they are about.
pub(super) const QUIET: SignedDuration = SignedDuration::from_millis(400);
/// How long the driver waits for that at most.
pub(super) const QUIET_WAIT: SignedDuration = SignedDuration::from_secs(1);
/// How long the first act waits at least after the setup is complete: by then controllers have added the taints and
/// annotations of new Nodes and conditions.
pub(super) const LEAD: SignedDuration = SignedDuration::from_secs(2);
/// How often machines are inspected that expectations are about.
pub(super) const MACHINE_PERIOD: SignedDuration = SignedDuration::from_millis(250);
/// The longest time between two inspections, where they take long: it is much shorter than what bounds may be missed by
/// there.
pub(super) const MACHINE_PERIOD_MAX: SignedDuration = SignedDuration::from_secs(2);
/// An inspection takes at most one part in so many of the time.
pub(super) const MACHINE_SHARE: i32 = 5;
/// How often the driver wakes up at least, to notice that the run was interrupted.
pub(super) const INTERRUPT_PERIOD: Duration = Duration::from_millis(500);

// Driver: what ends a scenario, and what decides its verdict.

/// How long the first lists of a scenario may take.
pub(super) const FIRST_LIST_WAIT: SignedDuration = SignedDuration::from_secs(30);
/// How long the API server may not answer before the scenario ends: what happens meanwhile is not seen in time.
pub(super) const BLIND_MAX: SignedDuration = SignedDuration::from_secs(20);
/// How often the cluster itself is checked.
pub(super) const TROUBLE_PERIOD: SignedDuration = SignedDuration::from_secs(3);
/// How long before an act its causes may lie: a grace period, 50 s, and a health pass.
pub(super) const CONCERNED: SignedDuration = SignedDuration::from_secs(60);
/// How long a missed line is still awaited, to report how late it was.
pub(super) const WAIT_FOR_LATE: SignedDuration = SignedDuration::from_secs(30);
/// How long after a failure the cluster is checked again: the health of a store is asked every three seconds.
pub(super) const LATE_TROUBLE: Duration = Duration::from_secs(4);
/// How often an answer is measured during a scenario: a few hundred a minute for all scenarios together.
pub(super) const PROBE_PERIOD: Duration = Duration::from_secs(3);
/// How long the service account of a new namespace is awaited. It is created in one write, so only a controller manager
/// that is busy or was just elected takes long: its lease lasts 15 s, and twice that leaves room for load.
pub(super) const ACCOUNT_WAIT: SignedDuration = SignedDuration::from_secs(30);
/// The pause between two reads of it.
pub(super) const ACCOUNT_PAUSE: Duration = Duration::from_millis(100);
/// How long the removal of objects may take on a cluster that has broken down, where each request could take the
/// server's minute.
pub(super) const REMOVAL_IN_TROUBLE: Duration = Duration::from_secs(10);

// How long scenarios may take.

/// How long the bounds of a scenario may last in all without `--slow`.
pub(super) const SHORT_MAX: SignedDuration = SignedDuration::from_mins(2);
/// How long they may last with it.
pub(super) const SLOW_MAX: SignedDuration = SignedDuration::from_mins(10);
/// When Pods have left a lost Node at the latest: the grace period and the default toleration are over.
///
/// Source: plugin/pkg/admission/defaulttolerationseconds/admission.go (v1.34), 300 s; the grace period is 50 s.
pub(super) const EVICTED_AFTER: SignedDuration = SignedDuration::from_secs(350);
/// When a lost Node is seen at the latest: the grace period is over.
pub(super) const LOST_AFTER: SignedDuration = SignedDuration::from_secs(50);

// Tolerances of bounds.

/// What is lost when an instant is stored in whole seconds and read again.
pub(super) const API_SECOND: SignedDuration = SignedDuration::from_secs(1);
/// The largest tolerance. A larger one would let wrong behaviour pass; on a machine that is busier than this, lateness
/// means nothing.
pub(super) const TOLERANCE_MAX: SignedDuration = SignedDuration::from_secs(5);
/// How long a request to the API server of a kind cluster takes, with a watch event back, on a busy machine.
pub(super) const KIND_LATENCY: SignedDuration = SignedDuration::from_millis(100);
/// By how much a bound may be missed in a read-only run: API times are whole seconds, and an event takes a moment.
pub(super) const LOOK_TOLERANCE: SignedDuration = SignedDuration::from_secs(1);

// Requests and watches.

/// How long an answer is awaited; longer than the API server takes for anything but a watch.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a watch may stay silent: the server sends a bookmark every minute.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(150);
/// The pause before a broken watch is opened again; it doubles up to [`WATCH_PAUSE_MAX`]. Shorter than client-go's,
/// since changes during the pause are seen late.
pub(super) const WATCH_PAUSE: SignedDuration = SignedDuration::from_millis(100);
/// The longest such pause.
pub(super) const WATCH_PAUSE_MAX: SignedDuration = SignedDuration::from_secs(3);
/// The pause before the list after a 410, plus up to as much again at random; it doubles up to [`RELIST_PAUSE_MAX`].
/// Source: k8s.io/client-go tools/cache/reflector.go (v1.34), `NewBackoffManager(800ms, 30s, 2min, 2.0, 1.0)`.
pub(super) const RELIST_PAUSE: SignedDuration = SignedDuration::from_millis(800);
/// The longest such pause, without the random part. Source: as [`RELIST_PAUSE`].
pub(super) const RELIST_PAUSE_MAX: SignedDuration = SignedDuration::from_secs(30);
/// The time without a 410 after which these pauses start over. Source: as [`RELIST_PAUSE`].
pub(super) const PAUSE_RESET: SignedDuration = SignedDuration::from_mins(2);

// Read-only runs and recordings.

/// How long the first lists of a read-only run or a recording may take: clusters of others may be large.
pub(super) const STRANGERS_LIST_WAIT: Duration = Duration::from_secs(60);
/// How long a `Given` of a read-only run may take.
pub(super) const LOOK_PATIENCE: SignedDuration = SignedDuration::from_mins(2);
/// How often a read-only run is judged while no deadline is known.
pub(super) const LOOK_PERIOD: Duration = Duration::from_secs(1);
/// How long the last events of a recording are awaited.
pub(super) const LAST_EVENTS: Duration = Duration::from_millis(500);

// Control planes that this program starts.

/// How long a control plane may take to be ready. It takes five seconds unless the machine is busy.
pub(super) const READY_WAIT: Duration = Duration::from_secs(120);
/// The pause between two checks whether it is ready.
pub(super) const READY_PAUSE: Duration = Duration::from_millis(50);
/// How old the known health of etcd may be.
pub(super) const HEALTH_PERIOD: Duration = Duration::from_secs(3);
/// How long etcd may take to report its health.
pub(super) const HEALTH_TIMEOUT: Duration = Duration::from_secs(1);

// Hollow nodes.

/// How long the timer task of the nodes sleeps at most, so that it ends with them.
pub(super) const SLEEP_MAX: Duration = Duration::from_secs(1);
/// How often a requested certificate is read.
pub(super) const CERTIFICATE_PERIOD: Duration = Duration::from_millis(200);
/// How many times at most: half a minute in all.
pub(super) const CERTIFICATE_LOOKS: u32 = 150;
/// How long a kubelet leaves what a watch of Pods brought, at least; twice what its last answer took, if that is
/// longer. The server's authoriser learns of a Pod by a watch of its own, and refuses the kubelet that asks before; a
/// real one needs some milliseconds itself. With 20 ms some were refused where several servers share two cores.
/// Source: plugin/pkg/auth/authorizer/node/graph_populator.go (v1.34), `AddGraphEventHandlers`.
pub(super) const AUTHORISER_LAG: Duration = Duration::from_millis(100);
/// How long it leaves it at most.
pub(super) const AUTHORISER_LAG_MAX: Duration = Duration::from_secs(1);
/// How long connecting may take. Source: k8s.io/client-go/transport/cache.go (v1.34), `net.Dialer{Timeout: 30s}`.
pub(super) const DIAL_TIMEOUT: Duration = Duration::from_secs(30);
/// The time without a frame after which a connection is checked by a ping.
/// Source: k8s.io/apimachinery pkg/util/net/http.go (v1.34), `HTTP2_READ_IDLE_TIMEOUT_SECONDS`, default 30.
pub(super) const READ_IDLE: Duration = Duration::from_secs(30);
/// How long the answer to that may take. Source: as [`READ_IDLE`], `HTTP2_PING_TIMEOUT_SECONDS`, default 15.
pub(super) const PING_TIMEOUT: Duration = Duration::from_secs(15);
/// The time limit of a request that has none of its own. Source: kube-apiserver `--request-timeout`, default 1m0s.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

// Kind.

/// How long a call to Docker may take.
pub(super) const DOCKER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a script in a container may take.
pub(super) const SCRIPT_TIMEOUT: Duration = Duration::from_secs(60);
/// The pause between two runs of a script that is run until it succeeds.
pub(super) const SCRIPT_PAUSE: Duration = Duration::from_millis(200);
/// How long a container may take from its start until its systemd and containerd answer: seventeen seconds were seen
/// under load.
pub(super) const BOOT_WAIT: Duration = Duration::from_secs(90);
/// How many workers join at a time.
pub(super) const JOINS_MAX: usize = 4;
/// How long a bootstrap token is used; it is valid for twice as long.
pub(super) const TOKEN_LIFE: Duration = Duration::from_mins(15);
/// How long `kind create cluster` may take until its nodes are ready: 20 s alone, a minute among others.
pub(super) const CREATE_WAIT: Duration = Duration::from_mins(5);
/// The pause between two looks for a cluster that nobody uses.
pub(super) const SHARE_PAUSE: Duration = Duration::from_millis(200);
/// How much longer than its scenario a fault may last before the node heals itself.
pub(super) const HEALING_MARGIN: Duration = Duration::from_mins(5);

// The guard.

/// How often the guard looks for overdue changes.
pub(super) const GUARD_PERIOD: Duration = Duration::from_secs(5);
/// How long the guard keeps trying when Docker does not answer.
pub(super) const GUARD_PATIENCE: Duration = Duration::from_mins(10);
/// How long a run that is over waits for its guard. Removing a cluster takes seconds, on a busy machine half a minute.
pub(super) const FAREWELL: Duration = Duration::from_mins(1);
/// How often the run checks whether its guard has ended.
pub(super) const FAREWELL_PERIOD: Duration = Duration::from_millis(50);
