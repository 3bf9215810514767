//! Output that all subcommands share: lines and colours.
//!
//! Outputs: text on standard output and standard error. Invariant: when the reader closes the pipe
//! (`nodeproof … | head`), the rest is dropped without a panic and the exit code stays the verdict's. Any other failure
//! to write (a full disk) ends the program as misuse, so that a part of an output cannot be taken for the whole.

use std::fmt;
use std::io::{self, Write};

use super::MISUSE;

/// Prints a line to standard output.
pub(super) fn line(text: impl fmt::Display) {
    write(&mut io::stdout().lock(), format_args!("{text}\n"));
}

/// Prints text that ends its own lines to standard output.
pub(super) fn text(text: &str) {
    write(&mut io::stdout().lock(), format_args!("{text}"));
}

/// Prints a line for people to standard error.
pub(super) fn note(text: impl fmt::Display) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

fn write(out: &mut impl Write, text: fmt::Arguments<'_>) {
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            note(format_args!("error: the output cannot be written: {error}"));
            std::process::exit(MISUSE.into());
        }
        _ => {}
    }
}

/// Colours as cargo uses them: on a terminal, unless `NO_COLOR` or `CARGO_TERM_COLOR` says otherwise.
pub(super) struct Colour(bool);

impl Colour {
    /// Returns the colours of what is printed to a stream.
    pub(super) fn of(stream: &impl io::IsTerminal) -> Self {
        let setting = std::env::var("CARGO_TERM_COLOR").unwrap_or_default();
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || setting == "never";
        Self(!forbidden && (stream.is_terminal() || setting == "always"))
    }

    /// Returns no colours.
    pub(super) const fn none() -> Self {
        Self(false)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[1;{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Green.
    pub(super) fn good(&self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Red.
    pub(super) fn bad(&self, text: &str) -> String {
        self.paint("31", text)
    }

    /// Cyan.
    pub(super) fn note(&self, text: &str) -> String {
        self.paint("36", text)
    }
}

/// Returns `1 scenario`, `2 scenarios`.
pub(super) fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
