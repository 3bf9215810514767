//! Quantities of resources as Kubernetes' API prints them: `500m`, `16Gi`, `1e3`.
//!
//! Mirrors k8s.io/apimachinery pkg/api/resource/quantity.go (v1.34): a value keeps the format in which it was written,
//! and is printed in the largest unit of that format that loses nothing.
//! Invariant: the value is exact, in billionths, for everything between 1n and 8Ei.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::ops::{Add, Sub};

use super::Json;

/// Billionths in one.
const NANO: i128 = 1_000_000_000;
/// A number of so many digits fits 64 bits.
const U64_DIGITS: usize = 19;
/// The binary units, smallest first.
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/// The decimal units with their powers of ten, smallest first.
const DECIMAL: [(&str, u32); 9] =
    [("n", 0), ("u", 3), ("m", 6), ("", 9), ("k", 12), ("M", 15), ("G", 18), ("T", 21), ("P", 24)];

/// The way in which a quantity is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `1Ki`, powers of 1024.
    BinarySi,
    /// `1k`, powers of 1000.
    DecimalSi,
    /// `1e3`.
    DecimalExponent,
}

/// An amount of a resource.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

impl Quantity {
    /// Makes a whole number of units.
    #[must_use]
    pub const fn whole(value: i64, format: Format) -> Self {
        Self { nanos: value as i128 * NANO, format }
    }

    /// Makes a number of thousandths.
    #[must_use]
    pub const fn milli(value: i64) -> Self {
        Self { nanos: value as i128 * (NANO / 1000), format: Format::DecimalSi }
    }

