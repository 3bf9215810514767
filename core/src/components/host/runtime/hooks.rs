//! What the hooks of a container do: how long they take, and whether they fail.
//!
//! Pure. Input: the container's specification. Left out on purpose: commands other than `sleep`, `exit`, `true` and
//! `false`, and hooks that send requests: they take no time and succeed.

use jiff::SignedDuration;

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
        let of_sleep = hook.at(&["sleep", "seconds"]).as_i64();
        let mut command = hook.at(&["exec", "command"]).items().iter().filter_map(Json::as_str);
        let first = command.next().unwrap_or_default();
        let (second, third, rest) = (command.next(), command.next(), command.next());
        let told = match (of_sleep, first.strip_prefix("/bin/").unwrap_or(first), second, third, rest) {
            (Some(seconds), ..) => Some(Self { takes: span(seconds), fails: false }),
            (None, "sleep", Some(seconds), None, None) => sleep(seconds),
            (None, "false", None, None, None) => Some(Self { fails: true, ..Self::default() }),
            (None, _, Some("-c"), Some(script), None) => Self::of_script(script),
            _ => None,
        };
        told.unwrap_or_default()
    }

    /// Reads a script; `None` if it has anything but what is known here.
    fn of_script(script: &str) -> Option<Self> {
        let mut told = Self::default();
        for command in script.split(';').map(str::trim).filter(|command| !command.is_empty()) {
            let (name, value) = command.split_once(' ').unwrap_or((command, ""));
            match (name, value.trim()) {
                ("sleep", seconds) => {
                    told = Self { takes: told.takes.saturating_add(sleep(seconds)?.takes), fails: false };
                }
                ("true", "") => told.fails = false,
                ("false", "") => told.fails = true,
                ("exit", code) => {
                    let fails = if code.is_empty() { told.fails } else { code.parse::<u8>().ok()? != 0 };
                    return Some(Self { fails, ..told });
                }
                _ => return None,
            }
        }
        Some(told)
    }
}

fn sleep(seconds: &str) -> Option<Hook> {
    let seconds = seconds.strip_suffix('s').unwrap_or(seconds).trim().parse().ok()?;
    Some(Hook { takes: span(seconds), fails: false })
}

fn span(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds.max(0))
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
