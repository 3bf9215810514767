//! The releases of Kubernetes: one file of data each, with what is first true in that release.
//!
//! A release is its predecessor, changed by the data in its file: values of behaviours (`profile/rows.rs`), stages of
//! feature gates, fields of the API's types, rules of roles, columns of tables. To add one, write its file and name it
//! in the list below; a test says what else names the releases (README, workflow).
//! Inputs: none. Outputs: [`RELEASES`], and the data of a release with those before it, oldest first.
//! Invariant: a file changes its own minor release only, and names only rows, gates, types, roles and tables that
//! exist.

use alloc::string::String;

use super::Release;
use super::value::{GateStage, Value, secs};
use ColumnChange::{Added, Described, Gone, Last};

/// What is first true in a minor release.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseData {
    /// The minor number.
    pub minor: u16,
    /// The patch that is meant where none is named; `None` where the release is not offered, but others build on it.
    pub patch: Option<u16>,
    /// The node image with which `.github/workflows/live.yml` runs this release on kind; empty for none.
    pub node_image: &'static str,
    /// New values of behaviours.
    pub rows: &'static [RowChange],
    /// New stages of feature gates.
    pub gates: &'static [GateChange],
    /// Changes of types, a line each: `Type + field:type …`, `Type - field …`, or `Type = field:type …` for a new
    /// one. The words are those of `objects/schema/types.rs`. Source: k8s.io/api and k8s.io/apimachinery, types.go.
    pub fields: &'static str,
    /// Changes of roles, a line each: `role: rule | rule => rule | rule` puts what is on the right in the place of what
    /// is on the left (at the end, if nothing is), and `role = rule | rule` is a new role. The words are those of
    /// `api_server/rbac_policy.rs`. Source: plugin/pkg/auth/authorizer/rbac/bootstrappolicy.
    pub roles: &'static str,
    /// Changes of tables. Source: pkg/printers/internalversion/printers.go and the types' documentation in k8s.io/api.
    pub columns: &'static [ColumnChange],
}

/// A new value of a behaviour.
#[derive(Clone, Copy, Debug)]
pub struct RowChange {
    /// Since when it holds.
    pub since: Release,
    /// The row's name.
    pub row: &'static str,
    /// The value.
    pub value: Value,
    /// Its source; empty if the row itself names it.
    pub source: &'static str,
}

/// A new stage of a feature gate, which may be the first. Source: pkg/features/kube_features.go,
/// k8s.io/apiserver pkg/features, k8s.io/controller-manager, k8s.io/component-base.
#[derive(Clone, Copy, Debug)]
pub struct GateChange {
    /// Since when it holds.
    pub since: Release,
    /// The gate's name.
    pub gate: &'static str,
    /// The stage.
    pub stage: GateStage,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// `string`, `integer`, `boolean` or `date`.
    pub kind: &'static str,
    /// `name` or nothing.
    pub format: &'static str,
    /// 0 for a column that is always shown.
    pub priority: i64,
    /// What it shows.
    pub about: &'static str,
}

