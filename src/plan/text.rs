//! An answer as text for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::SignedDuration;

use super::answer::{Answer, Moment, NodeLine, Sum, WorkloadLine, shown};
use super::question::{How, LeftOut};
use super::unready::Stuck;

/// How many lines the table of nodes has before the middle is left out.
pub(super) const LINES: usize = 20;

/// Prints an answer.
#[must_use]
pub fn text(answer: &Answer) -> String {
    let mut text = String::new();
    let (nodes, zones, pods) = answer.cluster;
    let _ = writeln!(
        text,
        "Kubernetes {}: {} in {}, {} ready. For {}{}, {} of the nodes {} {}.\n",
        answer.k8s,
        number(nodes, "node"),
        number(zones, "zone"),
        number(pods, "Pod"),
        length(answer.lasts),
        if answer.how == How::Upgrade { " at most" } else { "" },
        answer.lost.len(),
        if answer.lost.len() == 1 { "is" } else { "are" },
        answer.how,
    );
    text += &stuck("Not ready before anything was lost", &answer.unready);
    if !answer.unready.is_empty() {
        text.push('\n');
    }
    for moment in &answer.moments {
        let _ = writeln!(text, "  {:<22} {}", when(moment), line(moment));
        if !moment.why.is_empty() {
            let _ = writeln!(text, "  {:<22}     {}", "", moment.why);
        }
    }
    let _ = writeln!(text, "\n{}", sums(answer));
    let columns = if answer.how.is_maintenance() { &MAINTAINED } else { &LOST };
    let width = |of: fn(&NodeLine) -> usize, least| answer.nodes.iter().map(of).max().unwrap_or(0).max(least);
    let widths = (width(|line| line.name.len(), 15), width(|line| line.zone.len(), 10));
    let shown_lines =
        |lines: &[NodeLine]| lines.iter().map(|line| node(line, columns, widths) + "\n").collect::<String>();
    let (name, zone) = widths;
    let heads: String = columns.iter().map(|(head, _)| format!("{head:<12}")).collect();
    let _ = writeln!(text, "  {:<name$} {:<zone$} {heads}Pods  deleted", "node", "zone");
    if answer.nodes.len() <= LINES {
        text += &shown_lines(&answer.nodes);
    } else {
        let (head, tail) = (LINES - 4, answer.nodes.len() - 3);
        text += &shown_lines(&answer.nodes[..head]);
        let _ = writeln!(text, "  … {} more; --json has all", tail - head);
        text += &shown_lines(&answer.nodes[tail..]);
    }
    text += &readiness(&answer.workloads);
    if !answer.stuck.is_empty() {
        text.push('\n');
    }
    text + &stuck(&format!("Stuck when {}", end(answer)), &answer.stuck) + &left_out(answer.left_out.iter())
}

/// Prints what is stuck, or not ready.
fn stuck(heading: &str, all: &[Stuck]) -> String {
    let mut text = if all.is_empty() { String::new() } else { format!("{heading}:\n") };
    for stuck in all {
        let names: Vec<&str> = stuck.names.iter().map(|name| &**name).collect();
        let more = if stuck.count > names.len() { ", …" } else { "" };
        let what = number(stuck.count, stuck.subject);
        let _ = writeln!(text, "  {what} {}: {}{more}", stuck.what, names.join(", "));
        if !stuck.why.is_empty() {
            let _ = writeln!(text, "      {}", stuck.why);
        }
    }
    text
}

/// How many names stand behind what is left out.
const NAMES: usize = 8;

/// Prints what is left out, each once.
pub(super) fn left_out<'a>(all: impl Iterator<Item = &'a LeftOut>) -> String {
    let all: BTreeSet<&LeftOut> = all.collect();
    let mut text = String::new();
    for left in &all {
        let heading = if text.is_empty() { "\nNot in the answer:\n" } else { "" };
        let _ = write!(text, "{heading}  {}", left.what);
        let names: Vec<&str> = left.names.iter().take(NAMES).map(|name| &**name).collect();
        let more = left.names.len() - names.len();
        let more = if more > 0 { format!(" and {more} more; --json has all") } else { String::new() };
        let _ = match names.is_empty() {
            true => writeln!(text),
            false => writeln!(text, "\n      {}{more}", names.join(", ")),
        };
    }
    text
}

fn when(moment: &Moment) -> String {
    range(moment.first, moment.last)
}

pub(super) fn range(first: SignedDuration, last: SignedDuration) -> String {
    if shown(first) == shown(last) { shown(first) } else { format!("{} … {}", shown(first), shown(last)) }
}

