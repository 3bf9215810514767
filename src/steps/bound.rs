//! Reads bounds, the last words of `Then` lines: `within 60s`, `between 40s and 55s`, `for 25s`, `at 60s after …`,
//! `between 10s and 11s after …`.

use jiff::SignedDuration;
use nodeproof_core::scenario::{Bound, DEFAULT_GRACE_PERIOD, GraceLimits, Predicate, Subject};

use super::draft::Draft;
use super::words;

const FORMS: &str = "within 60s, between 40s and 55s, at 60s after …, or after …";

/// How a limit is told by `--node-monitor-grace-period`, alone or with `and 6s` or `less 1s` behind it.
const GRACE_PERIOD: &str = "the grace period";

impl Draft {
    /// Reads the bound of something that becomes true; none is needed in a `Given`.
    pub(super) fn becomes(&mut self, words: &str) -> Option<Bound> {
        let words = words.trim();
        self.in_grace = GraceLimits::default();
        if self.is_given() || self.is_when() {
            if !words.is_empty() {
                let keyword = if self.is_given() { "Given" } else { "When" };
                let help = vec![format!("leave {words:?} out: it waits for up to 10m")];
                self.problem_with(words, format!("a {keyword} waits until it is true and has no bound"), help);
            }
            return None;
        }
        if words.is_empty() {
            self.problem_with("", "the bound is missing".to_owned(), vec![format!("add one of: {FORMS}")]);
            return None;
        }
        if words == "at once" {
            return Some(Bound::AtOnce);
        }
        let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
        match first {
            "within" => match rest.split_once(" after ") {
                Some((limit, anchor)) => {
                    let help = vec![
                        format!("between 0s and {limit} after {anchor}"),
                        format!("at {limit} after {anchor}"),
                        format!("after {anchor}, within {limit}, where the limit counts from zero as well"),
                    ];
                    self.problem_with(words, "`within` counts from zero, and takes no `after`".to_owned(), help);
                    None
                }
                None => self.limit(rest).map(Bound::Within),
            },
            "between" => self.between(words, rest),
            "at" => self.at(rest),
            "after" => self.after(words, rest),
            "for" => {
                let help = vec!["keeps … for 25s".to_owned(), "never … for 25s".to_owned()];
                self.problem_with(words, "`for` belongs to `keeps` and `never`".to_owned(), help);
                None
            }
            _ => {
                let help = vec![format!("as in {FORMS}")];
                self.problem_with(words, format!("{words:?} is no bound"), help);
                None
            }
        }
    }

    /// Reads the bound of something that stays true: `for 25s`.
    pub(super) fn lasts(&mut self, words: &str) -> Option<Bound> {
        let words = words.trim();
        self.in_grace = GraceLimits::default();
        if self.is_given() {
            self.problem(words, "a Given says what is there, not how long".to_owned());
            return None;
        }
        match words.strip_prefix("for ") {
            Some(duration) => self.limit(duration).map(Bound::For),
            None => {
                let message = if words.is_empty() {
                    "the bound is missing".to_owned()
                } else {
                    format!("{words:?} is no bound here")
                };
                self.problem_with(
                    words,
                    message,
                    vec!["what is kept or never true has a duration: for 25s".to_owned()],
                );
                None
            }
        }
    }

    pub(super) fn duration(&mut self, words: &str) -> Option<SignedDuration> {
        self.take(words, words::duration(words))
    }

    /// Reads the last limit of a bound, or its only one.
    fn limit(&mut self, words: &str) -> Option<SignedDuration> {
        let (limit, in_grace) = self.take(words, limit(words))?;
        self.in_grace.to = in_grace;
        Some(limit)
    }

    fn between(&mut self, all: &str, words: &str) -> Option<Bound> {
        let (limits, anchor) = words.split_once(" after ").map_or((words, None), |(to, anchor)| (to, Some(anchor)));
        let Some((from, to)) = two_limits(limits) else {
            self.problem(all, "`between` has two limits, as in between 40s and 55s".to_owned());
            return None;
        };
        let ((low, low_in_grace), high) = (self.take(from, limit(from))?, self.limit(to)?);
        self.in_grace.from = low_in_grace;
        if low > high {
            let help = vec![format!("the earlier one stands first: between {to} and {from}")];
            self.problem_with(all, format!("{from} is later than {to}"), help);
            return None;
        }
        let Some(anchor) = anchor else { return Some(Bound::Between(low, high)) };
        let after = Box::new(self.one_part(anchor)?);
        Some(Bound::Apart { from: low, to: high, after })
    }

