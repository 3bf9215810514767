//! The modelled releases as users read and write them: parsing, names, lists.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use super::{RELEASES, Release};

/// A release that is not offered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no profile for Kubernetes {0:?}: known are {known}", known = list_releases(both_names, "and"))]
pub struct UnknownRelease(pub String);

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
        let unknown = || UnknownRelease(text.to_string());
        let mut parts = text.strip_prefix('v').unwrap_or(text).split('.').map(str::parse::<u16>);
        let (Some(Ok(1)), Some(Ok(minor)), patch, None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(unknown());
        };
        let known = RELEASES.into_iter().find(|release| release.minor == minor).ok_or_else(unknown)?;
        match patch {
            None => Ok(known),
            Some(Ok(patch)) => Ok(Self::new(minor, patch)),
            Some(Err(_)) => Err(unknown()),
        }
    }
}

/// The oldest release of which a kubelet can be.
pub(super) const KUBELETS_SINCE: Release = Release::new(20, 0);
/// The patch of a kubelet that is older than the offered releases, if none is named.
const LAST_PATCH: u16 = 15;

impl Release {
    /// Reads the release of a kubelet: one that is offered, or an older one.
    ///
    /// # Errors
    /// There is no profile for it.
    pub fn of_kubelet(text: &str) -> Result<Self, UnknownRelease> {
        let mut parts = text.strip_prefix('v').unwrap_or(text).split('.').map(str::parse::<u16>);
        let older = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Ok(1)), Some(Ok(minor)), patch, None) => {
                let patch = patch.unwrap_or(Ok(LAST_PATCH)).ok();
                patch.map(|patch| Self::new(minor, patch)).filter(|own| (KUBELETS_SINCE..RELEASES[0]).contains(own))
            }
            _ => None,
        };
        older.map_or_else(|| text.parse(), Ok)
    }

    /// Tells whether it is older than the offered releases, so that only some of what a kubelet does is known of it.
    #[must_use]
    pub fn is_before_offered(self) -> bool {
        self.minor < RELEASES[0].minor
    }
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
