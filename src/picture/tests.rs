//! Pictures of runs: what they show, and that text from elsewhere stays text.

use std::path::Path;

use nodeproof_core::profile::DEFAULT_RELEASE;
use nodeproof_core::scenario::Verdict;

use super::{Bar, FaultPeriod, Lane, LaneRow, Page, Picture, Shown, Span, Tone, page, picture_of, svg};
use crate::harness::{EntryPoint, Suite, SuiteOptions, SuitePaths, run};

fn picture(title: &str) -> Picture {
    let span = |from, to, text: &str, tone| Span { from, to, text: text.to_owned(), tone };
    let ready = vec![span(f64::NEG_INFINITY, 50.0, "True", Tone::Good), span(50.0, 100.0, "Unknown", Tone::Unknown)];
    let lane = Lane {
        name: "Node worker-1".to_owned(),
        rows: vec![
            LaneRow { name: "Ready".to_owned(), spans: ready, renewals: None },
            LaneRow { name: "age of the Lease".to_owned(), spans: Vec::new(), renewals: Some((vec![-3.0, 7.0], 50.0)) },
        ],
        marks: Vec::new(),
    };
    let bar = Bar {
        text: "Then it becomes Unknown within 40s".to_owned(),
        place: "a.feature:5".to_owned(),
        bound: (0.0, 40.0),
        seen: Some(50.0),
        observed: "True until +50s, then Unknown".to_owned(),
        verdict: Verdict::Failed,
        slack: None,
    };
    let acts = vec![(0.0, "When it is killed".to_owned())];
    Picture {
        title: title.to_owned(),
        range: (-2.0, 100.0),
        acts,
        faults: vec![FaultPeriod { from: 0.0, to: 60.0, whose: "w".to_owned(), what: "off".to_owned() }],
        lanes: vec![lane],
        bars: vec![bar],
        objects: Vec::new(),
    }
}

fn shown(name: &str, is_failure: bool) -> Shown {
    let verdict = if is_failure { "failed" } else { "passed" };
    Shown {
        name: name.to_owned(),
        verdict,
        is_failure,
        text: String::new(),
        pictures: vec![(String::new(), picture(name))],
        ..Shown::default()
    }
}

#[test]
fn a_picture_has_a_place_for_each_state_bound_and_instant() {
    let drawn = svg(&picture("p"));
    // 790 units are 102 s: +50s is at 190 + 52 / 102 * 790.
    assert!(drawn.contains(r#"<rect class="unknown" x="592.7""#), "{drawn}");
    assert!(drawn.contains("<title>Unknown from +50s to +1m40s</title>"), "{drawn}");
    assert!(drawn.contains(r#"<rect class="bound" x="205.5""#) && drawn.contains("seen at +50s"), "{drawn}");
    assert!(drawn.contains("grace period 50s"), "{drawn}");
    assert!(drawn.contains("<title>w: off from +0s to +1m00s</title>"), "{drawn}");
}

#[test]
fn text_from_elsewhere_stays_text() {
    let evil = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)> \"'\u{1}";
    let mut one = shown(evil, true);
    one.text = evil.to_owned();
    let html = page(&Page { about: evil.to_owned(), problems: vec![evil.to_owned()], scenarios: vec![one] });
    assert!(!html.contains("<img") && !html.contains("<script>alert"), "{html}");
    assert_eq!(html.matches("<script>").count(), 1);
    let drawn = svg(&picture(evil));
    assert!(!drawn.contains("<img") && !drawn.contains("<script") && !drawn.contains('\u{1}'), "{drawn}");
}

#[test]
fn what_failed_comes_first_and_the_page_has_a_limit() {
    let mut scenarios: Vec<Shown> = (0..2000).map(|at| shown(&format!("passed {at}"), false)).collect();
    scenarios.push(shown("the one that failed", true));
    let html = page(&Page { scenarios, ..Page::default() });
    assert!(html.len() < 2_000_000, "{}", html.len());
    let (failed, passed) = (html.find("the one that failed").unwrap(), html.find("passed 0").unwrap());
    assert!(failed < passed && html.contains("stand here without their picture"));
    assert!(html.contains("passed 1999"));
}

#[test]
fn what_is_gone_has_no_state() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let suite = Suite::load(&SuitePaths {
        features: vec![root.join("features/eviction/partition.feature")],
        ..SuitePaths::of_tree(root)
    });
    let planned = suite.planned.iter().find(|own| own.name.ends_with("has_the_grace_period_of_its_pod")).unwrap();
    let judged = run(planned, &SuiteOptions::default(), &suite, EntryPoint::Command);
    let picture = picture_of("p", planned, &judged.outcome.unwrap(), DEFAULT_RELEASE).unwrap();
    let pod = picture.lanes.iter().find(|lane| lane.name == "Pod web").unwrap();
    let gone = pod.rows.iter().find(|row| row.name == "object").unwrap().spans[0].to;
    assert!(gone < picture.range.1);
    for row in &pod.rows {
        assert!(row.spans.iter().all(|span| span.to <= gone), "{}", row.name);
    }
}