    fn at(&mut self, words: &str) -> Option<Bound> {
        let (offset, rest) = words.split_once(" after ").unwrap_or((words, ""));
        let offset = self.limit(offset)?;
        if rest.is_empty() {
            return Some(Bound::At { offset, after: None });
        }
        let after = Some(Box::new(self.one_part(rest)?));
        Some(Bound::At { offset, after })
    }

    fn after(&mut self, all: &str, words: &str) -> Option<Bound> {
        let (words, limit) = match words.rsplit_once(" within ") {
            Some((words, limit)) => (words.trim_end_matches(','), Some(self.limit(limit)?)),
            None => (words, None),
        };
        if words.is_empty() {
            self.problem(all, "after what?".to_owned());
            return None;
        }
        let fact = Box::new(self.one_part(words)?);
        Some(Bound::After { fact, within: limit })
    }

    fn one_part(&mut self, words: &str) -> Option<nodeproof_core::scenario::Fact> {
        let mut facts = self.part(words);
        if facts.len() > 1 {
            self.problem(words, "this must be one event, not several".to_owned());
        }
        (facts.len() == 1).then(|| facts.remove(0))
    }

    /// Adds something that becomes true. The bound is read even if the rest was wrong, so that its problems are found
    /// too.
    pub(super) fn expect_becomes(&mut self, what: Option<(Subject, Predicate)>, bound: &str) {
        let problems = self.problems.len();
        let bound = self.becomes(bound.trim_start_matches(','));
        if let Some((subject, predicate)) = what.filter(|_| self.problems.len() == problems) {
            self.expect(subject, predicate, bound);
        }
    }

    /// Adds something that stays true. The bound is read even if the rest was wrong, so that its problems are found
    /// too.
    pub(super) fn expect_lasts(&mut self, what: Option<(Subject, Predicate)>, bound: &str) {
        let words = bound.trim_start_matches(',').trim();
        let Some(bound) = self.lasts(words) else { return };
        if bound == Bound::For(SignedDuration::ZERO) {
            let help = vec!["say for how long it stays so, as `for 40s`; what is so now is said `at once`".to_owned()];
            let message = if words.contains(" less ") { "nothing is left of it" } else { "for 0s proves nothing" };
            self.problem_with(words, message.to_owned(), help);
            return;
        }
        if let Some((subject, predicate)) = what {
            self.expect(subject, predicate, Some(bound));
        }
    }
}

/// Reads a limit, and whether it is told by the grace period: `40s`, `the grace period`, `the grace period and 6s`,
/// `the grace period less 1s`.
fn limit(words: &str) -> Result<(SignedDuration, bool), words::Wrong> {
    let Some(rest) = words.trim().strip_prefix(GRACE_PERIOD) else {
        return words::duration(words).map(|limit| (limit, false));
    };
    let limit = match (rest, rest.strip_prefix(" and "), rest.strip_prefix(" less ")) {
        ("", ..) => DEFAULT_GRACE_PERIOD,
        (_, Some(more), _) => DEFAULT_GRACE_PERIOD + words::duration(more)?,
        (.., Some(less)) => DEFAULT_GRACE_PERIOD - words::duration(less)?,
        _ => return Err(format!("{words:?} is no limit: as in {GRACE_PERIOD} and 6s, or {GRACE_PERIOD} less 1s")),
    };
    Ok((limit.max(SignedDuration::ZERO), true))
}

/// Parts two limits at the `and` between them; that of `the grace period and 6s` is none.
fn two_limits(words: &str) -> Option<(&str, &str)> {
    let halves = || words.match_indices(" and ").map(|(at, and)| (&words[..at], &words[at + and.len()..]));
    let are_limits = |(from, to): &(&str, &str)| limit(from).is_ok() && limit(to).is_ok();
    halves().find(are_limits).or_else(|| halves().next())
}
