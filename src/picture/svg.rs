//! Draws a picture as SVG: labels on the left, time to the right, what was expected below.
//!
//! Colours are custom properties with a light and a dark value; where the picture stands in a page, the page's apply.

use std::fmt::Write as _;

use super::timeline::{Bar, FaultPeriod, Lane, LaneRow, MarkKind, Picture, Span, Tone};
use nodeproof_core::scenario::Verdict;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 20.0;
const ROW: f64 = 20.0;
const AGE_ROW: f64 = 40.0;
/// How wide a letter is at most.
const LETTER: f64 = 8.0;
/// How long a label may be, in characters.
const LABEL: usize = 30;

const STYLE: &str = include_str!("style.css");

/// Draws the picture.
#[must_use]
pub fn svg(picture: &Picture) -> String {
    let mut drawing = Drawing { out: String::new(), y: 0.0, range: picture.range };
    drawing.acts(picture);
    if !picture.faults.is_empty() {
        drawing.heading("Broken on purpose");
        picture.faults.iter().for_each(|fault| drawing.broken(fault));
    }
    for lane in &picture.lanes {
        drawing.lane(lane);
    }
    if !picture.bars.is_empty() {
        drawing.heading("What was expected");
    }
    for bar in &picture.bars {
        drawing.bar(bar);
    }
    let height = drawing.y + 26.0;
    let axis = drawing.axis(height);
    let faults: String = picture.faults.iter().map(|fault| drawing.shade(fault, height - 20.0)).collect();
    let zeros: String = picture.acts.iter().map(|(at, _)| drawing.upright("act", *at, height - 20.0)).collect();
    format!(
        "<svg class=\"np\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
         data-from=\"{:.3}\" data-to=\"{:.3}\" data-left=\"{LEFT}\" data-right=\"{}\"><title>{}</title>\
         <style>{STYLE}</style><rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"var(--paper)\"/>\
         {faults}{axis}{zeros}{}<line class=\"instant\" x1=\"0\" x2=\"0\" y1=\"0\" y2=\"{height:.0}\"/></svg>",
        picture.range.0,
        picture.range.1,
        WIDTH - RIGHT,
        escaped(&picture.title),
        drawing.out,
    )
}

struct Drawing {
    out: String,
    y: f64,
    range: (f64, f64),
}

impl Drawing {
    fn x(&self, at: f64) -> f64 {
        let (from, to) = self.range;
        LEFT + (at.clamp(from, to) - from) / (to - from) * (WIDTH - LEFT - RIGHT)
    }

    fn acts(&mut self, picture: &Picture) {
        for (at, what) in &picture.acts {
            self.y += 18.0;
            let text = format!("{} {}", shown(*at), what);
            self.text(LEFT, self.y, "name", &cut(&text, 110));
        }
        self.y += 8.0;
    }

    fn heading(&mut self, name: &str) {
        self.y += 24.0;
        self.text(8.0, self.y, "name", &cut(name, 60));
        self.y += 6.0;
    }

    fn lane(&mut self, lane: &Lane) {
        self.heading(&lane.name);
        let y = self.y - 10.0;
        for mark in lane.marks.iter().filter(|mark| mark.at >= self.range.0) {
            let x = self.x(mark.at);
            let (class, shape) = match mark.kind {
                MarkKind::Decision => ("decision", "l4 8h-8z"),
                MarkKind::Write => ("write", "l4 8h-8z"),
                MarkKind::Difference => ("differs", "l6 5l-6 5l-6 -5z"),
            };
            let _ = write!(
                self.out,
                "<path class=\"{class}\" d=\"M{x:.1} {:.1}{shape}\" data-at=\"{:.3}\" data-lane=\"{}\"><title>{} {}\
                 </title></path>",
                y - 2.0,
                mark.at,
                escaped(&lane.name),
                shown(mark.at),
                escaped(&cut(&mark.text, 400)),
            );
        }
        for row in &lane.rows {
            self.row(&lane.name, row);
        }
    }

