//! The sender of a request: user and groups, as authentication knows them, and the program. Pure data.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::objects::{Json, Text};

/// The sender of a request, as authentication sees it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Identity {
    /// The user name, as `system:node:worker-1`.
    pub user: Text,
    /// The groups, as `system:nodes`.
    pub groups: Vec<Text>,
    /// The program, which names the field manager (the part of `User-Agent` before the first `/`).
    pub agent: Text,
    /// What else is known of the user; `None` for nothing, as of nearly all.
    pub details: Option<Arc<UserDetails>>,
}

/// What is known of a user beside its name and groups.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct UserDetails {
    /// The unique id; empty for none.
    pub uid: Text,
    /// Anything else, by key.
    pub extra: BTreeMap<Text, Vec<Text>>,
}

impl UserDetails {
    /// Adds the fields `uid` and `extra` to an object that shows a user.
    pub fn add_to(&self, shown: &mut Json) {
        if !self.uid.is_empty() {
            shown.set(&["uid"], &self.uid);
        }
        for (key, values) in &self.extra {
            shown.set(&["extra", key], values.iter().map(Json::from).collect::<Json>());
        }
    }
}

impl Identity {
    /// The user that a request without credentials is of.
    /// Source: k8s.io/apiserver pkg/authentication/user/user.go (v1.34), `Anonymous`.
    pub const ANONYMOUS: &str = "system:anonymous";
    /// The group of that user. Source: as above, `AllUnauthenticated`.
    pub const UNAUTHENTICATED: &str = "system:unauthenticated";

    /// A person who may do everything, as kubectl with the administrator's kubeconfig.
    #[must_use]
    pub fn admin() -> Arc<Self> {
        Arc::new(Self {
            user: Text::of("kubernetes-admin"),
            groups: Vec::from([Text::of("system:masters"), Text::of("system:authenticated")]),
            agent: Text::of("kubectl"),
            details: None,
        })
    }

    /// A client whose credentials the API server does not know.
    #[must_use]
    pub fn unknown(agent: &'static str) -> Arc<Self> {
        Arc::new(Self { user: Text::of(""), groups: Vec::new(), agent: Text::of(agent), details: None })
    }

    /// Who comes without credentials.
    #[must_use]
    pub fn anonymous(agent: impl Into<Text>) -> Arc<Self> {
        let groups = Vec::from([Text::of(Self::UNAUTHENTICATED)]);
        Arc::new(Self { user: Text::of(Self::ANONYMOUS), groups, agent: agent.into(), details: None })
    }

    /// Tells whether the credentials are known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.user.is_empty()
    }

    /// Tells whether it is who comes without credentials.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.user == *Self::ANONYMOUS
    }

    /// The kubelet of a node.
    #[must_use]
    pub fn kubelet(node: &str) -> Arc<Self> {
        Arc::new(Self {
            user: Text::from(format!("system:node:{node}")),
            groups: Vec::from([Text::of("system:nodes"), Text::of("system:authenticated")]),
            agent: Text::of("kubelet"),
            details: None,
        })
    }

    /// The identity with which the informers of a component list and watch. The informers that the controllers of
    /// kube-controller-manager share have the manager's own credentials, not a controller's.
    ///
    /// Source: cmd/kube-controller-manager/app/controllermanager.go (v1.34), `CreateControllerContext`.
    #[must_use]
    pub fn of_informers(self: &Arc<Self>) -> Arc<Self> {
        if self.agent != *"kube-controller-manager" {
            return self.clone();
        }
        let user = Text::of("system:kube-controller-manager");
        Arc::new(Self {
            user,
            groups: Vec::from([Text::of("system:authenticated")]),
            agent: self.agent.clone(),
            details: None,
        })
    }

    /// The driver of some storage, with the rights that its installation gives it: here all.
    #[must_use]
    pub fn driver(name: &'static str) -> Arc<Self> {
        Arc::new(Self {
            user: Text::of(name),
            groups: Vec::from([Text::of("system:masters"), Text::of("system:authenticated")]),
            agent: Text::of(name),
            details: None,
        })
    }

    /// cloud-controller-manager, with the rights that its installation gives it: here all.
    #[must_use]
    pub fn cloud_controller_manager() -> Arc<Self> {
        Self::driver("cloud-controller-manager")
    }

    /// kube-scheduler.
    #[must_use]
    pub fn scheduler() -> Arc<Self> {
        Arc::new(Self {
            user: Text::of("system:kube-scheduler"),
            groups: Vec::from([Text::of("system:authenticated")]),
            agent: Text::of("kube-scheduler"),
            details: None,
        })
    }

    /// A controller of kube-controller-manager with a service account of its own.
    #[must_use]
    pub fn controller(service_account: &str) -> Arc<Self> {
        Arc::new(Self {
            user: Text::from(format!("system:serviceaccount:kube-system:{service_account}")),
            groups: Vec::from([
                Text::of("system:serviceaccounts"),
                Text::of("system:serviceaccounts:kube-system"),
                Text::of("system:authenticated"),
            ]),
            agent: Text::of("kube-controller-manager"),
            details: None,
        })
    }
}
