//! Quantities of resources as Kubernetes' API reads and prints them: `500m`, `16Gi`, `1e3`.
//!
//! Mirrors k8s.io/apimachinery pkg/api/resource/{quantity,amount,suffix}.go (v1.34; v1.31 does the same): a value keeps
//! the format in which it was written, and is printed in the largest unit of that format that loses nothing; what is
//! short already is printed as it was written. fixtures/recorded/quantities.jsonl.gz has upstream's answers.
//! Inputs: a text. Outputs: an amount, the text that is printed, or what is wrong. Invariant: amounts are exact in
//! billionths, up to 1e27; larger ones count as that, and are printed as they are. Left out on purpose: numbers of more
//! than 38 digits before the point are refused; of a binary unit's fraction 20 digits count.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::ops::{Add, Sub};

use super::Json;

/// Billionths in one.
const NANO: i128 = 1_000_000_000;
/// The scale of billionths: nothing smaller is kept.
const NANO_SCALE: i32 = -9;
/// The largest amount, in billionths: sums of many of these are still counted.
const MOST: u128 = 10_u128.pow(36);
/// So many decimal digits are certain to fit 64 bits. Source: math.go (v1.34), `maxInt64Factors`.
const INT64_DIGITS: i32 = 18;
/// So many digits of a fraction count where it is multiplied by a binary unit.
const FRACTION_DIGITS: usize = 20;
/// The binary units, smallest first; each is 1024 of the one before.
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/// The decimal units with their powers of ten, smallest first.
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

/// What is wrong with a text that is no quantity.
/// Source: quantity.go (v1.34), `ErrFormatWrong`, `ErrSuffix`, `ErrNumeric`.
const WRONG_FORMAT: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_SUFFIX: &str = "unable to parse quantity's suffix";
const WRONG_NUMBER: &str = "unable to parse numeric part of quantity";

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
        Self::read(text).ok()
    }

    /// Reads a quantity.
    ///
    /// # Errors
    /// Kubernetes refuses it; the text says why.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        let read = Reading::of(text)?;
        let nanos = match u32::try_from(read.scale.saturating_sub(NANO_SCALE)) {
            Ok(up) => 10_u128.checked_pow(up).and_then(|power| read.mantissa.checked_mul(power)),
            Err(_) => Some(0),
        };
        let nanos = if read.mantissa == 0 { 0 } else { nanos.unwrap_or(MOST).min(MOST) };
        let nanos = i128::try_from(nanos).map_err(|_| WRONG_NUMBER)?;
        Ok(Self { nanos: if read.is_negative { -nanos } else { nanos }, format: read.format })
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

    /// Returns how a quantity is printed, also one that is larger than amounts are counted.
    ///
    /// # Errors
    /// Kubernetes refuses it; the text says why.
    pub fn canonical(text: &str) -> Result<String, &'static str> {
        let read = Reading::of(text)?;
        Ok(if read.is_kept {
            text.to_string()
        } else {
            printed(read.is_negative, read.mantissa, read.scale, read.format)
        })
    }

    /// Returns how Go prints the parts of a quantity, with `%#v`; one that was printed before has its text. `None` for
    /// what is no quantity, and for one that Go keeps as a large number, whose address it would print.
    #[must_use]
    pub fn in_go(text: &str, was_printed: bool) -> Option<String> {
        let read = Reading::of(text).ok()?;
        let (value, scale) = read.int64?;
        let kept = if was_printed || read.is_kept { text } else { "" };
        let format = match read.format {
            Format::BinarySi => "BinarySI",
            Format::DecimalSi => "DecimalSI",
            Format::DecimalExponent => "DecimalExponent",
        };
        Some(format!(
            "resource.Quantity{{i:resource.int64Amount{{value:{value}, scale:{scale}}}, \
             d:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:{kept:?}, Format:{format:?}}}"
        ))
    }

    /// Returns the value in whole units; a part of a unit counts as one, away from zero.
    #[must_use]
    pub fn value(&self) -> i64 {
        self.in_units_of(NANO)
    }

    /// Returns the value in thousandths; a part of one counts as one, away from zero.
    #[must_use]
    pub fn milli_value(&self) -> i64 {
        self.in_units_of(NANO / 1000)
    }

    fn in_units_of(&self, nanos: i128) -> i64 {
        let count = self.count_of(nanos);
        i64::try_from(count).unwrap_or(if count < 0 { i64::MIN } else { i64::MAX })
    }

    const fn count_of(&self, nanos: i128) -> i128 {
        self.nanos / nanos + (self.nanos % nanos).signum()
    }

    /// Returns this in whole units; a part of one counts as one, away from zero.
    #[must_use]
    pub const fn in_whole_units(self) -> Self {
        Self { nanos: self.count_of(NANO) * NANO, format: self.format }
    }

    /// Returns this in whole thousandths; a part of one counts as one, away from zero.
    #[must_use]
    pub const fn in_whole_thousandths(self) -> Self {
        const MILLI: i128 = NANO / 1000;
        Self { nanos: self.count_of(MILLI) * MILLI, format: self.format }
    }

    /// Returns this in the nearest whole thousandths, half of one up; before that a part of a millionth counts as one.
    #[must_use]
    pub const fn in_nearest_thousandths(self) -> Self {
        let thousandths = (self.count_of(NANO / 1_000_000) + 500) / 1000;
        Self { nanos: thousandths * (NANO / 1000), format: self.format }
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
}