    fn row(&mut self, lane: &str, row: &LaneRow) {
        let height = if row.renewals.is_some() { AGE_ROW } else { ROW };
        self.text(20.0, self.y + height / 2.0 + 4.0, "dim", &cut(&row.name, LABEL));
        for span in &row.spans {
            self.span(lane, &row.name, span);
        }
        if let Some((renewals, grace)) = &row.renewals {
            self.age(renewals, *grace);
        }
        self.y += height;
    }

    fn span(&mut self, lane: &str, row: &str, span: &Span) {
        let (from, to) = (self.x(span.from), self.x(span.to));
        let class = match span.tone {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Unknown => "unknown",
            Tone::Plain => "plain",
        };
        let width = (to - from).max(1.5);
        let since = if span.from < self.range.0 { String::from("before") } else { shown(span.from) };
        let _ = write!(
            self.out,
            "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"16\" rx=\"2\" \
             data-from=\"{:.3}\" data-to=\"{:.3}\" data-lane=\"{}\" data-row=\"{}\" data-state=\"{}\">\
             <title>{} from {since} to {}</title></rect>",
            self.y + 2.0,
            span.from.max(-1e9),
            span.to,
            escaped(lane),
            escaped(row),
            escaped(&span.text),
            escaped(&span.text),
            shown(span.to),
        );
        let fits = span.text.chars().count() as f64 * 7.0 < width - 8.0;
        if fits {
            self.text(from + 5.0, self.y + 14.0, "in", &span.text);
        }
    }

    /// Draws how old the Lease was, and the grace period that its age must not reach.
    fn age(&mut self, renewals: &[f64], grace: f64) {
        let top = grace * 1.25;
        let bottom = self.y + AGE_ROW - 4.0;
        let y = |age: f64| bottom - (age / top).min(1.0) * (AGE_ROW - 8.0);
        let mut path = String::new();
        let ends = renewals.iter().skip(1).copied().chain([self.range.1]);
        for (at, next) in renewals.iter().zip(ends).filter(|(_, next)| *next > self.range.0) {
            let from = at.max(self.range.0);
            let sign = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{sign}{:.1} {:.1}", self.x(from), y(from - at));
            // From the top of the row on the age is cut off.
            let cut = (at + top).min(next);
            let _ = write!(path, "L{:.1} {:.1}L{:.1} {:.1}", self.x(cut), y(cut - at), self.x(next), y(next - at));
        }
        let (left, right, line) = (LEFT, WIDTH - RIGHT, y(grace));
        let _ = write!(
            self.out,
            "<path class=\"age\" d=\"{path}\"/><line class=\"grace\" x1=\"{left}\" x2=\"{right}\" y1=\"{line:.1}\" \
             y2=\"{line:.1}\"><title>grace period {}</title></line>",
            shown(grace).trim_start_matches('+'),
        );
    }

    fn bar(&mut self, bar: &Bar) {
        let class = match bar.verdict {
            Verdict::Passed => "good",
            Verdict::Failed => "bad",
            Verdict::Unsupported | Verdict::Inconclusive => "unknown",
        };
        self.text(20.0, self.y + 13.0, "", &cut(&bar.text, 140));
        let (from, to) = (self.x(bar.bound.0), self.x(bar.bound.1));
        let _ = write!(
            self.out,
            "<rect class=\"bound\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"10\" rx=\"2\">\
             <title>{} to {}: {}</title></rect><circle class=\"{class}\" cx=\"10\" cy=\"{:.1}\" r=\"4\"/>",
            self.y + 18.0,
            (to - from).max(3.0),
            shown(bar.bound.0),
            shown(bar.bound.1),
            escaped(&cut(&bar.observed, 300)),
            self.y + 9.0,
        );
        if let Some(seen) = bar.seen {
            let x = self.x(seen);
            let _ = write!(
                self.out,
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"3\" height=\"14\"><title>seen at {}\
                 </title></rect>",
                x - 1.5,
                self.y + 16.0,
                shown(seen),
            );
        }
        let observed = if bar.observed.is_empty() { String::from("held") } else { cut(&bar.observed, 26) };
        self.text(20.0, self.y + 27.0, "dim", &observed);
        self.y += 36.0;
    }

