//! Every time of live runs, in one table: how long something may take, how often something is looked at, and why so.
//!
//! Values alone; nothing is decided here. Units stand in the values, and a constant without a source is a choice of
//! ours. Left out on purpose: what Kubernetes itself waits for, which is in the profile of the core.

use std::time::Duration;

use jiff::SignedDuration;

// Driver: the order of what arrives.

/// How long arrivals are held, so that those of one kind do not overtake those of another.
pub(super) const HOLD: SignedDuration = SignedDuration::from_millis(150);
/// How long an action's own write is awaited on the watches before the action counts as done.
pub(super) const OWN_WRITE_WAIT: SignedDuration = SignedDuration::from_secs(3);
/// How long it has to be quiet before an action, so that what belongs to the time before it is seen before it: Events
/// follow the writes that they are about.
pub(super) const QUIET: SignedDuration = SignedDuration::from_millis(400);
/// How long quiet is awaited at most.
pub(super) const QUIET_WAIT: SignedDuration = SignedDuration::from_secs(1);
/// How long the first act waits at least after all that was given is there: taints and annotations that controllers
/// make of a new Node or of a condition are there by then.
pub(super) const LEAD: SignedDuration = SignedDuration::from_secs(2);
/// How often machines are looked at that lines speak of.
pub(super) const MACHINE_PERIOD: SignedDuration = SignedDuration::from_millis(250);
/// How often the driver wakes up at least, to notice that the run was interrupted.
pub(super) const INTERRUPT_PERIOD: Duration = Duration::from_millis(500);

// Driver: what ends a scenario, and what decides its verdict.

/// How long the first lists of a scenario may take.
pub(super) const FIRST_LIST_WAIT: SignedDuration = SignedDuration::from_secs(30);
/// How long the API server may not answer before the scenario ends: what happens meanwhile is not seen in time.
pub(super) const BLIND_MAX: SignedDuration = SignedDuration::from_secs(20);
/// How often the cluster itself is looked at.
pub(super) const TROUBLE_PERIOD: SignedDuration = SignedDuration::from_secs(3);
/// How long before an act that may have happened which it shows: a grace period, 50 s, and a health pass.
pub(super) const CONCERNED: SignedDuration = SignedDuration::from_secs(60);
/// How long a missed line is still awaited, to say how late it was.
pub(super) const WAIT_FOR_LATE: SignedDuration = SignedDuration::from_secs(30);
/// How long after a failure the cluster is looked at again: a store is asked how it is each three seconds.
pub(super) const LATE_TROUBLE: Duration = Duration::from_secs(4);
/// How often an answer is measured while a scenario lasts: a few hundred a minute for all that run side by side.
pub(super) const PROBE_PERIOD: Duration = Duration::from_secs(3);
/// How long the service account of a new namespace is awaited. It is made in one write, so this is only ever used up by
/// a manager that is busy or has just been elected: a lease of its is worth 15 s, and twice that leaves room for load.
pub(super) const ACCOUNT_WAIT: SignedDuration = SignedDuration::from_secs(30);
/// The pause between two looks for it.
pub(super) const ACCOUNT_PAUSE: Duration = Duration::from_millis(100);
/// How long the removal of what was made may take on a cluster that has broken down, where each request could take the
/// server's minute.
pub(super) const REMOVAL_IN_TROUBLE: Duration = Duration::from_secs(10);

// How long scenarios may take.

/// How long the bounds of a scenario may last in all without `--slow`.
pub(super) const SHORT_MAX: SignedDuration = SignedDuration::from_mins(2);
/// How long they may last with it.
pub(super) const SLOW_MAX: SignedDuration = SignedDuration::from_mins(10);
/// When Pods have left a lost Node at the latest: its grace period and the default toleration are over.
///
/// Source: plugin/pkg/admission/defaulttolerationseconds/admission.go (v1.34), 300 s; the grace period is 50 s.
pub(super) const EVICTED_AFTER: SignedDuration = SignedDuration::from_secs(350);
/// When a lost Node shows it at the latest: its grace period is over.
pub(super) const LOST_AFTER: SignedDuration = SignedDuration::from_secs(50);

// Tolerances of bounds.

/// What a whole second loses when it is written to the API and read again.
pub(super) const API_SECOND: SignedDuration = SignedDuration::from_secs(1);
/// The widest tolerance. More would let wrong behaviour pass: on a machine that is busier than this nothing can be said
/// of what is late.
pub(super) const TOLERANCE_MAX: SignedDuration = SignedDuration::from_secs(5);
/// How long a request to the API server of a kind cluster takes, with a watch event back, on a machine that is busy.
pub(super) const KIND_LATENCY: SignedDuration = SignedDuration::from_millis(100);
/// How far a bound may be missed on a cluster that is only looked at: API times are whole seconds, and an event is a
/// moment on its way.
pub(super) const LOOK_TOLERANCE: SignedDuration = SignedDuration::from_secs(1);

