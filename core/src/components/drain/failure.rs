//! What went wrong in a drain, and its texts: as a part of another text, and as the last words of the command.
//!
//! Source: kubectl pkg/cmd/util/helpers.go (v1.34), `checkErr`, `StandardErrorMessage`, `MultipleErrors`. What kubectl
//! says of a lost connection names the address of the server, which the model does not have.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::network::{Answer, TransportError};
use crate::objects::{Text, aggregate};

/// A request that failed, or a wait that ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Failure {
    /// The server refused.
    Answer {
        code: u16,
        reason: Text,
        message: String,
        /// Whether it is because the namespace is being deleted.
        is_namespace_ending: bool,
    },
    /// No answer came.
    Lost(String),
    /// A text of the command itself.
    Own(String),
}

impl Failure {
    /// Reads what came in place of a success.
    pub(super) fn of(result: Result<Answer, TransportError>) -> Result<Answer, Self> {
        let answer = result.map_err(|error| Self::Lost(error.to_string()))?;
        if answer.is_success() {
            return Ok(answer);
        }
        let body = answer.body();
        let mut causes = body.at(&["details", "causes"]).items().iter();
        let is_ending = causes.any(|cause| cause.get("reason").as_str() == Some("NamespaceTerminating"));
        Err(Self::Answer {
            code: answer.code,
            reason: body.get("reason").as_text().cloned().unwrap_or_default(),
            message: answer.message(),
            is_namespace_ending: answer.code == 403 && is_ending,
        })
    }

    /// Tells whether the server answered with a code.
    pub(super) fn is(&self, wanted: u16) -> bool {
        matches!(self, Self::Answer { code, .. } if *code == wanted)
    }

    /// Tells whether an eviction is refused since the namespace is being deleted.
    pub(super) const fn is_of_ending_namespace(&self) -> bool {
        matches!(self, Self::Answer { is_namespace_ending: true, .. })
    }

    /// Returns the text as a part of others.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Answer { message: text, .. } | Self::Lost(text) | Self::Own(text) => text,
        }
    }

    /// Returns the text of a known kind of error, else the plain one.
    fn standard(&self) -> String {
        match self {
            Self::Answer { reason, message, .. } if reason.is_empty() => format!("Error from server: {message}"),
            Self::Answer { reason, message, .. } => format!("Error from server ({reason}): {message}"),
            Self::Lost(text) => format!("Unable to connect to the server: {text}"),
            Self::Own(text) => text.clone(),
        }
    }

    /// Returns the last words of a command that ends with it.
    pub(super) fn last_words(&self) -> String {
        match self {
            Self::Own(text) if !text.starts_with("error: ") => format!("error: {text}"),
            other => other.standard(),
        }
    }
}

/// Why a Node could not be drained.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NodeFailure {
    /// One reason alone.
    One(Failure),
    /// Reasons of several Pods.
    Several(Vec<Failure>),
}

impl NodeFailure {
    /// Returns the text as a part of others: each reason once.
    pub(super) fn text(&self) -> String {
        match self {
            Self::One(failure) => String::from(failure.text()),
            Self::Several(all) => aggregate(all.iter().map(Failure::text)).unwrap_or_default(),
        }
    }

    /// Returns the last words of a command that could not drain these Nodes.
    pub(super) fn last_words(all: &[&Self]) -> Vec<String> {
        match all {
            [Self::One(failure)] => Vec::from([failure.last_words()]),
            [Self::Several(failures)] => failures.iter().map(Failure::standard).collect(),
            several => several
                .iter()
                .map(|failure| match failure {
                    Self::One(failure) => failure.standard(),
                    several => several.text(),
                })
                .collect(),
        }
    }
}
