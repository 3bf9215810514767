//! Completion indexes of an Indexed Job: sets of them as intervals, and where a pod has its own.
//!
//! Mirrors pkg/controller/job/indexed_job_utils.go (v1.34). Inputs: texts of a Job's status and of its policies, the
//! annotations of pods. Outputs: sets of indexes and their texts, as `1,3-5,7,8`.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::objects::Object;

/// The annotation, and the label, with a pod's index. Source: k8s.io/api batch/v1/types.go (v1.34),
/// `JobCompletionIndexAnnotation`.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// How often pods of the index failed before this one, as far as it counts.
/// Source: k8s.io/api batch/v1/types.go (v1.34), `JobIndexFailureCountAnnotation`.
pub(super) const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
/// How often they failed without counting. Source: k8s.io/api batch/v1/types.go (v1.34),
/// `JobIndexIgnoredFailureCountAnnotation`.
pub(super) const IGNORED_FAILURES: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

/// Characters before those that the server adds to a name.
/// Source: k8s.io/apiserver pkg/storage/names/generate.go (v1.34), `MaxGeneratedNameLength`.
const LONGEST_PREFIX: usize = 58;

/// A set of indexes: the first and the last one of each interval, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct IndexIntervals(Vec<(i64, i64)>);

impl IndexIntervals {
    /// Reads a text; indexes that the Job does not have are left out.
    pub(super) fn parse(text: &str, completions: i64) -> Self {
        let mut found = Self::default();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Ok(first), Ok(last)) = (first.parse(), last.parse::<i64>()) else { continue };
            if first >= completions {
                break;
            }
            found.push((first, last.min(completions - 1)));
        }
        found
    }

    /// Adds an interval that begins behind the first ones of all others.
    fn push(&mut self, (first, last): (i64, i64)) {
        match self.0.last_mut() {
            Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
            _ => self.0.push((first, last)),
        }
    }

    /// Returns the indexes of both.
    pub(super) fn merged(&self, other: &Self) -> Self {
        let mut all: Vec<(i64, i64)> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_unstable();
        let mut merged = Self::default();
        all.into_iter().for_each(|interval| merged.push(interval));
        merged
    }

    /// Returns these indexes and more.
    pub(super) fn with(&self, more: &BTreeSet<i64>) -> Self {
        self.merged(&Self(more.iter().map(|index| (*index, *index)).collect()))
    }

    /// Returns how many there are.
    pub(super) fn total(&self) -> i64 {
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// Tells whether an index is one of them.
    pub(super) fn has(&self, index: i64) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&index))
    }

    /// Tells whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many are in the other set as well.
    pub(super) fn common(&self, other: &Self) -> i64 {
        let overlap = |one: &(i64, i64), two: &(i64, i64)| (one.1.min(two.1) - one.0.max(two.0) + 1).max(0);
        self.0.iter().flat_map(|one| other.0.iter().map(move |two| overlap(one, two))).sum()
    }

    /// Returns the first indexes of a Job that are not among these.
    pub(super) fn first_missing(&self, count: usize, completions: i64) -> Vec<i64> {
        let mut missing = Vec::new();
        let mut next = 0;
        for (first, last) in self.0.iter().copied().chain([(completions, completions)]) {
            missing.extend((next..first.min(completions)).take(count - missing.len()));
            next = next.max(last + 1);
        }
        missing
    }
}

impl fmt::Display for IndexIntervals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                1 => write!(f, "{comma}{first},{last}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

/// Returns a pod's index, if it has a valid one.
pub(super) fn index_of(pod: &Object) -> Option<i64> {
    let text = pod.stable().at(&["metadata", "annotations", INDEX]).as_str()?;
    text.parse().ok().filter(|index| *index >= 0)
}

/// Returns the indexes of pods.
pub(super) fn indexes_of<'a>(pods: impl Iterator<Item = &'a Object>) -> BTreeSet<i64> {
    pods.filter_map(index_of).collect()
}

/// Returns a count of an annotation; 0 for one that is not there or no count.
pub(super) fn count_of(pod: &Object, annotation: &str) -> i64 {
    let text = pod.stable().at(&["metadata", "annotations", annotation]).as_str();
    text.and_then(|text| text.parse::<i32>().ok()).filter(|count| *count >= 0).map_or(0, i64::from)
}

/// Returns how often pods of the index failed before this one, counted or not.
pub(super) fn all_failures(pod: &Object) -> i64 {
    count_of(pod, FAILURES) + count_of(pod, IGNORED_FAILURES)
}

/// Returns the beginning of the name of a pod with an index.
pub(super) fn name_prefix(job: &str, index: i64) -> String {
    let end = format!("-{index}-");
    let room = LONGEST_PREFIX.saturating_sub(end.len());
    let job = job.get(..room).unwrap_or(job);
    format!("{job}{end}")
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::{IndexIntervals, name_prefix};

    fn read(text: &str) -> IndexIntervals {
        IndexIntervals::parse(text, 10)
    }

    #[test]
    fn indexes_are_written_as_intervals_and_those_beyond_the_completions_are_not_read() {
        for (text, written, total) in [
            ("", "", 0),
            ("0", "0", 1),
            ("0,1", "0,1", 2),
            ("0,1,2", "0-2", 3),
            ("1,3-5,7", "1,3-5,7", 5),
            ("3-4,5", "3-5", 3),
            ("7-20", "7-9", 3),
            ("2,12,13", "2", 1),
            ("x,2,3-y", "2", 1),
        ] {
            let read = read(text);
            assert_eq!((format!("{read}").as_str(), read.total()), (written, total), "{text}");
        }
    }

    #[test]
    fn sets_are_merged_and_compared() {
        let merged = read("0,4-6").merged(&read("1,5-8"));
        assert_eq!(format!("{merged}"), "0,1,4-8");
        assert_eq!((merged.has(1), merged.has(2), merged.has(8), merged.has(9)), (true, false, true, false));
        assert_eq!(format!("{}", read("3").with(&[1, 2].into())), "1-3");
        assert_eq!((read("0-3,7").common(&read("2-8")), read("0").common(&read("1"))), (3, 0));
    }

    #[test]
    fn missing_indexes_are_found_from_the_first_one_on() {
        for (there, count, missing) in [
            ("", 2, &[0_i64, 1][..]),
            ("0,1", 2, &[2, 3]),
            ("1,3", 3, &[0, 2, 4]),
            ("0-8", 5, &[9]),
            ("0-9", 5, &[]),
            ("5-9", 0, &[]),
        ] {
            assert_eq!(read(there).first_missing(count, 10), missing, "{there}");
        }
    }

    #[test]
    fn a_long_name_of_a_job_is_cut_so_that_the_index_stays_whole() {
        assert_eq!(name_prefix("work", 3), "work-3-");
        let long = "x".repeat(63);
        assert_eq!(name_prefix(&long, 12), format!("{}-12-", "x".repeat(54)));
    }
}
