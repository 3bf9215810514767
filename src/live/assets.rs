//! Finds the programs of a control plane as envtest does: in the directory that is named, in `KUBEBUILDER_ASSETS`, in
//! `PATH`.
//!
//! Outputs: the paths and the release of the programs, or which one is missing and what helps.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use nodeproof_core::profile::Release;

/// The programs, in the order in which they are started.
pub(super) const PROGRAMS: [&str; 4] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/// The programs of a control plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    /// The paths, in the order of [`PROGRAMS`].
    paths: [PathBuf; 4],
    /// The release that kube-apiserver reports.
    release: Release,
    /// The directory that was named; `None` for the usual places.
    named: Option<PathBuf>,
    /// Where kubectl is, or why commands of it cannot be run. Looked for when a scenario has one.
    kubectl: OnceLock<Result<PathBuf, String>>,
}

impl Assets {
    /// Looks for the programs.
    ///
    /// # Errors
    /// One is not to be found, does not run, or is of another release than the others; the text says what helps.
    pub fn find(named: Option<&Path>) -> Result<Self, String> {
        let directories = directories(named);
        let find = |program: &str| find(program, &directories).ok_or_else(|| missing(program, named));
        let paths = [find(PROGRAMS[0])?, find(PROGRAMS[1])?, find(PROGRAMS[2])?, find(PROGRAMS[3])?];
        let release = version(&paths[1], "--version")?;
        for path in &paths[2..] {
            let other = version(path, "--version")?;
            if other != release {
                return Err(format!("{} is {other}, and kube-apiserver is {release}", path.display()));
            }
        }
        Ok(Self { paths, release, named: named.map(Path::to_owned), kubectl: OnceLock::new() })
    }

    /// Returns the path of a kubectl of the same minor release.
    ///
    /// # Errors
    /// There is none; the text says what helps.
    pub(super) fn kubectl(&self) -> Result<PathBuf, String> {
        self.kubectl.get_or_init(|| kubectl(self.named.as_deref(), self.release)).clone()
    }

    /// Returns the path of a program.
    pub(super) fn path(&self, program: &str) -> &Path {
        let at = PROGRAMS.iter().position(|own| *own == program).expect("a program of the list");
        &self.paths[at]
    }

    /// Returns the release of the programs.
    #[must_use]
    pub const fn release(&self) -> Release {
        self.release
    }

    /// Returns why the programs do not serve a release. The minor version must be equal; a patch may differ.
    #[must_use]
    pub fn obstacle(&self, release: Release) -> Option<String> {
        let own = self.release;
        (own.minor != release.minor).then(|| format!("the control plane's programs are {own}, not {release}"))
    }
}

/// Returns where programs are looked for.
fn directories(named: Option<&Path>) -> Vec<PathBuf> {
    if let Some(named) = named {
        return vec![named.to_owned()];
    }
    let of_envtest = env::var_os("KUBEBUILDER_ASSETS").filter(|value| !value.is_empty()).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    of_envtest.into_iter().chain(env::split_paths(&path)).collect()
}

fn find(program: &str, directories: &[PathBuf]) -> Option<PathBuf> {
    directories.iter().map(|directory| directory.join(program)).find(|path| path.is_file())
}

/// Looks for a kubectl of a minor release: what it prints differs between releases.
fn kubectl(named: Option<&Path>, release: Release) -> Result<PathBuf, String> {
    let wanted =
        format!("commands of kubectl need one of 1.{} beside the programs of the control plane", release.minor);
    let Some(path) = find("kubectl", &directories(named)) else {
        return Err(format!("no kubectl {}: {wanted}", place(named)));
    };
    let own = version(&path, "version --client")?;
    if own.minor == release.minor { Ok(path) } else { Err(format!("{} is {own}: {wanted}", path.display())) }
}

fn place(named: Option<&Path>) -> String {
    named.map_or_else(|| "in KUBEBUILDER_ASSETS or PATH".to_owned(), |named| format!("in {}", named.display()))
}

fn missing(program: &str, named: Option<&Path>) -> String {
    let place = place(named);
    format!(
        "no {program} {place}: a control plane needs {}; \
         `export KUBEBUILDER_ASSETS=$(setup-envtest use -p path 1.34)` brings the first two, --assets DIR names \
         another place",
        PROGRAMS.join(", ")
    )
}

/// Asks a program of Kubernetes for its version: `Kubernetes v1.34.4`, `Client Version: v1.34.4` of kubectl.
fn version(program: &Path, arguments: &str) -> Result<Release, String> {
    let shown = program.display();
    let output = Command::new(program).args(arguments.split(' ')).output();
    let output = output.map_err(|error| format!("{shown} does not run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.lines().next().unwrap_or_default().trim();
    let version = ["Kubernetes v", "Client Version: v"].iter().find_map(|prefix| text.strip_prefix(prefix));
    let version = version.unwrap_or(text);
    let parts: Vec<u16> = version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect();
    match parts.as_slice() {
        [1, minor, patch, ..] => Ok(Release::new(
            (*minor).try_into().unwrap_or(u8::MAX).into(),
            (*patch).try_into().unwrap_or(u8::MAX).into(),
        )),
        _ => Err(format!("{shown} says {text:?}, which is no version of Kubernetes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_the_place() {
        let why = Assets::find(Some(Path::new("/nowhere"))).unwrap_err();
        assert!(why.starts_with("no etcd in /nowhere: "), "{why}");
    }
}
