//! A comparison as one HTML file: both sides of each scenario above each other, on one scale, with what differs marked.
//!
//! Inputs: findings. Output: the page of `run --html`. What has no instant, as a verdict or a snapshot, stands in the
//! text alone.

use std::path::{Path, PathBuf};

use nodeproof_core::profile::Release;
use nodeproof_core::scenario::Outcome;

use super::finding::{ExplainedDifferences, Finding};
use crate::cli::terminal::Colour;
use crate::harness::Planned;
use crate::picture::{Page, Picture, Shown, page, picture_of};

/// A page that is being made.
#[derive(Debug)]
pub(super) struct ComparedPage {
    path: PathBuf,
    page: Page,
}

impl ComparedPage {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), page: Page::default() }
    }

    /// Adds what was found of a scenario.
    pub(super) fn add(&mut self, name: &str, finding: &Finding) {
        let Some(text) = finding.words(name, &Colour::none()) else { return };
        let (verdict, pictures) = match finding {
            Finding::Compared(it) if it.told.is_empty() => ("same", it.pictures.clone()),
            Finding::Compared(it) if it.unexplained() == 0 => ("explained", it.pictures.clone()),
            Finding::Compared(it) => ("differs", it.pictures.clone()),
            Finding::Inconclusive { .. } => ("inconclusive", Vec::new()),
            _ => ("broken", Vec::new()),
        };
        let is_failure = !matches!(verdict, "same" | "explained");
        self.page.scenarios.push(Shown {
            name: name.to_owned(),
            verdict,
            is_failure,
            text,
            pictures,
            ..Shown::default()
        });
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(mut self, about: String) -> Result<(), String> {
        self.page.about = about;
        std::fs::write(&self.path, page(&self.page))
            .map_err(|error| format!("{}: it cannot be written: {error}", self.path.display()))
    }
}

/// Draws both sides of a comparison on one scale, and marks what differs on the sides that have it.
pub(super) fn sides(
    planned: &Planned,
    (sim, real): (&Outcome, &Outcome),
    (other, release): (&str, Release),
    told: &ExplainedDifferences,
) -> Vec<(String, Picture)> {
    let draw = |outcome: &Outcome| picture_of(&planned.compiled.id, planned, outcome, release);
    let (Some(mut own), Some(mut theirs)) = (draw(sim), draw(real)) else { return Vec::new() };
    let mark =
        |picture: &mut Picture, outcome: &Outcome, side: fn(&(Option<_>, Option<_>)) -> Option<jiff::Timestamp>| {
            let zero = outcome.zeros.first().copied().unwrap_or(outcome.start);
            for (why, difference) in told {
                let Some(at) = side(&difference.at) else { continue };
                let (kind, key) = difference.object.split_once('/').unwrap_or_default();
                let name = key.rsplit('/').next().unwrap_or(key);
                let why = why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
                let text = format!("{}: sim {:?}, {other} {:?}{why}", difference.path, difference.sim, difference.real);
                picture.mark_difference(&format!("{kind} {name}"), at.duration_since(zero).as_secs_f64(), text);
            }
        };
    mark(&mut own, sim, |at| at.0);
    mark(&mut theirs, real, |at| at.1);
    let range = (own.range.0.min(theirs.range.0), own.range.1.max(theirs.range.1));
    (own.range, theirs.range) = (range, range);
    vec![("sim".to_owned(), own), (other.to_owned(), theirs)]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::compare::finding::{Compared, Steadiness};
    use crate::compare::{Tolerances, differences};
    use crate::harness::{EntryPoint, Suite, SuiteOptions, SuitePaths, Verdict, run};
    use crate::picture::MarkKind;

    /// A run of one release stands for the real side: its grace period is 10 s longer.
    #[test]
    fn both_sides_stand_above_each_other_and_what_differs_is_marked_at_its_instant() {
        let suite = Suite::load(&SuitePaths::of_tree(Path::new(env!("CARGO_MANIFEST_DIR"))));
        let id = "health::unreachable::silence_of_any_kind_counts_silence::the_kubelet_on_worker_1_stops";
        let planned = suite.planned.iter().find(|own| own.compiled.id == id).expect(id);
        let outcome = |release: &str| {
            let options = SuiteOptions { release: release.parse().unwrap(), ..SuiteOptions::default() };
            run(planned, &options, &suite, EntryPoint::Command).outcome.unwrap()
        };
        let (sim, real) = (outcome("1.31"), outcome("1.34"));
        let exact = Tolerances { loops: Vec::new(), ..Tolerances::default() };
        let found = differences(&sim, &real, &exact);
        let told: ExplainedDifferences = found.into_iter().map(|own| (None, own)).collect();
        let pictures = sides(planned, (&sim, &real), ("hollow", "1.34".parse().unwrap()), &told);
        let [(one, own), (other, theirs)] = &pictures[..] else { panic!("two sides: {pictures:?}") };
        assert_eq!((one.as_str(), other.as_str(), own.range), ("sim", "hollow", theirs.range));
        let marks = |picture: &Picture| -> Vec<(String, f64)> {
            let lane = picture.lanes.iter().flat_map(|lane| lane.marks.iter().map(move |mark| (&lane.name, mark)));
            lane.filter(|(_, mark)| mark.kind == MarkKind::Difference)
                .map(|(name, mark)| (name.clone(), mark.at))
                .collect()
        };
        let wanted = |outcome: &Outcome, side: fn(&(Option<_>, Option<_>)) -> Option<jiff::Timestamp>| -> usize {
            told.iter().filter_map(|(_, own)| side(&own.at)).filter(|at| *at >= outcome.start).count()
        };
        let (here, there) = (marks(own), marks(theirs));
        assert!(here.len() == wanted(&sim, |at| at.0) && there.len() == wanted(&real, |at| at.1), "{here:?} {there:?}");
        // The Node became Unknown, and both sides say when.
        let unknown = |outcome: &Outcome, marks: &[(String, f64)]| {
            let zero = outcome.zeros[0];
            let nodes = outcome.histories.to_vec();
            let node =
                nodes.iter().find(|own| own.object.kind == "Node" && *own.object.key.name == *"worker-1").unwrap();
            let own = node.entries.iter().find(|entry| entry.changed.iter().any(|(_, text)| text.contains("Unknown")));
            let at = own.unwrap().at.duration_since(zero).as_secs_f64();
            let lane = format!("Node {}", node.object.key.name);
            assert!(marks.iter().any(|mark| *mark == (lane.clone(), at)), "{lane} {at}: {marks:?}");
            at
        };
        assert!(unknown(&real, &there) - unknown(&sim, &here) > 5.0);

        let mut page = ComparedPage::new(Path::new("unused"));
        let wall_time = std::time::Duration::ZERO;
        let (sim, real, steadiness) = (Verdict::Passed, Verdict::Failed, Steadiness::AsSeen);
        page.add("a::b", &Finding::Compared(Compared { sim, real, wall_time, told, steadiness, pictures }));
        let html = crate::picture::page(&page.page);
        assert_eq!(html.matches("<svg").count(), 2);
        assert!(html.find("<h2>sim</h2>").unwrap() < html.find("<h2>hollow</h2>").unwrap());
        assert_eq!(html.matches("class=\"differs\"").count(), here.len() + there.len());
    }
}
