//! The backend that scenarios run on: the simulator, or a live backend that is made once for the whole run.
//!
//! Inputs: the backend's name and options. Output: a [`Runner`], or the reason why a cluster that was named cannot be
//! used. A backend that was not named and is not available skips every scenario with the reason.

use std::num::NonZeroUsize;
use std::path::PathBuf;

#[cfg(feature = "live")]
pub use crate::live::kind::KindOptions;
#[cfg(feature = "live")]
use crate::live::{self, LiveBackend, TimeLimit};

/// Stands in for the options of kind in a program without live backends.
#[cfg(not(feature = "live"))]
pub type KindOptions = ();

/// What scenarios run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Backend {
    /// The simulator
    #[default]
    Sim,
    /// Real control planes with hollow nodes, in real time
    Hollow,
    /// A cluster made by kind, in real time
    Kind,
}

impl Backend {
    /// All of them.
    const ALL: [Self; 3] = [Self::Sim, Self::Hollow, Self::Kind];

    /// Returns the name, which is the first part of the names of trials.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Hollow => "hollow",
            Self::Kind => "kind",
        }
    }

    /// Reads a name.
    ///
    /// # Errors
    /// There is no such backend.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|backend| backend.name() == text.trim());
        found.ok_or_else(|| format!("{text:?} is no backend: sim, hollow or kind"))
    }
}

/// The options of live backends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveOptions {
    /// Where the programs of a control plane are; `None` for `KUBEBUILDER_ASSETS`, then `PATH`.
    pub assets: Option<PathBuf>,
    /// Whether scenarios of up to ten minutes are run, beside those of up to two.
    pub slow: bool,
    /// Where recordings of the scenarios are written; `None` for no recordings.
    pub recordings: Option<PathBuf>,
    /// The options of kind.
    pub kind: KindOptions,
}

/// On how many threads scenarios run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Threads {
    /// All of them; `None` for one for each core.
    pub all: Option<NonZeroUsize>,
    /// How many of them begin with the scenarios that run alone: so many clusters are free for these.
    pub isolated: usize,
}

/// The backend of a run.
#[derive(Debug, Clone, Default)]
pub struct Runner {
    backend: Backend,
    #[cfg(feature = "live")]
    pub(super) live: Option<Live>,
}

#[cfg(feature = "live")]
#[derive(Debug, Clone)]
pub(super) struct Live {
    pub(super) live_backend: std::sync::Arc<dyn LiveBackend>,
    pub(super) time_limit: TimeLimit,
}

impl Runner {
    /// Makes a runner. A backend that is not available is no error: every scenario is skipped with the reason.
    ///
    /// # Errors
    /// A cluster was named that must not be touched or does not answer, or the backend needs a name and there is none.
    pub fn set(backend: Backend, options: &LiveOptions) -> Result<Self, String> {
        #[cfg(not(feature = "live"))]
        let _ = options;
        Ok(Self {
            backend,
            #[cfg(feature = "live")]
            live: live_backend(backend, options)?.map(|live_backend| {
                let time_limit = if options.slow { TimeLimit::Slow } else { TimeLimit::Short };
                Live { live_backend, time_limit }
            }),
        })
    }

    /// Returns the backend.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// Removes the fields of a snapshot that this backend does not compare.
    pub(super) fn projected(&self, text: &str) -> String {
        match self.backend {
            #[cfg(feature = "live")]
            Backend::Kind => live::kind::projected(text),
            _ => text.to_owned(),
        }
    }

    /// Returns why a field of a Node, as `status.capacity.cpu`, has another value on this backend; `None` if it is
    /// compared.
    #[must_use]
    pub fn known_difference(&self, field: &str) -> Option<&'static str> {
        match self.backend {
            #[cfg(feature = "live")]
            Backend::Kind => live::kind::reason(field),
            _ => {
                let _ = field;
                None
            }
        }
    }

    /// Handles SIGINT and SIGTERM in real time: the scenarios under way end and clean up. Calls `first` at the first
    /// signal.
    pub fn handle_signals(&self, first: impl FnOnce() + Send + 'static) {
        #[cfg(feature = "live")]
        if self.live.is_some() {
            // Without the handler a signal ends the process at once.
            let _ = live::interrupt::listen(first);
        }
        #[cfg(not(feature = "live"))]
        drop(first);
    }

    /// Tells whether no more scenarios may begin.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        #[cfg(feature = "live")]
        return self.live.is_some() && live::interrupt::is_asked();
        #[cfg(not(feature = "live"))]
        false
    }

    /// Returns on how many threads scenarios run, if the user does not say it: in real time most of it is waiting.
    #[must_use]
    pub fn threads(&self, asked: Option<NonZeroUsize>) -> Threads {
        #[cfg(feature = "live")]
        if let Some(live) = &self.live {
            let all = asked.unwrap_or_else(|| live.live_backend.concurrency());
            // One thread at least is for what shares a cluster.
            return Threads { all: Some(all), isolated: live.live_backend.own_clusters().min(all.get() - 1) };
        }
        Threads { all: asked, isolated: 0 }
    }

    /// Returns what to print before the first write.
    #[must_use]
    pub fn announcement(&self) -> Option<String> {
        #[cfg(feature = "live")]
        return self.live.as_ref().and_then(|live| live.live_backend.announcement());
        #[cfg(not(feature = "live"))]
        None
    }
}

/// Makes the live backend; `None` for the simulator.
#[cfg(feature = "live")]
fn live_backend(backend: Backend, options: &LiveOptions) -> Result<Option<std::sync::Arc<dyn LiveBackend>>, String> {
    use std::sync::Arc;
    Ok(match backend {
        Backend::Sim => None,
        Backend::Hollow if options.kind.context.is_some() || options.kind.kubeconfig.is_some() => {
            if options.recordings.is_some() {
                return Err("recordings need the audit log of a control plane of our own: name no context".to_owned());
            }
            Some(match live::hollow::Attached::open(&options.kind) {
                Ok(attached) => Arc::new(attached),
                Err(error) => without(error, options)?,
            })
        }
        Backend::Hollow => Some(match live::hollow::Hollow::find(options.assets.as_deref()) {
            Ok(hollow) => Arc::new(hollow.recording_into(options.recordings.clone())),
            Err(why) => Arc::new(live::Unavailable::because(why)),
        }),
        Backend::Kind => Some(match live::kind::KindBackend::open(&options.kind) {
            Ok(kind) => Arc::new(kind),
            Err(error) => without(error, options)?,
        }),
    })
}

/// Returns a backend that skips every scenario with the reason. If a cluster was named, its absence is an error: a run
/// in which everything is skipped could be mistaken for a good one.
#[cfg(feature = "live")]
fn without(error: live::kind::NoCluster, options: &LiveOptions) -> Result<std::sync::Arc<dyn LiveBackend>, String> {
    match (error, &options.kind.context) {
        (live::kind::NoCluster::Absent(why), None) => Ok(std::sync::Arc::new(live::Unavailable::because(why))),
        (live::kind::NoCluster::Absent(why), Some(context)) if !why.contains(context.as_str()) => {
            Err(format!("context {context} cannot be used: {why}"))
        }
        (error, _) => Err(error.to_string()),
    }
}
