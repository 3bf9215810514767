//! Where the values of a behaviour are written upstream.

use alloc::string::String;
use alloc::vec::Vec;

use super::rows::Row;

impl Row {
    /// Returns the sources of the values.
    #[must_use]
    pub fn sources(&self) -> String {
        let mut sources: Vec<&str> = Vec::new();
        for source in [self.source].into_iter().chain(self.changes().map(|change| change.source)) {
            if !source.is_empty() && !sources.contains(&source) {
                sources.push(source);
            }
        }
        sources.join("; ")
    }
}