fn line(moment: &Moment) -> String {
    let whose = match (moment.subject, moment.count) {
        ("", _) => String::new(),
        (subject, 1) => format!("{subject} {} ", moment.names.first().map_or("", |name| name)),
        (subject, count) => number(count, subject) + " ",
    };
    let zone = if moment.zone.is_empty() { String::new() } else { format!(" ({})", moment.zone) };
    let pace = pace(moment).map(|pace| format!(", one each {pace}")).unwrap_or_default();
    format!("{whose}{}{zone}{pace}", moment.what)
}

/// Tells how far apart equal things were, where that is more than a second and the same all the time.
fn pace(moment: &Moment) -> Option<String> {
    let gaps = i32::try_from(moment.count).ok()?.checked_sub(1).filter(|gaps| *gaps > 1)?;
    let (least, most) = moment.gaps?;
    let gap = (moment.last - moment.first) / gaps;
    (gap >= SignedDuration::from_secs(1) && most - least <= gap / 5)
        .then(|| length(SignedDuration::from_secs((gap.as_millis_f64() / 1000.0).round() as i64)))
}

/// Says what ended the loss.
const fn end(answer: &Answer) -> &'static str {
    match answer.how {
        How::Drain => "the nodes were uncordoned",
        How::Upgrade => "this ended",
        _ => "the nodes came back",
    }
}

fn sums(answer: &Answer) -> String {
    let span = |sum: &Sum| sum.span().map_or_else(String::new, |(first, last)| format!(" ({})", range(first, last)));
    format!(
        "Of {} on {} nodes {} deleted{}, {} gone{} before {}; {} ready in their place{}.\n",
        number(answer.affected, "Pod"),
        if answer.how.is_maintenance() { "these" } else { "lost" },
        answer.deleted.count(),
        span(&answer.deleted),
        answer.gone.count(),
        span(&answer.gone),
        end(answer),
        number(answer.replaced.count(), "Pod"),
        span(&answer.replaced),
    )
}

/// The columns of instants of a table of nodes, each with its head.
type Columns = [(&'static str, fn(&NodeLine) -> Option<SignedDuration>); 3];
const LOST: Columns =
    [("not ready", |line| line.not_ready), ("NoExecute", |line| line.tainted), ("ready again", |line| line.ready)];
const MAINTAINED: Columns =
    [("cordoned", |line| line.cordoned), ("drained", |line| line.drained), ("uncordoned", |line| line.uncordoned)];

fn node(line: &NodeLine, columns: &Columns, (name, zone): (usize, usize)) -> String {
    let at = |at: Option<SignedDuration>| at.map_or_else(|| String::from("-"), shown);
    let instants: String = columns.iter().map(|(_, of)| format!("{:<12}", at(of(line)))).collect();
    let deleted = match line.deleted.span() {
        Some((first, last)) => format!("{} {}", line.deleted.count(), range(first, last)),
        None => String::from("0"),
    };
    format!("  {:<name$} {:<zone$} {instants}{:<5} {deleted}", line.name.as_str(), line.zone.as_str(), line.pods)
}

/// Names a workload: `Deployment web`, with its namespace unless that is the default.
pub(super) fn workload(line: &WorkloadLine) -> String {
    let (kind, namespace, name) = &line.workload;
    if namespace == "default" { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") }
}

/// Prints how many Pods of each workload were ready, where they became fewer.
fn readiness(all: &[WorkloadLine]) -> String {
    let fell: Vec<(&WorkloadLine, usize, SignedDuration)> =
        all.iter().filter_map(|line| line.least.map(|(least, at)| (line, least, at))).collect();
    let mut text = if fell.is_empty() { String::new() } else { String::from("\nReady Pods:\n") };
    for (line, least, at) in fell.iter().take(LINES) {
        let workload = workload(line);
        let again = match line.whole {
            Some(whole) => format!("{} again at {}", line.before, shown(whole)),
            None => format!("never {} again", line.before),
        };
        let _ = writeln!(text, "  {workload}: {}, down to {least} at {}, {again}", line.before, shown(*at));
    }
    if fell.len() > LINES {
        let _ = writeln!(text, "  … {} more; --json has all", fell.len() - LINES);
    }
    text
}

fn number(count: usize, subject: &str) -> String {
    format!("{count} {subject}{}", if count == 1 { "" } else { "s" })
}

/// Prints a length of time: `90s`, `20m`, `1h30m`.
#[must_use]
pub fn length(length: SignedDuration) -> String {
    let secs = length.as_secs();
    match (secs / 3600, secs / 60 % 60, secs % 60) {
        (0, 0, secs) => format!("{secs}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (0, minutes, secs) => format!("{minutes}m{secs}s"),
        (hours, 0, 0) => format!("{hours}h"),
        (hours, minutes, _) => format!("{hours}h{minutes}m"),
    }
}