    /// Reads a quantity; `None` for anything that Kubernetes refuses.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, whole, fraction, suffix) = parts(text);
        if whole.len() + fraction.len() == 0 || !(whole.bytes().chain(fraction.bytes())).all(|b| b.is_ascii_digit()) {
            return None;
        }
        let (numerator, denominator, format) = unit(suffix)?;
        let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let mantissa: i128 = if fraction.is_empty() && whole.len() <= U64_DIGITS {
            i128::from(whole.parse::<u64>().ok()?)
        } else {
            format!("{whole}{fraction}").parse().ok()?
        };
        let product = mantissa.checked_mul(numerator)?;
        // What is finer than a billionth is rounded up, as upstream does.
        let divisor = denominator.checked_mul(scale)?;
        let nanos = if divisor == 1 { product } else { product.checked_add(divisor - 1)? / divisor };
        Some(Self { nanos: if negative { -nanos } else { nanos }, format })
    }

    /// Reads a quantity, which Kubernetes allows as text and as number.
    #[must_use]
    pub fn from_json(value: &Json) -> Option<Self> {
        match value {
            Json::Str(text) => Self::parse(text),
            Json::Int(_) | Json::Float(_) => Self::parse(&value.to_string()),
            _ => None,
        }
    }

    /// Returns how a quantity is printed, also one that is too large for [`Quantity`]: a decimal one is then printed
    /// without its unit. `None` for anything that Kubernetes refuses.
    ///
    /// An exponent after a capital `E` is kept as it is written.
    #[must_use]
    pub fn canonical(text: &str) -> Option<String> {
        let number_end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
        let (number, suffix) = text.split_at(number_end);
        if let Some(quantity) = Self::parse(text) {
            let is_kept = suffix.len() > 1 && suffix.starts_with('E') && !suffix.ends_with('i');
            return Some(if is_kept { text.to_string() } else { quantity.to_string() });
        }
        let power: i32 = match suffix {
            "" => 0,
            exponent => exponent.strip_prefix(['e', 'E'])?.parse().ok().filter(|power| *power > 0)?,
        };
        let sign = if number.starts_with('-') { "-" } else { "" };
        let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let bare = digits.trim_start_matches('0').trim_end_matches('0');
        let zeros = i32::try_from(digits.len() - digits.trim_end_matches('0').len()).ok()?;
        let power = power.checked_add(zeros)?;
        let padding = "0".repeat(usize::try_from(power % 3).ok()?);
        let exponent = if suffix.is_empty() { String::new() } else { format!("e{}", power - power % 3) };
        Some(format!("{sign}{bare}{padding}{exponent}"))
    }

    /// Returns how Go prints the parts of a quantity, with `%#v`; one that was printed before has its text. `None` for
    /// what is no quantity, and for one that Go keeps as a large number, whose address it would print.
    ///
    /// Source: k8s.io/apimachinery pkg/api/resource/quantity.go (v1.31), `ParseQuantity`.
    #[must_use]
    pub fn in_go(text: &str, was_printed: bool) -> Option<String> {
        let (negative, whole, fraction, suffix) = parts(text);
        let bare = whole.trim_start_matches('0');
        let bare = if bare.is_empty() { "0" } else { bare };
        let shifted = format!("{bare}{fraction}");
        let (numerator, denominator, format) = unit(suffix)?;
        let (factor, scale, precision) = if format == Format::BinarySi {
            let power = (numerator / NANO).ilog2();
            let digits = usize::try_from(power * 3 / 10).ok()? + 1;
            (numerator / NANO, 0, 15_usize.checked_sub(digits).filter(|_| fraction.is_empty())?)
        } else {
            let up = i32::try_from(numerator.ilog10()).ok()? - 9;
            let down = i32::try_from(denominator.ilog10()).ok()?;
            (1, up - down - i32::try_from(fraction.len()).ok()?, 18)
        };
        if shifted.len() > precision || scale < -9 {
            return None;
        }
        let read: i64 = shifted.parse().ok()?;
        let value = read.checked_mul(i64::try_from(factor).ok()?)?;
        let value = if negative { -value } else { value };
        let is_kept = was_printed
            || text == "0"
            || match format {
                Format::BinarySi => read & 7 != 0,
                _ => scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0'),
            };
        let kept = if is_kept { text } else { "" };
        let format = match format {
            Format::BinarySi => "BinarySI",
            Format::DecimalSi => "DecimalSI",
            Format::DecimalExponent => "DecimalExponent",
        };
        Some(format!(
            "resource.Quantity{{i:resource.int64Amount{{value:{value}, scale:{scale}}}, \
             d:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:{kept:?}, Format:{format:?}}}"
        ))
    }

    /// Returns the value in whole units, rounded up.
    #[must_use]
    pub fn value(&self) -> i64 {
        i64::try_from(div_up(self.nanos, NANO)).unwrap_or(i64::MAX)
    }

    /// Returns the value in thousandths, rounded up.
    #[must_use]
    pub fn milli_value(&self) -> i64 {
        i64::try_from(div_up(self.nanos, NANO / 1000)).unwrap_or(i64::MAX)
    }

    /// Returns how it is printed.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Tells whether the amount is below zero.
    #[must_use]
    pub const fn is_negative(&self) -> bool {
        self.nanos < 0
    }

    /// Tells whether the amount is zero.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    fn decimal(self) -> String {
        let mut value = self.nanos;
        let mut at = 0;
        while value != 0 && value % 1000 == 0 && at + 1 < DECIMAL.len() {
            value /= 1000;
            at += 1;
        }
        if value == 0 { "0".to_string() } else { format!("{value}{}", DECIMAL[at].0) }
    }

    fn exponent(self) -> String {
        let mut value = self.nanos;
        let mut power = -9;
        while value != 0 && value % 1000 == 0 {
            value /= 1000;
            power += 3;
        }
        if value == 0 || power == 0 { format!("{value}") } else { format!("{value}e{power}") }
    }

    fn binary(self) -> String {
        let mut value = div_up(self.nanos, NANO);
        if value.abs() < 1024 {
            // Below one Ki there is no binary unit, and fractions would be lost.
            return self.decimal();
        }
        let mut suffix = "";
        for unit in BINARY {
            if value % 1024 != 0 {
                break;
            }
            value /= 1024;
            suffix = unit;
        }
        format!("{value}{suffix}")
    }
}

/// Returns whether a quantity is negative, its digits before and behind the point, and its unit.
fn parts(text: &str) -> (bool, &str, &str, &str) {
    let number_end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(number_end);
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    (number.starts_with('-'), whole, fraction, suffix)
}

fn div_up(value: i128, by: i128) -> i128 {
    value.div_euclid(by) + i128::from(value.rem_euclid(by) != 0)
}

