//! Runs commands of kubectl.
//!
//! Input: a command. Outputs: the lines that it prints, on both its outputs in their order, and then its exit code.
//! Invariant: a command ends with the task that reads it.

use std::io;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::cache::CommandNews;

/// The exit code of a command that a signal has ended or that cannot be waited for.
const NO_CODE: u8 = u8::MAX;

/// Starts a command on the current runtime, and tells what it shows.
///
/// # Errors
/// It does not run.
pub(super) fn start(command: Command, tell: impl Fn(CommandNews) + Send + 'static) -> Result<JoinHandle<()>, String> {
    let program = command.as_std().get_program().to_owned();
    let failed = |error: io::Error| format!("{} does not run: {error}", program.display());
    let (mut child, output) = spawn(command).map_err(failed)?;
    Ok(tokio::spawn(async move {
        let mut lines = BufReader::new(output).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            tell(CommandNews::Printed(String::from_utf8_lossy(&line).into_owned()));
        }
        let code = child.wait().await.ok().and_then(|status: ExitStatus| u8::try_from(status.code()?).ok());
        tell(CommandNews::Exited(code.unwrap_or(NO_CODE)));
    }))
}

/// Starts a command with one pipe for both outputs. The command is dropped here, and with it this process's end.
fn spawn(mut command: Command) -> io::Result<(Child, Receiver)> {
    let (output, input) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(input.try_clone()?).stderr(input).kill_on_drop(true);
    let child = command.spawn()?;
    Ok((child, Receiver::from_owned_fd(output.into())?))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn shown(script: &str) -> Vec<CommandNews> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (sender, news) = mpsc::channel();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        runtime.block_on(async {
            start(command, move |news| sender.send(news).unwrap()).unwrap().await.unwrap();
        });
        news.iter().collect()
    }

    #[test]
    fn lines_of_both_outputs_come_in_their_order_before_the_exit_code() {
        let printed = |line: &str| CommandNews::Printed(line.to_owned());
        let script = "echo one; echo two >&2; echo; echo three; printf four; exit 3";
        let lines = ["one", "two", "", "three", "four"].map(printed);
        assert_eq!(shown(script), [&lines[..], &[CommandNews::Exited(3)]].concat());
        assert_eq!(shown("kill -9 $$"), [CommandNews::Exited(NO_CODE)]);
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _guard = runtime.enter();
        let why = start(Command::new("/nowhere/kubectl"), |_| ()).unwrap_err();
        assert!(why.starts_with("/nowhere/kubectl does not run: "), "{why}");
    }
}