/// A change of a table, which the plural of its kind names.
#[derive(Clone, Copy, Debug)]
pub enum ColumnChange {
    /// A column that comes after the others.
    Added(&'static str, Column),
    /// A column with another description.
    Described(&'static str, &'static str, &'static str),
    /// A column that was removed.
    Gone(&'static str, &'static str),
    /// A column that comes after the others from then on.
    Last(&'static str, &'static str),
}

impl ReleaseData {
    /// Returns the release with its default patch, if it is offered.
    #[must_use]
    pub const fn offered(&self) -> Option<Release> {
        match self.patch {
            Some(patch) => Some(Release::new(self.minor, patch)),
            None => None,
        }
    }

    /// Returns the name of the minor release, as `1.34`.
    #[must_use]
    pub fn minor_name(&self) -> String {
        Release::new(self.minor, 0).minor_name()
    }
}

/// A release without anything new.
const NOTHING: ReleaseData =
    ReleaseData { minor: 0, patch: None, node_image: "", rows: &[], gates: &[], fields: "", roles: "", columns: &[] };

const YES: Value = Value::Bool(true);
const NO: Value = Value::Bool(false);
const ALPHA: GateStage = GateStage::Alpha;
const BETA: GateStage = GateStage::Beta(true);
const BETA_OFF: GateStage = GateStage::Beta(false);
const STABLE: GateStage = GateStage::Stable { locked: false };
const LOCKED: GateStage = GateStage::Stable { locked: true };

const fn row(since: Release, row: &'static str, value: Value, source: &'static str) -> RowChange {
    RowChange { since, row, value, source }
}

const fn gate(since: Release, gate: &'static str, stage: GateStage) -> GateChange {
    GateChange { since, gate, stage }
}

/// Names the files, oldest release first.
macro_rules! releases {
    ($($file:ident)*) => {
        $(mod $file;)*
        const ALL: &[ReleaseData] = &[$($file::DATA),*];
    };
}

releases! {
    v1_6 v1_8 v1_12 v1_13 v1_14 v1_17 v1_18 v1_19 v1_20 v1_21 v1_22 v1_23 v1_24 v1_25 v1_26 v1_28 v1_30
    v1_31 v1_32 v1_33 v1_34 v1_35 v1_36 v1_37
}

/// The releases that are offered; a minor release without patch number means the patch given here.
pub const RELEASES: [Release; count()] = {
    let mut found = [Release::new(0, 0); count()];
    let (mut at, mut free) = (0, 0);
    while at < ALL.len() {
        if let Some(release) = ALL[at].offered() {
            found[free] = release;
            free += 1;
        }
        at += 1;
    }
    found
};

const fn count() -> usize {
    let (mut at, mut count) = (0, 0);
    while at < ALL.len() {
        count += ALL[at].offered().is_some() as usize;
        at += 1;
    }
    count
}

/// The release of a simulation that names none.
pub const DEFAULT_RELEASE: Release = {
    let mut at = 0;
    while RELEASES[at].minor != 34 {
        at += 1;
    }
    RELEASES[at]
};

/// Returns the data of all releases, oldest first.
#[must_use]
pub const fn all() -> &'static [ReleaseData] {
    ALL
}

/// Returns the data of the minor releases after one and up to another, oldest first.
pub fn after(from: Release, to: Release) -> impl Iterator<Item = &'static ReleaseData> {
    ALL.iter().filter(move |data| from.minor < data.minor && data.minor <= to.minor)
}

/// Returns the data of a release and of those before it, oldest first.
pub(super) fn up_to(release: Release) -> impl DoubleEndedIterator<Item = &'static ReleaseData> {
    ALL.iter().filter(move |data| data.minor <= release.minor)
}

#[cfg(test)]
mod tests {
    use super::{ALL, DEFAULT_RELEASE, RELEASES, up_to};
    use crate::objects::schema::SCALARS;
    use crate::profile::{Profile, Release, gates, rows};

    #[test]
    fn each_file_speaks_of_its_own_release_and_of_rows_that_there_are() {
        assert!(ALL.windows(2).all(|pair| pair[0].minor < pair[1].minor));
        for data in ALL {
            for change in data.rows {
                assert_eq!(change.since.minor, data.minor, "{}", change.row);
                let row = rows::row(change.row).expect(change.row);
                let before = data.rows.iter().filter(|own| own.row == change.row && own.since < change.since).count();
                assert!(
                    before > 0 || row.value_at(Release::new(data.minor - 1, u16::MAX)) != Some(change.value),
                    "{}",
                    change.row
                );
            }
            for change in data.gates {
                assert_eq!(change.since.minor, data.minor, "{}", change.gate);
                assert!(gates::gates().any(|gate| gate.name == change.gate));
            }
        }
    }

    #[test]
    fn each_field_of_a_file_is_of_a_kind_that_there_is() {
        let newest = Release::new(u16::MAX, 0);
        let schema = Profile::of(newest).schema();
        let known = SCALARS.each_ref().map(|(word, _)| *word);
        let mut count = 0;
        for line in up_to(newest).flat_map(|data| data.fields.lines()) {
            let mut words = line.split_whitespace();
            let (name, how) = (words.next().expect(line), words.next().expect(line));
            assert!(schema.named(name).is_some() && ["=", "+", "-"].contains(&how), "{line}");
            for text in words.filter(|_| how != "-") {
                let (field, rest) = text.split_once(':').expect(text);
                let kind = rest.trim_start_matches(['[', '{']).split([']', '}', '*', '!', '@']).next().unwrap();
                assert!(known.contains(&kind) || schema.named(kind).is_some(), "{name}.{field} is {kind}");
                count += 1;
            }
        }
        assert!(count > 50, "{count}");
    }

    #[test]
    fn a_release_builds_on_those_before_it() {
        assert_eq!(up_to(Release::new(5, 0)).count(), 0);
        assert_eq!(up_to(Release::new(27, 0)).last().map(|data| data.minor), Some(26));
        assert_eq!(up_to(DEFAULT_RELEASE).last().map(|data| data.minor), Some(DEFAULT_RELEASE.minor));
        assert!(RELEASES.windows(2).all(|pair| pair[0] < pair[1]) && RELEASES.contains(&DEFAULT_RELEASE));
    }
}
