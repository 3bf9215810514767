//! Positions in feature files. Data.

use crate::objects::Text;

/// A place in a feature file, with the text of the step there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The file's path as it was given.
    pub file: Text,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// The step with its keyword: `When the kubelet on "worker-1" is killed`.
    pub text: Text,
}