/// A quantity as it is read: the amount is `mantissa` times ten to the power of `scale`.
struct Reading {
    is_negative: bool,
    mantissa: u128,
    scale: i32,
    format: Format,
    /// Whether it is printed as it is written.
    is_kept: bool,
    /// Value and scale, where Go keeps it in 64 bits.
    int64: Option<(i64, i32)>,
}

impl Reading {
    /// Source: quantity.go (v1.34), `ParseQuantity`.
    fn of(text: &str) -> Result<Self, &'static str> {
        let Parts { is_negative, whole, fraction, suffix } = Parts::of(text)?;
        let (exponent, format) = unit(suffix)?;
        let read = Self { is_negative, mantissa: 0, scale: 0, format, is_kept: text == "0", int64: None };
        let digits = format!("{}{fraction}", if whole.is_empty() { "0" } else { whole });
        if let Some((value, scale)) = int64(&digits, fraction.len(), exponent, format) {
            // One that is shortest already is not printed anew.
            let is_short = match format {
                Format::BinarySi => digits.parse::<i64>().is_ok_and(|value| value & 7 != 0),
                _ => scale % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0'),
            };
            let int64 = Some((if is_negative { -value } else { value }, scale));
            let mantissa = value.unsigned_abs().into();
            return Ok(Self { mantissa, scale, is_kept: read.is_kept || is_short, int64, ..read });
        }
        if whole.is_empty() && fraction.is_empty() && !text[..text.len() - suffix.len()].contains('0') {
            return Err(WRONG_NUMBER);
        }
        if format == Format::BinarySi {
            return Ok(read.binary(whole, fraction, exponent));
        }
        let digits = digits.trim_start_matches('0');
        let scale = exponent.wrapping_sub(i32::try_from(fraction.len()).unwrap_or(i32::MAX));
        let (mantissa, scale) = rounded_up(digits, scale).ok_or(WRONG_NUMBER)?;
        Ok(Self { mantissa, scale, ..read })
    }

    /// Reads a number with a binary unit that is not kept in 64 bits: not more than they hold, up to a billionth.
    fn binary(self, whole: &str, fraction: &str, power: i32) -> Self {
        const CAP: u128 = i64::MAX as u128;
        let unit = 1_u128 << power;
        let counted = &fraction[..fraction.len().min(FRACTION_DIGITS)];
        let is_cut = fraction[counted.len()..].bytes().any(|digit| digit != b'0');
        let divisor = 10_u128.pow(u32::try_from(counted.len()).unwrap_or(0));
        // Both fit: 20 digits, and 60 bits.
        let part = (counted.parse::<u128>().unwrap_or(0) + u128::from(is_cut)) * unit;
        let (ones, rest) = (part / divisor, part % divisor);
        let nanos = (rest * NANO.unsigned_abs()).div_ceil(divisor);
        let most = CAP * NANO.unsigned_abs();
        let whole = if whole.is_empty() { Some(0) } else { whole.parse::<u128>().ok() };
        let whole = whole.and_then(|whole| whole.checked_mul(unit)).and_then(|whole| whole.checked_add(ones));
        let all = whole.filter(|whole| *whole <= CAP).map_or(most, |whole| whole * NANO.unsigned_abs() + nanos);
        let mantissa = all.min(most);
        let is_part = mantissa > 0 && mantissa < NANO.unsigned_abs();
        Self { mantissa, scale: NANO_SCALE, format: if is_part { Format::DecimalSi } else { self.format }, ..self }
    }
}

