//! What differs between two texts, line by line, as the server prints it behind a refusal.
//!
//! Mirrors k8s.io/apimachinery pkg/util/diff (v1.34), which prints a unified difference with three lines of context by
//! the method of Ratcliff and Obershelp: the longest block that both texts have, and the same before and behind it.
//! Lines that a long text has too often begin no block. Inputs: two texts. Outputs: the hunks.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// How many equal lines stand around what differs.
const CONTEXT: usize = 3;
/// From how many lines on a text is long. Source: github.com/pmezard/go-difflib (v1.0.0) difflib.go, `chainB`.
const LONG: usize = 200;

/// A block that both texts have: where it begins in each, and its length.
#[derive(Clone, Copy, Debug)]
struct Block {
    own: usize,
    other: usize,
    len: usize,
}

/// A stretch of lines of both texts, which are equal or differ.
#[derive(Clone, Debug)]
struct Stretch {
    is_equal: bool,
    own: Range<usize>,
    other: Range<usize>,
}

struct Matcher<'a> {
    own: Vec<&'a str>,
    other: Vec<&'a str>,
    /// Where each line of the other text stands, but for those that are there too often.
    places: BTreeMap<&'a str, Vec<usize>>,
}

/// Returns the hunks of the difference.
#[must_use]
pub fn unified(own: &str, other: &str) -> String {
    let matcher = Matcher::new(own, other);
    let mut out = String::new();
    for hunk in hunks(matcher.stretches()) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let own = range(first.own.start..last.own.end);
        let other = range(first.other.start..last.other.end);
        out.push_str(&format!("@@ -{own} +{other} @@\n"));
        for stretch in &hunk {
            let sides = match stretch.is_equal {
                true => [(' ', &matcher.own[stretch.own.clone()]), (' ', &[][..])],
                false => [('-', &matcher.own[stretch.own.clone()]), ('+', &matcher.other[stretch.other.clone()])],
            };
            for (mark, lines) in sides {
                lines.iter().for_each(|line| out.push_str(&format!("{mark}{line}\n")));
            }
        }
    }
    out
}

/// Names a range of lines, counted from 1.
fn range(lines: Range<usize>) -> String {
    match lines.len() {
        1 => format!("{}", lines.start + 1),
        0 => format!("{},0", lines.start),
        len => format!("{},{len}", lines.start + 1),
    }
}

impl<'a> Matcher<'a> {
    fn new(own: &'a str, other: &'a str) -> Self {
        let (own, other): (Vec<_>, Vec<_>) = (own.split('\n').collect(), other.split('\n').collect());
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, line) in other.iter().enumerate() {
            places.entry(line).or_default().push(at);
        }
        if other.len() >= LONG {
            places.retain(|_, at| at.len() <= other.len() / 100 + 1);
        }
        Self { own, other, places }
    }

    /// Finds the longest common block within ranges: the first of those in the own text, and then in the other.
    fn longest(&self, own: &Range<usize>, other: &Range<usize>) -> Block {
        let mut best = Block { own: own.start, other: other.start, len: 0 };
        // The lengths of the blocks that end with the line before, by where they end in the other text.
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        for at in own.clone() {
            let mut ending = BTreeMap::new();
            let places = self.places.get(self.own[at]).map_or(&[][..], Vec::as_slice);
            for place in places.iter().copied().filter(|place| other.contains(place)) {
                let len = 1 + place.checked_sub(1).and_then(|last| before.get(&last)).unwrap_or(&0);
                ending.insert(place, len);
                if len > best.len {
                    best = Block { own: at + 1 - len, other: place + 1 - len, len };
                }
            }
            before = ending;
        }
        while best.own > own.start && best.other > other.start && self.own[best.own - 1] == self.other[best.other - 1] {
            best = Block { own: best.own - 1, other: best.other - 1, len: best.len + 1 };
        }
        while best.own + best.len < own.end
            && best.other + best.len < other.end
            && self.own[best.own + best.len] == self.other[best.other + best.len]
        {
            best.len += 1;
        }
        best
    }

    /// Returns the common blocks in order, adjacent ones as one.
    fn blocks(&self) -> Vec<Block> {
        let mut found = Vec::new();
        let mut left = Vec::from([(0..self.own.len(), 0..self.other.len())]);
        while let Some((own, other)) = left.pop() {
            let block = self.longest(&own, &other);
            if block.len == 0 {
                continue;
            }
            found.push(block);
            if own.start < block.own && other.start < block.other {
                left.push((own.start..block.own, other.start..block.other));
            }
            if block.own + block.len < own.end && block.other + block.len < other.end {
                left.push((block.own + block.len..own.end, block.other + block.len..other.end));
            }
        }
        found.sort_by_key(|block| block.own);
        let mut joined: Vec<Block> = Vec::new();
        for block in found {
            match joined.last_mut() {
                Some(last) if last.own + last.len == block.own && last.other + last.len == block.other => {
                    last.len += block.len;
                }
                _ => joined.push(block),
            }
        }
        joined
    }

    /// Returns both texts as stretches, in order.
    fn stretches(&self) -> Vec<Stretch> {
        let (mut own, mut other) = (0, 0);
        let mut stretches = Vec::new();
        let end = Block { own: self.own.len(), other: self.other.len(), len: 0 };
        for block in self.blocks().into_iter().chain([end]) {
            if own < block.own || other < block.other {
                stretches.push(Stretch { is_equal: false, own: own..block.own, other: other..block.other });
            }
            (own, other) = (block.own + block.len, block.other + block.len);
            if block.len > 0 {
                stretches.push(Stretch { is_equal: true, own: block.own..own, other: block.other..other });
            }
        }
        stretches
    }
}

