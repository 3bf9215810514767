//! Paths to a field, as people write and read them: `status.conditions[Ready].status`, `metadata.labels["a.b/c"]`.
//!
//! A name in brackets picks the item of a list by its merge key (a condition by type, a container by name, a taint by
//! key or `key:Effect`), or the field of a map whose key holds dots. A number picks by place. A name without dots may
//! follow a dot in a map as well: `metadata.labels.zone`.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::list_keys::item_name;
use super::{Json, NULL, Text};

/// A path from the root of an object to a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(Vec<Segment>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// A field of an object: `.name`.
    Field(Text),
    /// An item of a list or a key of a map: `[name]`.
    Item(Text),
}

/// Why a text is no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing stands where a field's name should.
    #[error("a field's name is missing at column {0}")]
    Empty(usize),
    /// A bracket or a quotation is not closed, or something follows a bracket.
    #[error("{what} at column {column}")]
    Bracket {
        /// What is wrong.
        what: &'static str,
        /// Where, from 1, in characters.
        column: usize,
    },
}

impl Path {
    /// Returns the segments.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Returns this path with a field behind it.
    #[must_use]
    pub fn field(&self, name: impl Into<Text>) -> Self {
        self.then(Segment::Field(name.into()))
    }

    /// Returns this path with an item of a list or a key of a map behind it.
    #[must_use]
    pub fn item(&self, name: impl Into<Text>) -> Self {
        self.then(Segment::Item(name.into()))
    }

    /// Returns this path with another behind it.
    #[must_use]
    pub fn followed_by(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }

    fn then(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }

    /// Returns the path without its last segment, and that segment's name; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<(Self, &Text)> {
        let (last, parents) = self.0.split_last()?;
        Some((Self(parents.to_vec()), last.name()))
    }

    /// Makes a path of field names.
    #[must_use]
    pub fn of(fields: &[&str]) -> Self {
        Self(fields.iter().map(|field| Segment::Field(Text::from(*field))).collect())
    }

    /// Tells whether the other path leads to this place or below it.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.0.len() <= other.0.len() && self.0.iter().zip(&other.0).all(|(own, other)| own.name() == other.name())
    }

    /// Returns the value at the path; `Null` if it breaks off.
    #[must_use]
    pub fn look_up<'a>(&self, root: &'a Json) -> &'a Json {
        let mut place = root;
        let mut list = "";
        for segment in &self.0 {
            place = match (segment, place) {
                (Segment::Item(name), Json::Array(items)) => find_item(list, items, name),
                (segment, place) => place.get(segment.name()),
            };
            if let Segment::Field(name) = segment {
                list = name;
            }
        }
        place
    }
}

fn find_item<'a>(list: &str, items: &'a [Json], name: &str) -> &'a Json {
    let named = items.iter().enumerate().find(|(at, item)| {
        let own = item_name(list, item, *at);
        own == name || own.rsplit_once(':').is_some_and(|(key, _)| list == "taints" && key == name)
    });
    let numbered = || items.get(name.parse::<usize>().ok()?);
    named.map(|(_, item)| item).or_else(numbered).or_else(|| find_container(items, name)).unwrap_or(&NULL)
}

/// Finds a container of a machine by its pod's name and its own: `web/main`. The last one of a name is meant.
fn find_container<'a>(items: &'a [Json], name: &str) -> Option<&'a Json> {
    let (pod, container) = name.split_once('/')?;
    let is = |item: &&Json| item.get("pod").as_str() == Some(pod) && item.get("container").as_str() == Some(container);
    items.iter().rev().find(is)
}

