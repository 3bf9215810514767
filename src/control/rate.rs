//! How fast the clock of a cluster runs against real time.
//!
//! Inputs: the text of an option, or the JSON of `POST clock/rate`. Output: a [`Rate`]. Pure.

use std::fmt;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::objects::{FieldError, Json};

/// How fast the clock runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Rate {
    /// It stands still; `POST clock/advance` moves it.
    #[default]
    Paused,
    /// So many seconds in a second of real time.
    Times(f64),
    /// As fast as the simulation can.
    Max,
}

impl Rate {
    /// Reads the field `rate`: 0, a positive number, or "max".
    ///
    /// # Errors
    /// It is something else.
    pub(super) fn of_json(value: &Json) -> Result<Self, FieldError> {
        match value {
            #[expect(clippy::cast_precision_loss, reason = "nobody asks for so fast a clock")]
            Json::Int(number) if *number >= 0 => Ok(Self::times(*number as f64)),
            Json::Float(number) if *number >= 0.0 && number.is_finite() => Ok(Self::times(*number)),
            Json::Str(word) if **word == *"max" => Ok(Self::Max),
            other => {
                let message = format!("0 (paused), a positive number or \"max\" is needed, not {other}");
                Err(FieldError::new("rate", message))
            }
        }
    }

    fn times(number: f64) -> Self {
        if number == 0.0 { Self::Paused } else { Self::Times(number) }
    }

    /// Returns what `GET clock` says.
    pub(super) fn json(self) -> Json {
        match self {
            Self::Paused => Json::Int(0),
            #[expect(clippy::cast_possible_truncation, reason = "it has no fraction")]
            Self::Times(number) if number.fract() == 0.0 && number < 1e15 => Json::Int(number as i64),
            Self::Times(number) => Json::Float(number),
            Self::Max => Json::from("max"),
        }
    }

    /// Returns the instant that the clock should show after a time; `None` if real time does not tell it.
    #[must_use]
    pub fn reached(self, from: Timestamp, elapsed: std::time::Duration) -> Option<Timestamp> {
        let Self::Times(number) = self else { return None };
        let by = SignedDuration::try_from_secs_f64(elapsed.as_secs_f64() * number).unwrap_or(SignedDuration::MAX);
        Some(from.checked_add(by).unwrap_or(Timestamp::MAX))
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix('x').and_then(|number| number.parse::<f64>().ok());
        match text {
            "paused" => Ok(Self::Paused),
            "real" => Ok(Self::Times(1.0)),
            "max" => Ok(Self::Max),
            _ => match number.filter(|number| number.is_finite() && *number > 0.0) {
                Some(number) => Ok(Self::Times(number)),
                None => Err("paused, real, max or a positive number with an x is needed, as 60x".to_owned()),
            },
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused => f.write_str("paused"),
            Self::Times(1.0) => f.write_str("real"),
            Self::Times(number) => write!(f, "{number}x"),
            Self::Max => f.write_str("max"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use nodeproof_core::objects::Json;

    use super::Rate;

    #[test]
    fn the_words_of_the_option_and_of_the_call_mean_the_same() {
        let cases = [("paused", "0"), ("real", "1"), ("60x", "60"), ("0.5x", "0.5"), ("max", "\"max\"")];
        for (option, call) in cases {
            let rate: Rate = option.parse().unwrap();
            let json = Json::parse(call).unwrap();
            assert_eq!(Rate::of_json(&json).unwrap(), rate, "{option}");
            assert_eq!((rate.to_string(), rate.json()), (option.to_owned(), json));
        }
        for wrong in ["", "x", "60", "-1x", "0x", "infx", "NaNx", "fast"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
        }
        for wrong in ["-1", "-0.5", "\"fast\"", "null", "true"] {
            assert!(Rate::of_json(&Json::parse(wrong).unwrap()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_clock_shows_real_time_by_its_rate_and_ends_at_the_last_instant() {
        let from = Timestamp::UNIX_EPOCH;
        assert_eq!(Rate::Times(60.0).reached(from, Duration::from_millis(500)).unwrap().as_second(), 30);
        assert_eq!(Rate::Times(1e300).reached(from, Duration::from_secs(9)), Some(Timestamp::MAX));
        assert_eq!(Rate::Paused.reached(from, Duration::from_secs(9)), None);
    }
}
