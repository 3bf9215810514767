//! What a command of a container, of a hook or of a probe does, where it is simple enough to be read: how long it
//! takes, and with which code it ends.
//!
//! Pure. Input: the words of the command. Output: its end; `None` for a command that has anything but `sleep`, `exit`,
//! `true` and `false`.

use alloc::vec::Vec;

use jiff::SignedDuration;

use crate::components::host::behaviour::{After, ContainerBehaviour};
use crate::objects::Json;

/// The end of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandEnd {
    /// How long it takes; `None` for `sleep infinity`.
    pub takes: Option<SignedDuration>,
    /// The code with which it ends.
    pub exit_code: i64,
}

impl CommandEnd {
    /// Of a command that does nothing.
    pub(super) const AT_ONCE: Self = Self { takes: Some(SignedDuration::ZERO), exit_code: 0 };

    /// Reads the command of a hook or a probe; `None` where it has none that can be read.
    #[must_use]
    pub fn of_handler(handler: &Json) -> Option<Self> {
        let words = handler.at(&["exec", "command"]).items().iter().filter_map(Json::as_str);
        Self::of(&words.collect::<Vec<_>>())
    }

    /// Reads a command: a program with its arguments, or a shell with a script.
    fn of(words: &[&str]) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        match (first.rsplit('/').next().unwrap_or(first), rest) {
            ("sh" | "bash" | "ash" | "dash", ["-c", script]) => Self::of_script(script),
            ("sleep", [time]) => Some(Self { takes: time_of(time)?, exit_code: 0 }),
            ("true", []) => Some(Self::AT_ONCE),
            ("false", []) => Some(Self { exit_code: 1, ..Self::AT_ONCE }),
            _ => None,
        }
    }

    fn of_script(script: &str) -> Option<Self> {
        let mut end = Self::AT_ONCE;
        let commands = script.split([';', '\n']).map(str::trim).filter(|command| !command.is_empty());
        for words in commands.map(|command| command.split_whitespace().collect::<Vec<_>>()) {
            end = match words.as_slice() {
                ["exit"] => return Some(end),
                ["exit", code] => return Some(Self { exit_code: code.parse::<u8>().ok()?.into(), ..end }),
                words => {
                    let next = Self::of(words)?;
                    let takes = end.takes.zip(next.takes).map(|(before, after)| before.saturating_add(after));
                    Self { takes, exit_code: next.exit_code }
                }
            };
            if end.takes.is_none() {
                break;
            }
        }
        Some(end)
    }

    /// Returns how the container behaves whose process is its command. It is the first of its namespace, so SIGTERM
    /// does nothing to it, unless the pod shares one namespace. Source: man 2 kill, Linux.
    pub(super) fn behaviour(container: &Json, shares_processes: bool) -> Option<ContainerBehaviour> {
        let texts = |field| container.get(field).items().iter().filter_map(Json::as_str);
        texts("command").next()?;
        let end = Self::of(&texts("command").chain(texts("args")).collect::<Vec<_>>())?;
        Some(ContainerBehaviour {
            crashes_after: Some(end.takes.map_or(After::Never, After::Delay)),
            exit_code: Some(end.exit_code),
            stops_after: (!shares_processes).then_some(After::Never),
            ..ContainerBehaviour::default()
        })
    }
}

/// Reads the time of `sleep`; seconds unless it says otherwise, `Some(None)` for ever.
fn time_of(text: &str) -> Option<Option<SignedDuration>> {
    if matches!(text, "infinity" | "inf") {
        return Some(None);
    }
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h', 'd']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "s"),
    };
    let seconds: f64 = number.parse().ok().filter(|seconds: &f64| *seconds >= 0.0)?;
    let of_unit = match unit {
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => 1.0,
    };
    SignedDuration::try_from_secs_f64(seconds * of_unit).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::CommandEnd;

    #[test]
    fn a_command_that_can_be_read_has_its_time_and_code() {
        for (words, end) in [
            (&["sleep", "3"][..], Some((Some(3), 0))),
            (&["/usr/bin/sleep", "1.5m"], Some((Some(90), 0))),
            (&["sleep", "infinity"], Some((None, 0))),
            (&["sleep", "-1"], None),
            (&["sleep", "1", "2"], None),
            (&["false"], Some((Some(0), 1))),
            (&["/bin/true"], Some((Some(0), 0))),
            (&["sh", "-c", "sleep 2; exit 3"], Some((Some(2), 3))),
            (&["bash", "-c", "false; exit"], Some((Some(0), 1))),
            (&["sh", "-c", "sleep inf; exit 3"], Some((None, 0))),
            (&["sh", "-c", "sleep 15; echo"], None),
            (&["sh", "-c", "exit 999"], None),
            (&["sh", "script"], None),
            (&["nginx"], None),
            (&[], None),
        ] {
            let read = CommandEnd::of(words).map(|end| (end.takes.map(|takes| takes.as_secs()), end.exit_code));
            assert_eq!(read, end, "{words:?}");
        }
        let half = CommandEnd::of(&["sleep", "0.5"]).unwrap();
        assert_eq!(half.takes, Some(SignedDuration::from_millis(500)));
    }
}