/// Divides stretches where many lines are equal, and leaves as many of those as give context.
fn hunks(mut stretches: Vec<Stretch>) -> Vec<Vec<Stretch>> {
    if let Some(first) = stretches.first_mut().filter(|first| first.is_equal) {
        *first = first.end();
    }
    if let Some(last) = stretches.last_mut().filter(|last| last.is_equal) {
        *last = last.start();
    }
    let mut hunks = Vec::new();
    let mut hunk = Vec::new();
    for stretch in stretches {
        if stretch.is_equal && stretch.own.len() > 2 * CONTEXT {
            hunk.push(stretch.start());
            hunks.push(core::mem::take(&mut hunk));
            hunk.push(stretch.end());
        } else {
            hunk.push(stretch);
        }
    }
    hunks.push(hunk);
    hunks.retain(|hunk| hunk.iter().any(|stretch| !stretch.is_equal));
    hunks
}

impl Stretch {
    /// Returns the first lines, as context behind a difference.
    fn start(&self) -> Self {
        let len = self.own.len().min(CONTEXT);
        let (own, other) = (self.own.start, self.other.start);
        Self { own: own..own + len, other: other..other + len, ..*self }
    }

    /// Returns the last lines, as context before a difference.
    fn end(&self) -> Self {
        let len = self.own.len().min(CONTEXT);
        let (own, other) = (self.own.end, self.other.end);
        Self { own: own - len..own, other: other - len..other, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::unified;

    fn check(own: &str, other: &str, expected: &str) {
        assert_eq!(unified(own, other), expected);
    }

    #[test]
    fn what_differs_stands_between_lines_that_do_not() {
        check("a\nb", "a\nb", "");
        check("a", "b", "@@ -1 +1 @@\n-a\n+b\n");
        check("a\nb\nc\nd\ne", "a\nb\nc\nd\nx\ne", "@@ -2,4 +2,5 @@\n b\n c\n d\n+x\n e\n");
        check("a\nb", "b", "@@ -1,2 +1 @@\n-a\n b\n");
    }

    #[test]
    fn differences_far_apart_are_hunks_of_their_own() {
        let own: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let other = own.replacen("3\n", "x\n", 1).replace("17\n", "");
        check(
            &own,
            &other,
            "@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+x\n 4\n 5\n 6\n@@ -14,7 +14,6 @@\n 14\n 15\n 16\n-17\n 18\n 19\n 20\n",
        );
    }

    /// A line that more than one in a hundred lines is begins no block, so that what stands around it is put together.
    #[test]
    fn a_line_that_is_everywhere_in_a_long_text_begins_no_block() {
        let text = |len: usize, last: &str| -> String {
            let lines = (0..len).map(|line| if line % 2 == 0 { String::from("same\n") } else { format!("{line}\n") });
            lines.collect::<String>() + last
        };
        let short = unified(&format!("{}same\nu", text(20, "")), &format!("{}v\nsame", text(20, "")));
        assert_eq!(short.lines().filter(|line| line.starts_with('+')).count(), 1, "{short}");
        let long = unified(&format!("{}same\nu", text(200, "")), &format!("{}v\nsame", text(200, "")));
        assert_eq!(long.lines().filter(|line| line.starts_with('+')).count(), 2, "{long}");
    }
}