/// Returns value and scale of a number that Go keeps in 64 bits.
fn int64(digits: &str, decimals: usize, exponent: i32, format: Format) -> Option<(i64, i32)> {
    let count = i32::try_from(digits.len()).ok()?;
    if format == Format::BinarySi {
        let is_exact = decimals == 0 && 15 - count - exponent * 3 / 10 > 0;
        let value = digits.parse::<i64>().ok().filter(|_| is_exact)?;
        return Some((value.checked_mul(1 << exponent)?, 0));
    }
    let scale = exponent.wrapping_sub(i32::try_from(decimals).ok()?);
    (count <= INT64_DIGITS && scale >= NANO_SCALE).then(|| digits.parse().ok().map(|value| (value, scale)))?
}

/// Reads digits at a scale; what is finer than a billionth counts as one.
fn rounded_up(digits: &str, scale: i32) -> Option<(u128, i32)> {
    let finer = usize::try_from(NANO_SCALE.saturating_sub(scale)).unwrap_or(0);
    let (kept, cut) = digits.split_at(digits.len().saturating_sub(finer));
    let zeros = kept.len() - kept.trim_end_matches('0').len();
    let is_more = cut.bytes().any(|digit| digit != b'0');
    if finer > 0 || zeros == 0 {
        let mantissa = if kept.is_empty() { 0 } else { kept.parse::<u128>().ok()? };
        return Some((mantissa.checked_add(u128::from(is_more))?, scale.max(NANO_SCALE)));
    }
    let shorter = &kept[..kept.len() - zeros];
    let mantissa = if shorter.is_empty() { 0 } else { shorter.parse().ok()? };
    Some((mantissa, scale.wrapping_add(i32::try_from(zeros).ok()?)))
}

/// The parts of a quantity.
struct Parts<'a> {
    is_negative: bool,
    /// The digits before the point, without zeros at the beginning.
    whole: &'a str,
    /// The digits behind it.
    fraction: &'a str,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    /// Source: quantity.go (v1.34), `parseQuantityString`; a sign or a point alone is 0.
    fn of(text: &'a str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err(WRONG_FORMAT);
        }
        let is_digit = |c: char| c.is_ascii_digit();
        let number = text.strip_prefix(['+', '-']).unwrap_or(text).trim_start_matches('0');
        let (whole, rest) = number.split_at(number.len() - number.trim_start_matches(is_digit).len());
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(rest.len() - rest.trim_start_matches(is_digit).len()),
            None => ("", rest),
        };
        let exponent = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if !exponent.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(WRONG_FORMAT);
        }
        Ok(Self { is_negative: text.starts_with('-'), whole, fraction, suffix })
    }
}

