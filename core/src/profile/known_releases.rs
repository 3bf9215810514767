//! The modelled releases as users read and write them: parsing, names, lists.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use super::release::OLDEST;
use super::{RELEASES, Release};

/// A release of which nothing is known that was asked for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no profile for Kubernetes {text:?}: known are {known}{older}", known = list_releases(both_names, "and"))]
pub struct UnknownRelease {
    text: String,
    /// What is known of older releases, where such may be named.
    older: String,
}

impl UnknownRelease {
    fn or_older(self, since: Release, what: &str) -> Self {
        let last = RELEASES[0].predecessor().minor_name();
        Self { older: format!("; of {} to {last}, {what}", since.minor_name()), ..self }
    }
}

/// Lists the releases that are modelled, oldest first, as people write lists: `1.31, 1.34 and 1.36`.
#[must_use]
pub fn list_releases(name: impl Fn(Release) -> String, conjunction: &str) -> String {
    let names: Vec<String> = RELEASES.into_iter().map(name).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} {conjunction} {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the name of the minor release and the full one, as `1.34 (1.34.4)`.
fn both_names(release: Release) -> String {
    format!("{} ({release})", release.minor_name())
}

impl FromStr for Release {
    type Err = UnknownRelease;

    fn from_str(text: &str) -> Result<Self, UnknownRelease> {
        let known = numbers(text).and_then(|(minor, patch)| {
            let known = RELEASES.into_iter().find(|release| release.minor == minor)?;
            Some(patch.map_or(known, |patch| Self::new(minor, patch)))
        });
        known.ok_or_else(|| UnknownRelease { text: text.to_string(), older: String::new() })
    }
}

/// Reads the minor number and the patch of `[v]1.MINOR[.PATCH]`.
fn numbers(text: &str) -> Option<(u16, Option<u16>)> {
    let mut parts = text.strip_prefix('v').unwrap_or(text).split('.').map(str::parse::<u16>);
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(Ok(1)), Some(Ok(minor)), None, None) => Some((minor, None)),
        (Some(Ok(1)), Some(Ok(minor)), Some(Ok(patch)), None) => Some((minor, Some(patch))),
        _ => None,
    }
}

/// The oldest release of which a kubelet can be.
pub(super) const KUBELETS_SINCE: Release = Release::new(20, 0);
/// The patch of a kubelet that is older than the offered releases, if none is named.
const LAST_PATCH: u16 = 15;

impl Release {
    /// Reads the release of a cluster: one that is offered, or an older one of which single behaviours are known.
    ///
    /// # Errors
    /// There is no profile for it.
    pub fn of_cluster(text: &str) -> Result<Self, UnknownRelease> {
        let unknown = |error: UnknownRelease| error.or_older(OLDEST, "how Pods leave lost nodes");
        older(text, OLDEST, 0).map_or_else(|| text.parse().map_err(unknown), Ok)
    }

    /// Reads the release of a kubelet: one that is offered, or an older one.
    ///
    /// # Errors
    /// There is no profile for it.
    pub fn of_kubelet(text: &str) -> Result<Self, UnknownRelease> {
        let unknown = |error: UnknownRelease| error.or_older(KUBELETS_SINCE, "what a kubelet does with swap space");
        older(text, KUBELETS_SINCE, LAST_PATCH).map_or_else(|| text.parse().map_err(unknown), Ok)
    }

    /// Tells whether it is older than any release of which a kubelet can be.
    #[must_use]
    pub fn is_before_kubelets(self) -> bool {
        self.minor < KUBELETS_SINCE.minor
    }

    /// Tells whether it is older than the offered releases, so that only some of what a kubelet does is known of it.
    #[must_use]
    pub fn is_before_offered(self) -> bool {
        self.minor < RELEASES[0].minor
    }
}

/// Reads a release that is older than those that are offered; `patch` is that of one without.
fn older(text: &str, since: Release, patch: u16) -> Option<Release> {
    let (minor, own) = numbers(text)?;
    (since.minor..RELEASES[0].minor).contains(&minor).then(|| Release::new(minor, own.unwrap_or(patch)))
}

/// Returns the releases on the way from one to another, without these two.
#[must_use]
pub fn releases_between(from: Release, to: Release) -> Vec<Release> {
    let between = |release: &Release| from.min(to) < *release && *release < from.max(to);
    let mut found: Vec<Release> = RELEASES.into_iter().filter(between).collect();
    if from > to {
        found.reverse();
    }
    found
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{RELEASES, Release, list_releases, releases_between};

    #[test]
    fn a_release_is_read_by_its_minor_number_or_in_full() {
        for release in RELEASES {
            assert_eq!(release.minor_name().parse(), Ok(release));
            assert_eq!(release.to_string().parse(), Ok(release));
        }
        let [oldest, ..] = RELEASES;
        for text in ["", "x", "2.0", "1", "1.34.x", "1.34.1.1", &oldest.predecessor().to_string()] {
            let error = text.parse::<Release>().unwrap_err().to_string();
            assert!(RELEASES.iter().all(|known| error.contains(&known.to_string())), "{error}");
        }
    }

    #[test]
    fn older_releases_are_those_of_clusters_and_of_kubelets() {
        assert_eq!(Release::of_cluster("1.12"), Ok(Release::new(12, 0)));
        assert_eq!(Release::of_cluster("v1.25.3"), Ok(Release::new(25, 3)));
        assert_eq!(Release::of_cluster("1.34"), "1.34".parse());
        assert_eq!(Release::of_kubelet("1.25"), Ok(Release::new(25, 15)));
        let error = Release::of_cluster("1.3").unwrap_err().to_string();
        assert!(error.ends_with("; of 1.4 to 1.30, how Pods leave lost nodes"), "{error}");
        let error = Release::of_kubelet("1.19").unwrap_err().to_string();
        assert!(error.ends_with("; of 1.20 to 1.30, what a kubelet does with swap space"), "{error}");
    }

    #[test]
    fn releases_are_listed_as_people_write_lists() {
        let text = list_releases(Release::minor_name, "or");
        assert_eq!(text.matches(" or ").count(), 1);
        assert_eq!(text.matches("1.").count(), RELEASES.len(), "{text}");
    }

    #[test]
    fn what_is_between_two_releases_is_in_the_order_of_the_way() {
        let [oldest, .., newest] = RELEASES;
        let up = releases_between(oldest, newest);
        assert!(up.len() == RELEASES.len() - 2 && up.windows(2).all(|pair| pair[0] < pair[1]), "{up:?}");
        let down = releases_between(newest, oldest);
        assert!(up.iter().eq(down.iter().rev()), "{down:?}");
        assert_eq!(releases_between(newest, newest), []);
    }
}