    fn axis(&self, height: f64) -> String {
        let (from, to) = self.range;
        let step = STEPS.into_iter().find(|step| (to - from) / step <= 10.0).unwrap_or(86_400.0);
        let mut text = String::new();
        let mut at = 0.0;
        while at <= to {
            text += &self.upright("tick", at, height - 20.0);
            let (x, y, words) = (self.x(at), height - 6.0, shown(at));
            let half = LETTER / 2.0 * words.chars().count() as f64;
            // The last label would be cut at the edge.
            let (x, anchor) = if x + half > WIDTH { (WIDTH - 2.0, "end") } else { (x, "middle") };
            let _ =
                write!(text, "<text class=\"dim\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
            at += step;
        }
        text
    }

    /// Draws the period of a fault as a row: what is broken is said in the row, where nothing else is.
    fn broken(&mut self, fault: &FaultPeriod) {
        let FaultPeriod { from, to, whose, what } = fault;
        self.text(20.0, self.y + 14.0, "dim", &cut(whose, LABEL));
        let (left, right) = (self.x(*from), self.x(*to));
        let since = if *from < self.range.0 { String::from("before") } else { shown(*from) };
        let of = if whose.is_empty() { String::new() } else { format!("{whose}: ") };
        let _ = write!(
            self.out,
            "<rect class=\"broken\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"16\" rx=\"2\"><title>{} from \
             {since} to {}</title></rect>",
            self.y + 2.0,
            (right - left).max(2.0),
            escaped(&(of + what)),
            shown(*to),
        );
        let room = WIDTH - RIGHT - LETTER * what.chars().count() as f64;
        self.text((left + 5.0).min(room), self.y + 14.0, "dim", what);
        self.y += ROW;
    }

    /// Shades the period of a fault in all rows.
    fn shade(&self, fault: &FaultPeriod, height: f64) -> String {
        let (left, right) = (self.x(fault.from), self.x(fault.to));
        let width = (right - left).max(1.0);
        format!("<rect class=\"fault\" x=\"{left:.1}\" y=\"4\" width=\"{width:.1}\" height=\"{:.1}\"/>", height - 4.0)
    }

    fn upright(&self, class: &str, at: f64, height: f64) -> String {
        let x = self.x(at);
        format!("<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"4\" y2=\"{height:.1}\"/>")
    }

    fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let _ = write!(self.out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
    }
}

/// Distances of ticks, in seconds.
const STEPS: [f64; 15] =
    [0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 21_600.0];

/// Prints an instant: `+46.3s`, `+5m46s`, `+1h02m`.
pub(super) fn shown(at: f64) -> String {
    let sign = if at < 0.0 { '-' } else { '+' };
    let tenths = (at.abs() * 10.0).round() / 10.0;
    let whole = tenths as u64;
    match whole {
        0..60 if tenths.fract() == 0.0 => format!("{sign}{whole}s"),
        0..60 => format!("{sign}{tenths:.1}s"),
        60..3600 => format!("{sign}{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{sign}{}h{:02}m", whole / 3600, whole / 60 % 60),
    }
}

/// Shortens a text to so many characters.
fn cut(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    text.chars().take(length - 1).chain(['…']).collect()
}

/// Escapes a text for XML; characters that XML cannot hold become blanks.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for own in text.chars() {
        match own {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            own if u32::from(own) < 0x20 || matches!(own, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            own => escaped.push(own),
        }
    }
    escaped
}
