//! What the hooks of a container do: how long they take, and whether they fail.
//!
//! Mirrors pkg/kubelet/lifecycle/handlers.go (v1.34). Pure. Inputs: the container's specification, whether its process
//! listens. Left out on purpose: commands that [`CommandEnd`] cannot read and requests to other hosts, which take no
//! time and succeed; that a server has no TLS, for which a request to it is sent again.

use alloc::format;
use alloc::string::String;

use jiff::SignedDuration;

use super::commands::CommandEnd;
use crate::objects::Json;

/// What a hook does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hook {
    /// How long it takes.
    pub takes: SignedDuration,
    /// Whether it fails.
    pub fails: bool,
    /// Whether it is a command, which fails if its container ends before it.
    pub is_command: bool,
}

impl Hook {
    /// Reads a hook of a container, `postStart` or `preStop`; one that is not there does nothing.
    #[must_use]
    pub fn read(container: &Json, name: &str, listens: bool) -> Self {
        let hook = container.at(&["lifecycle", name]);
        if let Some(seconds) = hook.at(&["sleep", "seconds"]).as_i64() {
            return Self { takes: SignedDuration::from_secs(seconds.max(0)), ..Self::default() };
        }
        let request = hook.get("httpGet");
        if request.is_object() {
            let is_elsewhere = request.get("host").as_str().is_some_and(|host| !host.is_empty());
            let fails = port_error(container, request.get("port")).is_some() || !is_elsewhere && !listens;
            return Self { fails, ..Self::default() };
        }
        if hook.get("tcpSocket").is_object() {
            return Self { fails: true, ..Self::default() };
        }
        let end = CommandEnd::of_handler(hook).unwrap_or(CommandEnd::AT_ONCE);
        let takes = end.takes.unwrap_or(SignedDuration::MAX);
        Self { takes, fails: end.exit_code != 0, is_command: hook.get("exec").is_object() }
    }
}

/// Tells why a port that a hook names is none.
///
/// Source: pkg/probe/util.go (v1.34), `ResolveContainerPort`.
#[must_use]
pub fn port_error(container: &Json, port: &Json) -> Option<String> {
    let name = port.as_str()?;
    let ports = container.get("ports").items();
    let is_known = ports.iter().any(|own| own.get("name").as_str() == Some(name)) || name.parse::<u16>().is_ok();
    (!is_known).then(|| format!("strconv.Atoi: parsing {name:?}: invalid syntax"))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::Hook;
    use crate::json;

    #[test]
    fn a_hook_does_what_its_command_says() {
        for (hook, seconds, fails) in [
            (json!({"sleep": {"seconds": 5}}), 5, false),
            (json!({"exec": {"command": ["sleep", "3"]}}), 3, false),
            (json!({"exec": {"command": ["sh", "-c", "sleep 15"]}}), 15, false),
            (json!({"exec": {"command": ["sh", "-c", "sleep 15; echo"]}}), 0, false),
            (json!({"exec": {"command": ["/bin/sh", "-c", "sleep 2; exit 1"]}}), 2, true),
            (json!({"exec": {"command": ["/bin/false"]}}), 0, true),
            (json!({"exec": {"command": ["sh", "-c", "false; true"]}}), 0, false),
            (json!({"exec": {"command": ["nginx", "-s", "quit"]}}), 0, false),
        ] {
            let read = Hook::read(&json!({"lifecycle": {"preStop": hook.clone()}}), "preStop", true);
            let is_command = hook.get("exec").is_object();
            assert_eq!(read, Hook { takes: SignedDuration::from_secs(seconds), fails, is_command }, "{hook:?}");
        }
        assert_eq!(Hook::read(&json!({}), "postStart", false), Hook::default());
    }

    #[test]
    fn a_request_fails_where_nothing_listens_and_at_an_unknown_port_and_no_code_matters() {
        for (hook, listens, fails) in [
            (json!({"httpGet": {"path": "/", "port": 80}}), true, false),
            (json!({"httpGet": {"path": "/", "port": 80}}), false, true),
            (json!({"httpGet": {"path": "/", "port": "web"}}), true, false),
            (json!({"httpGet": {"path": "/", "port": "wbe"}}), true, true),
            (json!({"httpGet": {"path": "/", "port": 80, "host": "192.0.2.7"}}), false, false),
            (json!({"tcpSocket": {"port": 80}}), true, true),
        ] {
            let ports = json!([{"name": "web", "containerPort": 80}]);
            let read =
                Hook::read(&json!({"ports": ports, "lifecycle": {"postStart": hook.clone()}}), "postStart", listens);
            assert_eq!(read, Hook { fails, ..Hook::default() }, "{hook:?}");
        }
    }
}
