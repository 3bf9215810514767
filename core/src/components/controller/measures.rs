//! What controllers measure, as they show it at `/metrics`.
//!
//! Inputs: what a controller counts. Outputs: numbers with names and labels; the control interface writes them as text.

use alloc::vec::Vec;

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

#[cfg(test)]
mod tests {
    use super::Histogram;

    #[test]
    fn a_value_counts_in_each_range_that_holds_it() {
        let mut tries = Histogram::new(&[1.0, 5.0]);
        for value in [0.0, 1.0, 5.0, 6.0] {
            tries.add(value);
        }
        assert_eq!((tries.counts, tries.count, tries.sum.to_bits()), ([2, 3].into(), 4, 12.0_f64.to_bits()));
    }
}
