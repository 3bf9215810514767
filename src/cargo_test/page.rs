//! The page that `NODEPROOF_HTML` asks for: that of `run --html`, written once, when all trials are over.

#[cfg(feature = "cli")]
pub(super) use self::written::RunFile;

#[cfg(feature = "cli")]
mod written {
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io::Write as _;
    use std::path::PathBuf;
    use std::sync::{Mutex, PoisonError};
    use std::time::Instant;

    use crate::harness::{Judged, Planned, Suite, SuiteOptions, Verdict, release_name};
    use crate::picture::{Picture, RunPage, picture_of};

    /// The file, and what the trials of each scenario came to.
    #[derive(Debug)]
    pub(crate) struct RunFile {
        path: PathBuf,
        file: File,
        began: Instant,
        found: Mutex<BTreeMap<usize, Found>>,
    }

    /// The verdict of a scenario, why it is not another, and its picture.
    type Found = (Verdict, String, Option<Picture>);

    impl RunFile {
        /// Makes the file.
        ///
        /// # Errors
        /// It cannot be written.
        pub(crate) fn create(path: PathBuf) -> Result<Self, String> {
            let file = File::create(&path)
                .map_err(|error| format!("NODEPROOF_HTML: {}: it cannot be written: {error}", path.display()))?;
            Ok(Self { path, file, began: Instant::now(), found: Mutex::default() })
        }

        /// Takes the verdict of the scenario at a place of the suite.
        pub(crate) fn take(&self, at: usize, planned: &Planned, options: &SuiteOptions, judged: &Judged) {
            let release = planned.release(options);
            let picture = judged.outcome.as_ref().and_then(|own| picture_of(&planned.name, planned, own, release));
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.insert(at, (judged.verdict, judged.text.clone(), picture));
        }

        /// Writes the page: scenarios in the order of the suite.
        ///
        /// # Errors
        /// It cannot be written.
        pub(crate) fn write(&self, suite: &Suite, options: &SuiteOptions) -> Result<(), String> {
            let mut page = RunPage::default();
            suite.problems().for_each(|problem| page.problem(problem.to_string()));
            suite.disabled().for_each(|planned| page.broken(planned));
            let found = std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner));
            for (at, (verdict, text, picture)) in found {
                let planned = &suite.planned[at];
                page.add(planned, planned.name.clone(), (verdict, text), || picture);
            }
            let (k8s, backend) = (release_name(options.release), options.runner.backend().name());
            let html = page.html(&k8s, backend, self.began.elapsed().as_secs_f64());
            (&self.file)
                .write_all(html.as_bytes())
                .map_err(|error| format!("NODEPROOF_HTML: {}: it cannot be written: {error}", self.path.display()))
        }
    }
}

/// Without the feature `cli` nothing draws.
#[cfg(not(feature = "cli"))]
#[derive(Debug)]
pub(super) enum RunFile {}

#[cfg(not(feature = "cli"))]
impl RunFile {
    pub(super) fn create(_: std::path::PathBuf) -> Result<Self, String> {
        Err("NODEPROOF_HTML needs the feature cli of nodeproof, which draws".to_owned())
    }

    pub(super) fn take(&self, _: usize, _: &Planned, _: &SuiteOptions, _: &Judged) {
        match *self {}
    }

    pub(super) fn write(&self, _: &Suite, _: &SuiteOptions) -> Result<(), String> {
        match *self {}
    }
}

#[cfg(not(feature = "cli"))]
use crate::harness::{Judged, Planned, Suite, SuiteOptions};