/// Returns how an amount is printed. Source: quantity.go (v1.34), `CanonicalizeBytes`.
fn printed(is_negative: bool, mantissa: u128, scale: i32, format: Format) -> String {
    if mantissa == 0 {
        return "0".to_string();
    }
    let sign = if is_negative { "-" } else { "" };
    if format == Format::BinarySi
        && let Some(mut value) = whole(mantissa, scale).filter(|value| *value >= 1024)
    {
        // Below one Ki there is no binary unit, and fractions would be lost.
        let mut suffix = "";
        let mut units = BINARY.into_iter();
        while value.is_multiple_of(1024) {
            value /= 1024;
            suffix = units.next().unwrap_or_default();
        }
        return format!("{sign}{value}{suffix}");
    }
    let (mut mantissa, mut scale) = (mantissa, scale);
    while mantissa.is_multiple_of(10) {
        mantissa /= 10;
        scale = scale.wrapping_add(1);
    }
    let padding = "0".repeat(usize::try_from(scale.rem_euclid(3)).unwrap_or(0));
    let power = scale - scale.rem_euclid(3);
    let suffix = match format {
        Format::DecimalExponent if power == 0 => String::new(),
        Format::DecimalExponent => format!("e{power}"),
        // A power without a unit is left out.
        _ => DECIMAL.iter().find(|(_, own)| *own == power).map_or("", |(unit, _)| *unit).to_string(),
    };
    format!("{sign}{mantissa}{padding}{suffix}")
}

/// Returns an amount in whole units, if it is whole.
fn whole(mantissa: u128, scale: i32) -> Option<u128> {
    let power = 10_u128.checked_pow(scale.unsigned_abs())?;
    if scale >= 0 { mantissa.checked_mul(power) } else { mantissa.is_multiple_of(power).then(|| mantissa / power) }
}

/// Returns the exponent of a unit, to the base of 2 for a binary one and else of 10, and its format.
/// Source: suffix.go (v1.34), `interpret`.
fn unit(suffix: &str) -> Result<(i32, Format), &'static str> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(unit, _)| *unit == suffix) {
        return Ok((*exponent, Format::DecimalSi));
    }
    if let Some((exponent, _)) = (10..).step_by(10).zip(BINARY).find(|(_, unit)| *unit == suffix) {
        return Ok((exponent, Format::BinarySi));
    }
    let exponent = suffix.strip_prefix(['e', 'E']).and_then(|exponent| exponent.parse::<i64>().ok());
    // Upstream takes the lower 32 bits.
    exponent.map(|exponent| (exponent as i32, Format::DecimalExponent)).ok_or(WRONG_SUFFIX)
}

impl Add for Quantity {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_add(other.nanos), format }
    }
}

impl Sub for Quantity {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_sub(other.nanos), format }
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
        f.write_str(&printed(self.is_negative(), self.nanos.unsigned_abs(), NANO_SCALE, self.format))
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
            ("1.1Ki", "1126400m"),
            ("12E", "12E"),
            ("9Ei", "9223372036854775807"),
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
    fn what_is_short_already_is_printed_as_it_is_written() {
        for (text, printed) in [("1.", "1."), ("+1", "+1"), ("1E3", "1E3"), ("01Ki", "01Ki"), ("1.0", "1"), (".", "0")]
        {
            assert_eq!(Quantity::canonical(text).as_deref(), Ok(printed), "{text}");
        }
    }

    #[test]
    fn what_is_too_large_to_count_is_printed_all_the_same() {
        let huge = "1000000000000000000000000000000";
        for (text, printed) in [("1e400", "10e399"), (huge, "1"), ("1E3", "1E3"), ("1Ei", "1Ei"), ("-2e31", "-20e30")] {
            assert_eq!(Quantity::canonical(text).as_deref(), Ok(printed), "{text}");
        }
        assert_eq!(Quantity::canonical("1e"), Err("unable to parse quantity's suffix"));
        assert!(Quantity::canonical("x9").is_err_and(|why| why.starts_with("quantities must match")));
    }

    #[test]
    fn half_of_a_thousandth_is_rounded_up() {
        for (text, rounded) in [("100500u", "101m"), ("100499u", "100m"), ("100499001n", "101m"), ("2", "2")] {
            assert_eq!(Quantity::parse(text).unwrap().in_nearest_thousandths().to_string(), rounded, "{text}");
        }
    }

    #[test]
    fn what_is_counted_whole_is_rounded_up() {
        let read = |text: &str| Quantity::parse(text).unwrap();
        assert_eq!((read("1.5").value(), read("2").value(), read("-1.5").value()), (2, 2, -2));
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
        for text in ["", "1.2.3", "4GB", "lots", "1 Gi", "--1", "1e", ".e-10"] {
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
