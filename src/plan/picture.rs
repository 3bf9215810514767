//! The answer as a picture: a lane for each zone, with a row for the state of each Node that was lost, and one for what
//! happened to Pods.

use jiff::SignedDuration;

use super::answer::{Answer, Moment, NodeLine, Sum};
use crate::picture::{FaultPeriod, Lane, LaneRow, Mark, MarkKind, Picture, Span, Tone};

/// How many Nodes of a zone have rows at most.
const NODES_MAX: usize = 12;

/// Makes the picture.
#[must_use]
pub fn picture(answer: &Answer) -> Picture {
    let secs = |at: SignedDuration| at.as_secs_f64();
    let (back, end) = (secs(answer.lasts), secs(answer.ended.max(answer.lasts)).max(1.0));
    let before = (end / 40.0).max(0.5);
    let end = end + before / 2.0;
    let mut zones: Vec<&str> = answer.nodes.iter().map(|node| node.zone.as_str()).collect();
    zones.sort_unstable();
    zones.dedup();
    let mut lanes: Vec<Lane> = zones.iter().map(|zone| zone_lane(answer, zone, (back, end))).collect();
    lanes.push(pods(answer, end));
    let count = answer.lost.len();
    let nodes = if count == 1 { "1 Node".to_owned() } else { format!("{count} Nodes") };
    let acts = vec![(0.0, format!("{nodes}: {}", answer.how)), (back, format!("{nodes}: {}", answer.how.words().1))];
    Picture {
        title: format!("Kubernetes {}: {nodes} of {} {}", answer.k8s, answer.cluster.0, answer.how),
        range: (-before, end + before / 2.0),
        acts,
        faults: vec![FaultPeriod { from: 0.0, to: back, whose: String::new(), what: answer.how.to_string() }],
        lanes,
        bars: Vec::new(),
        objects: Vec::new(),
    }
}

fn zone_lane(answer: &Answer, zone: &str, (back, end): (f64, f64)) -> Lane {
    let own: Vec<&NodeLine> = answer.nodes.iter().filter(|node| node.zone == *zone).collect();
    let mut rows: Vec<LaneRow> = own.iter().take(NODES_MAX).flat_map(|node| node_rows(node, back, end)).collect();
    if own.len() > NODES_MAX {
        let spans = Vec::new();
        rows.push(LaneRow { name: format!("and {} more", own.len() - NODES_MAX), spans, renewals: None });
    }
    let marks = answer.moments.iter().filter(|moment| moment.zone == *zone && moment.subject != "Pod").flat_map(marks);
    let name = if zone.is_empty() { "Nodes".to_owned() } else { format!("Nodes of {zone}") };
    Lane { name, rows, marks: marks.collect() }
}

fn node_rows(node: &NodeLine, back: f64, end: f64) -> Vec<LaneRow> {
    let secs = |at: SignedDuration| at.as_secs_f64();
    let span = |from: f64, to: f64, text: &str, tone| Span { from, to, text: text.to_owned(), tone };
    let ready = node.ready.map_or(end, secs);
    let mut states = Vec::new();
    match node.not_ready.map(secs) {
        None => states.push(span(f64::NEG_INFINITY, end, "True", Tone::Good)),
        Some(at) => {
            let tone = if node.status == "Unknown" { Tone::Unknown } else { Tone::Bad };
            states.push(span(f64::NEG_INFINITY, at, "True", Tone::Good));
            states.push(span(at, ready.max(at), &node.status, tone));
            if ready < end {
                states.push(span(ready, end, "True", Tone::Good));
            }
        }
    }
    let mut rows = vec![LaneRow { name: format!("{} Ready", node.name), spans: states, renewals: None }];
    if let Some(at) = node.tainted.map(secs) {
        let gone = node.untainted.map_or(end, secs);
        let spans = vec![span(at, gone.max(at), "NoExecute", Tone::Bad)];
        rows.push(LaneRow { name: format!("{} taint", node.name), spans, renewals: None });
    }
    if let Some(at) = node.cordoned.map(secs) {
        let until = node.uncordoned.map_or(end, secs);
        let spans = vec![span(at, until.max(at), "cordoned", Tone::Unknown)];
        rows.push(LaneRow { name: format!("{} cordoned", node.name), spans, renewals: None });
    }
    if let Some((_, last)) = node.deleted.span() {
        let until = secs(last).max(back.min(end));
        let spans = counted(&node.deleted, &format!("{} Pods", node.pods), (until, end), Tone::Plain);
        rows.push(LaneRow { name: format!("{} deleted", node.name), spans, renewals: None });
    }
    rows
}

/// How many steps of a growing number are told apart at most: more are too narrow to be seen.
const STEPS_MAX: f64 = 300.0;

/// Makes a span for each number of Pods, until the last of them ends.
fn counted(sum: &Sum, of: &str, (until, end): (f64, f64), tone: Tone) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (at, before) in sum.instants.iter().map(|at| at.as_secs_f64()).zip(0_usize..) {
        let text = format!("{} of {of}", before + 1);
        match spans.last_mut() {
            Some(last) if at - last.from < end / STEPS_MAX => last.text = text,
            last => {
                last.into_iter().for_each(|last| last.to = at);
                spans.push(Span { from: at, to: until, text, tone });
            }
        }
    }
    spans
}

fn pods(answer: &Answer, end: f64) -> Lane {
    let sums = [
        ("deleted", &answer.deleted, Tone::Bad),
        ("gone", &answer.gone, Tone::Plain),
        ("replaced", &answer.replaced, Tone::Good),
    ];
    let row = |(name, sum, tone): (&str, &Sum, Tone)| {
        let spans = counted(sum, &answer.affected.to_string(), (end, end), tone);
        (!spans.is_empty()).then(|| LaneRow { name: name.to_owned(), spans, renewals: None })
    };
    let marks = answer.moments.iter().filter(|moment| moment.subject == "Pod").flat_map(marks);
    Lane {
        name: "Pods of lost Nodes".to_owned(),
        rows: sums.into_iter().filter_map(row).collect(),
        marks: marks.collect(),
    }
}

fn marks(moment: &Moment) -> Vec<Mark> {
    let names: Vec<&str> = moment.names.iter().map(|name| name.as_str()).collect();
    let more = if moment.count > names.len() { ", …" } else { "" };
    let text = format!("{} {}: {}{more} {}", moment.count, moment.what, names.join(", "), moment.why);
    let mark = |at: SignedDuration| Mark { at: at.as_secs_f64(), text: text.clone(), kind: MarkKind::Decision };
    if moment.last > moment.first { vec![mark(moment.first), mark(moment.last)] } else { vec![mark(moment.first)] }
}
