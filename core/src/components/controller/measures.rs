//! What controllers measure, as they show it at `/metrics`.
//!
//! Inputs: what a controller, or a kubelet, counts. Outputs: numbers with names and labels, and Prometheus' text.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::objects::Text;

/// A number under one name, with one value for each set of labels.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Its name.
    pub name: &'static str,
    /// What it says, as `# HELP` has it.
    pub help: &'static str,
    /// Whether Kubernetes promises to keep it.
    pub is_stable: bool,
    /// The values by their labels; without any the measure is not shown.
    pub values: Vec<(Vec<(&'static str, Text)>, MeasuredValue)>,
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum MeasuredValue {
    /// How often something happened.
    Counter(u64),
    /// How much there is of something now.
    Gauge(f64),
    /// How values are spread.
    Histogram(Histogram),
}

/// How values are spread over ranges, each up to and with its bound; what exceeds the last bound counts in the sum.
#[derive(Clone, PartialEq, Debug)]
pub struct Histogram {
    /// The bounds, ascending.
    pub bounds: &'static [f64],
    /// How many values were not above each bound.
    pub counts: Vec<u64>,
    /// The number of values.
    pub count: u64,
    /// The sum of the values.
    pub sum: f64,
}

impl Histogram {
    /// Returns one without values.
    #[must_use]
    pub fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: bounds.iter().map(|_| 0).collect(), count: 0, sum: 0.0 }
    }

    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        for (bound, count) in self.bounds.iter().zip(&mut self.counts) {
            *count += u64::from(value <= *bound);
        }
        self.count += 1;
        self.sum += value;
    }
}

/// Returns a gauge's value of a count.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of a cluster are far below what a float holds exactly")]
pub const fn gauge_of(count: usize) -> MeasuredValue {
    MeasuredValue::Gauge(count as f64)
}

impl Measure {
    /// Makes one of which there is so much now, by labels.
    #[must_use]
    pub fn gauge(name: &'static str, help: &'static str, values: Vec<(Vec<(&'static str, Text)>, usize)>) -> Self {
        let values = values.into_iter().map(|(labels, count)| (labels, gauge_of(count))).collect();
        Self { name, help, is_stable: false, values }
    }
}

/// Prometheus' text; nothing without values.
impl fmt::Display for Measure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, help, is_stable, values } = self;
        let Some((_, first)) = values.first() else { return Ok(()) };
        let kind = match first {
            MeasuredValue::Counter(_) => "counter",
            MeasuredValue::Gauge(_) => "gauge",
            MeasuredValue::Histogram(_) => "histogram",
        };
        let stability = if *is_stable { "STABLE" } else { "ALPHA" };
        writeln!(out, "# HELP {name} [{stability}] {help}\n# TYPE {name} {kind}")?;
        for (labels, value) in values {
            match value {
                MeasuredValue::Counter(count) => writeln!(out, "{name}{} {count}", braced(labels))?,
                MeasuredValue::Gauge(number) => writeln!(out, "{name}{} {}", braced(labels), go_float(*number))?,
                MeasuredValue::Histogram(spread) => write_histogram(out, name, labels, spread)?,
            }
        }
        Ok(())
    }
}

fn write_histogram(
    out: &mut fmt::Formatter<'_>,
    name: &str,
    labels: &[(&'static str, Text)],
    spread: &Histogram,
) -> fmt::Result {
    let bounds = spread.bounds.iter().map(|bound| go_float(*bound));
    let ranges = bounds.zip(spread.counts.iter().copied()).chain([("+Inf".to_string(), spread.count)]);
    for (bound, count) in ranges {
        let labels: Vec<_> = labels.iter().cloned().chain([("le", Text::from(bound))]).collect();
        writeln!(out, "{name}_bucket{} {count}", braced(&labels))?;
    }
    let labels = braced(labels);
    writeln!(out, "{name}_sum{labels} {}\n{name}_count{labels} {}", go_float(spread.sum), spread.count)
}

/// Writes labels as Prometheus' text has them.
fn braced(labels: &[(&'static str, Text)]) -> String {
    let each = labels.iter().map(|(label, value)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("{label}=\"{value}\"")
    });
    let labels: Vec<String> = each.collect();
    if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) }
}

/// Prints a number as Go prints a float: with an exponent from a million on, and below a ten-thousandth.
fn go_float(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Histogram, go_float};

    #[test]
    fn a_value_counts_in_each_range_that_holds_it() {
        let mut tries = Histogram::new(&[1.0, 5.0]);
        for value in [0.0, 1.0, 5.0, 6.0] {
            tries.add(value);
        }
        assert_eq!((tries.counts, tries.count, tries.sum.to_bits()), ([2, 3].into(), 4, 12.0_f64.to_bits()));
    }

    #[test]
    fn numbers_are_printed_as_go_prints_floats() {
        for (number, text) in [
            (0.0, "0"),
            (999_999.0, "999999"),
            (1_000_000.0, "1e+06"),
            (1_795_254_448.0, "1.795254448e+09"),
            (-7.0, "-7"),
            (0.003_906_25, "0.00390625"),
            (0.000_01, "1e-05"),
            (200.0 / 3.0, "66.66666666666667"),
        ] {
            assert_eq!(go_float(number), text);
        }
    }
}