// Requests and watches.

/// How long an answer is awaited; longer than the API server takes for anything but a watch.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a watch may stay silent: the server sends a bookmark every minute.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(150);
/// The pause before a broken watch is opened again; it doubles up to [`WATCH_PAUSE_MAX`]. Shorter than client-go's:
/// what happens while a watch is away is seen late.
pub(super) const WATCH_PAUSE: SignedDuration = SignedDuration::from_millis(100);
/// The longest such pause.
pub(super) const WATCH_PAUSE_MAX: SignedDuration = SignedDuration::from_secs(3);
/// The pause before a list that a 410 asks for, up to as much again by chance; it doubles up to [`RELIST_PAUSE_MAX`].
/// Source: k8s.io/client-go tools/cache/reflector.go (v1.34), `NewBackoffManager(800ms, 30s, 2min, 2.0, 1.0)`.
pub(super) const RELIST_PAUSE: SignedDuration = SignedDuration::from_millis(800);
/// The longest such pause, without chance. Source: as [`RELIST_PAUSE`].
pub(super) const RELIST_PAUSE_MAX: SignedDuration = SignedDuration::from_secs(30);
/// The quiet time after which pauses begin anew. Source: as [`RELIST_PAUSE`].
pub(super) const PAUSE_RESET: SignedDuration = SignedDuration::from_mins(2);

// Looks and recordings.

/// How long the first lists of a look or a recording may take: clusters of strangers are large.
pub(super) const STRANGERS_LIST_WAIT: Duration = Duration::from_secs(60);
/// How long a `Given` of a look may take.
pub(super) const LOOK_PATIENCE: SignedDuration = SignedDuration::from_mins(2);
/// How often a look without a bound in sight is judged.
pub(super) const LOOK_PERIOD: Duration = Duration::from_secs(1);
/// How long the last events of a recording are awaited.
pub(super) const LAST_EVENTS: Duration = Duration::from_millis(500);

// Control planes of our own.

/// How long a control plane may take to be ready. It takes five seconds unless the machine is busy with other things.
pub(super) const READY_WAIT: Duration = Duration::from_secs(120);
/// The pause between two looks whether it is ready.
pub(super) const READY_PAUSE: Duration = Duration::from_millis(50);
/// How old what etcd says of itself may be.
pub(super) const HEALTH_PERIOD: Duration = Duration::from_secs(3);
/// How long etcd may take to say it.
pub(super) const HEALTH_TIMEOUT: Duration = Duration::from_secs(1);

// Hollow nodes.

/// How long the task that keeps the nodes' time sleeps at most, so that it ends with them.
pub(super) const SLEEP_MAX: Duration = Duration::from_secs(1);
/// How often a certificate that was asked for is looked for.
pub(super) const CERTIFICATE_PERIOD: Duration = Duration::from_millis(200);
/// How often at most: half a minute in all.
pub(super) const CERTIFICATE_LOOKS: u32 = 150;
/// How long a connection may take. Source: k8s.io/client-go/transport/cache.go (v1.34), `net.Dialer{Timeout: 30s}`.
pub(super) const DIAL_TIMEOUT: Duration = Duration::from_secs(30);
/// After how long a silent connection is asked whether it lives.
/// Source: k8s.io/apimachinery pkg/util/net/http.go (v1.34), `HTTP2_READ_IDLE_TIMEOUT_SECONDS`, default 30.
pub(super) const READ_IDLE: Duration = Duration::from_secs(30);
/// How long the answer to that may take. Source: as [`READ_IDLE`], `HTTP2_PING_TIMEOUT_SECONDS`, default 15.
pub(super) const PING_TIMEOUT: Duration = Duration::from_secs(15);
/// What ends a request without a time-out of its own that nobody answers. Source: kube-apiserver `--request-timeout`,
/// default 1m0s.
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
/// How long a bootstrap token is used; it lives for twice as long.
pub(super) const TOKEN_LIFE: Duration = Duration::from_mins(15);
/// How long `kind create cluster` may take until its nodes are ready: 20 s alone, a minute among others.
pub(super) const CREATE_WAIT: Duration = Duration::from_mins(5);
/// How much longer than its scenario a fault may last before the node heals itself.
pub(super) const HEALING_MARGIN: Duration = Duration::from_mins(5);

// The guard.

/// How often the guard looks for what is overdue.
pub(super) const GUARD_PERIOD: Duration = Duration::from_secs(5);
/// How long the guard tries again when Docker does not answer.
pub(super) const GUARD_PATIENCE: Duration = Duration::from_mins(10);
/// How long a run that is over waits for its guard. To remove a cluster takes it seconds, on a busy machine half a
/// minute.
pub(super) const FAREWELL: Duration = Duration::from_mins(1);
/// How often the run looks whether its guard is done.
pub(super) const FAREWELL_PERIOD: Duration = Duration::from_millis(50);