impl Segment {
    /// Returns the name, however it is written.
    #[must_use]
    pub fn name(&self) -> &Text {
        match self {
            Self::Field(name) | Self::Item(name) => name,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if name.contains(['.', '[', ']', '"']) || name.is_empty() => {
                    write!(f, "[\"{name}\"]")?;
                }
                Segment::Field(name) => write!(f, "{}{name}", if at == 0 { "" } else { "." })?,
                Segment::Item(name) if name.contains(['[', ']', '"']) || name.is_empty() => {
                    write!(f, "[\"{name}\"]")?;
                }
                Segment::Item(name) => write!(f, "[{name}]")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let letters: Vec<char> = text.chars().collect();
        let mut segments = Vec::new();
        let mut at = 0;
        loop {
            if letters.get(at) == Some(&'[') {
                let (name, next) = bracket(&letters, at)?;
                segments.push(Segment::Item(Text::from(name)));
                at = next;
            } else {
                let end = (at..letters.len()).find(|end| matches!(letters[*end], '.' | '[')).unwrap_or(letters.len());
                if end == at {
                    return Err(PathError::Empty(at + 1));
                }
                if let Some(odd) = (at..end).find(|at| matches!(letters[*at], ']' | '"')) {
                    return Err(PathError::Bracket { what: "no bracket is open here", column: odd + 1 });
                }
                segments.push(Segment::Field(letters[at..end].iter().collect::<String>().into()));
                at = end;
            }
            match letters.get(at) {
                None => return Ok(Self(segments)),
                Some('.') => at += 1,
                Some('[') => {}
                Some(_) => {
                    return Err(PathError::Bracket {
                        what: "a dot or a bracket must follow a bracket",
                        column: at + 1,
                    });
                }
            }
        }
    }
}

/// Reads `[name]` or `["name"]` from an opening bracket on, and returns the name and the place behind it.
fn bracket(letters: &[char], open: usize) -> Result<(String, usize), PathError> {
    let error = |what| PathError::Bracket { what, column: open + 1 };
    let quoted = letters.get(open + 1) == Some(&'"');
    let start = if quoted { open + 2 } else { open + 1 };
    let end = (start..letters.len()).find(|end| letters[*end] == if quoted { '"' } else { ']' });
    let end =
        end.ok_or_else(|| error(if quoted { "the quotation is not closed" } else { "the bracket is not closed" }))?;
    if quoted && letters.get(end + 1) != Some(&']') {
        return Err(error("the bracket is not closed"));
    }
    if end == start {
        return Err(PathError::Empty(start + 1));
    }
    if letters[start..end].iter().any(|letter| *letter == '"' || (!quoted && *letter == '[')) {
        return Err(error("a name with a bracket stands in quotation marks, and none has such marks in it"));
    }
    Ok((letters[start..end].iter().collect(), if quoted { end + 2 } else { end + 1 }))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{Path, PathError};
    use crate::json;

    #[test]
    fn a_path_prints_as_it_is_written() {
        for text in [
            "status.conditions[Ready].status",
            "spec.taints",
            "metadata.labels[topology.kubernetes.io/zone]",
            "spec.containers[0].resources.limits.cpu",
            "spec.taints[node.kubernetes.io/unreachable:NoExecute].timeAdded",
        ] {
            assert_eq!(text.parse::<Path>().unwrap().to_string(), text);
        }
        assert_eq!("metadata.labels[\"a.b/c\"]".parse::<Path>().unwrap().to_string(), "metadata.labels[a.b/c]");
        let odd = "a[\"b[\\]c\"].d";
        assert_eq!(odd.parse::<Path>().unwrap().to_string(), odd);
    }

    #[test]
    fn what_is_no_path_says_where() {
        assert_eq!("".parse::<Path>(), Err(PathError::Empty(1)));
        assert_eq!("spec..taints".parse::<Path>(), Err(PathError::Empty(6)));
        assert_eq!("spec.".parse::<Path>(), Err(PathError::Empty(6)));
        for text in ["a[b", "a[\"b]", "a[\"b\"", "a[b]c", "a]b", "a\"b", "a[b\"c]", "a[b[c]"] {
            assert!(matches!(text.parse::<Path>(), Err(PathError::Bracket { .. })), "{text}");
        }
    }

    #[test]
    fn a_path_finds_its_place_by_key_name_and_number() {
        let node = json!({
            "metadata": {"labels": {"a.b/c": "d", "zone": "a"}},
            "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}, {"key": "k", "effect": "NoExecute",
                "value": "v"}]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        });
        let look = |path: &str| path.parse::<Path>().unwrap().look_up(&node).clone();
        assert_eq!(look("status.conditions[Ready].status"), json!("True"));
        assert_eq!(look("status.conditions[0].status"), json!("True"));
        assert_eq!(look("metadata.labels[\"a.b/c\"]"), json!("d"));
        assert_eq!(look("metadata.labels.zone"), json!("a"));
        assert_eq!(look("spec.taints[k:NoExecute].value"), json!("v"));
        assert_eq!(look("spec.taints[k].effect"), json!("NoSchedule"));
        assert!(look("status.conditions[Ready].reason.more").is_null());
        assert!(look("status.conditions[Gone].status").is_null());
    }
}
