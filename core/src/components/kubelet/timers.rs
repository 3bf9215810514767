//! The timers of a kubelet, in the order in which those of one instant are handled. Pure.

/// The timers of a kubelet; those that are due at once fire in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Timer {
    LeaseSync,
    LeaseRetry,
    Modules,
    Register,
    StatusTick,
    FastStatus,
    RuntimePoll,
    Csi,
    PodSource,
    Upkeep,
    Begin,
    Certificate,
    Serving,
    Resume,
    ContainerGc,
    RuntimeCall,
    Mirrors,
    StaticStart,
    Housekeeping,
    Volumes,
    CertificateEnd,
    Devices,
}

/// Each timer with what a deadline of it is for.
pub(super) const TIMERS: [(Timer, &str); 22] = [
    (Timer::LeaseSync, "lease renewal"),
    (Timer::LeaseRetry, "lease back-off"),
    (Timer::Modules, "start of the modules"),
    (Timer::Register, "registration back-off"),
    (Timer::StatusTick, "status tick"),
    (Timer::FastStatus, "fast status tick"),
    (Timer::RuntimePoll, "runtime poll"),
    (Timer::Csi, "CSINode"),
    (Timer::PodSource, "wait for the node's cache"),
    (Timer::Upkeep, "upkeep of the node's resources"),
    (Timer::Begin, "start-up"),
    (Timer::Certificate, "client certificate"),
    (Timer::Serving, "server certificate"),
    (Timer::Resume, "pods after the runtime"),
    (Timer::ContainerGc, "collection of containers"),
    (Timer::RuntimeCall, "time-out of the runtime"),
    (Timer::Mirrors, "mirror pods"),
    (Timer::StaticStart, "static pods"),
    (Timer::Housekeeping, "housekeeping"),
    (Timer::Volumes, "mount back-off"),
    (Timer::CertificateEnd, "end of the client certificate"),
    (Timer::Devices, "end of devices without a plugin"),
];