/// Returns numerator and denominator of a unit in billionths, and its format.
fn unit(suffix: &str) -> Option<(i128, i128, Format)> {
    if let Some(at) = BINARY.iter().position(|unit| *unit == suffix) {
        return Some((NANO << (10 * (at + 1)), 1, Format::BinarySi));
    }
    if suffix == "E" {
        return Some((10_i128.pow(27), 1, Format::DecimalSi));
    }
    if let Some((_, power)) = DECIMAL.iter().find(|(unit, _)| *unit == suffix) {
        return Some((10_i128.pow(*power), 1, Format::DecimalSi));
    }
    let power: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    match u32::try_from(power) {
        Ok(up) if up <= 18 => Some((NANO * 10_i128.pow(up), 1, Format::DecimalExponent)),
        Err(_) if power >= -9 => Some((NANO, 10_i128.pow(power.unsigned_abs()), Format::DecimalExponent)),
        _ => None,
    }
}

impl Add for Quantity {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos + other.nanos, format }
    }
}

impl Sub for Quantity {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos - other.nanos, format }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self.format {
            Format::BinarySi => self.binary(),
            Format::DecimalSi => self.decimal(),
            Format::DecimalExponent => self.exponent(),
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::{Format, Quantity};

    #[test]
    fn a_quantity_is_printed_in_the_largest_unit_that_loses_nothing() {
        for (text, printed) in [
            ("8", "8"),
            ("0.5", "500m"),
            ("1500m", "1500m"),
            ("2000m", "2"),
            ("1000", "1k"),
            ("32779272Ki", "32779272Ki"),
            ("1048576Ki", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1000Ki", "1000Ki"),
            ("512", "512"),
            ("0", "0"),
            ("1e3", "1e3"),
            ("-3k", "-3k"),
        ] {
            assert_eq!(Quantity::parse(text).unwrap().to_string(), printed, "{text}");
        }
    }

    #[test]
    fn what_is_too_large_to_count_is_printed_all_the_same() {
        let huge = "1000000000000000000000000000000";
        for (text, printed) in [("1e400", "10e399"), (huge, "1"), ("1E3", "1E3"), ("1Ei", "1Ei"), ("-2e31", "-20e30")] {
            assert_eq!(Quantity::canonical(text).as_deref(), Some(printed), "{text}");
        }
        assert_eq!(Quantity::canonical("1e"), None);
        assert_eq!(Quantity::canonical("x9"), None);
    }

    #[test]
    fn what_is_counted_whole_is_rounded_up() {
        let read = |text: &str| Quantity::parse(text).unwrap();
        assert_eq!((read("1.5").value(), read("2").value(), read("-1.5").value()), (2, 2, -1));
        assert_eq!((read("100u").milli_value(), read("1m").milli_value()), (1, 1));
    }

    #[test]
    fn go_prints_the_parts_and_the_text_if_it_is_canonical() {
        for (text, value, scale, kept, format) in [
            ("0", 0, 0, "0", "DecimalSI"),
            ("500m", 500, -3, "500m", "DecimalSI"),
            ("-500m", -500, -3, "-500m", "DecimalSI"),
            ("1.5", 15, -1, "", "DecimalSI"),
            ("0.500", 500, -3, "", "DecimalSI"),
            ("2000", 2000, 0, "", "DecimalSI"),
            ("1e3", 1, 3, "1e3", "DecimalExponent"),
            ("3Gi", 3_i64 << 30, 0, "3Gi", "BinarySI"),
            ("8Gi", 8 << 30, 0, "", "BinarySI"),
        ] {
            let go = format!(
                "resource.Quantity{{i:resource.int64Amount{{value:{value}, scale:{scale}}}, \
                 d:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:\"{kept}\", Format:\"{format}\"}}"
            );
            assert_eq!(Quantity::in_go(text, false), Some(go), "{text}");
        }
        assert_eq!(Quantity::in_go("1.5Gi", false), None);
        assert_eq!(Quantity::in_go("much", false), None);
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in ["", "Gi", "1.2.3", "4GB", "lots", "1 Gi", "--1", "1e", "."] {
            assert!(Quantity::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_difference_keeps_the_format_of_what_it_was_taken_from() {
        let capacity = Quantity::parse("100476656Ki").unwrap();
        assert_eq!((capacity - Quantity::whole(10_288_809_727, Format::DecimalSi)).to_string(), "92599286017");
        let memory = Quantity::parse("32779272Ki").unwrap();
        assert_eq!((memory - Quantity::parse("100Mi").unwrap()).to_string(), "32676872Ki");
        assert_eq!((Quantity::parse("8").unwrap() - Quantity::milli(500)).to_string(), "7500m");
    }
}
