//! What the hooks of a container do: how long they take, and whether they fail.
//!
//! Pure. Input: the container's specification. Left out on purpose: commands that [`CommandEnd`] cannot read, and hooks
//! that send requests: they take no time and succeed.

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
}

impl Hook {
    /// Reads a hook of a container, `postStart` or `preStop`; one that is not there does nothing.
    #[must_use]
    pub fn read(container: &Json, name: &str) -> Self {
        let hook = container.at(&["lifecycle", name]);
        if let Some(seconds) = hook.at(&["sleep", "seconds"]).as_i64() {
            return Self { takes: SignedDuration::from_secs(seconds.max(0)), fails: false };
        }
        let end = CommandEnd::of_handler(hook).unwrap_or(CommandEnd::AT_ONCE);
        Self { takes: end.takes.unwrap_or(SignedDuration::MAX), fails: end.exit_code != 0 }
    }
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
            (json!({"httpGet": {"path": "/", "port": 80}}), 0, false),
        ] {
            let read = Hook::read(&json!({"lifecycle": {"preStop": hook.clone()}}), "preStop");
            assert_eq!(read, Hook { takes: SignedDuration::from_secs(seconds), fails }, "{hook:?}");
        }
        assert_eq!(Hook::read(&json!({}), "postStart"), Hook::default());
    }
}
