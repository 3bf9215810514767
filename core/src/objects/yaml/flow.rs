//! Scalars and flow collections of YAML: what may stand in the middle of a line.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::read::{YamlError, YamlReader};
use super::scalar;
use crate::objects::{Json, Text};

impl YamlReader<'_> {
    /// Reads a scalar of any style but those of blocks, a flow collection or an alias; `parent` is the column below
    /// which a scalar may go on.
    pub(super) fn flow_node(&mut self, parent: Option<usize>) -> Result<Json, YamlError> {
        self.count();
        match self.byte() {
            Some(b'*') => self.alias(),
            Some(b'[') => self.flow_list(),
            Some(b'{') => self.flow_map(),
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote).map(Json::text),
            Some(b'\t') => Err(self.scanner_error("found a tab character that violates indentation")),
            Some(b'@' | b'`' | b'%') => Err(self.scanner_error("found character that cannot start any token")),
            Some(b']' | b'}' | b',') | None => Err(self.parser_error("did not find expected node content")),
            _ => self.plain(parent).map(|text| scalar::resolve(&text)),
        }
    }

    /// Reads a plain scalar of a block; further lines belong to it while they are indented below the parent.
    fn plain(&mut self, parent: Option<usize>) -> Result<String, YamlError> {
        let mut text = String::new();
        loop {
            let line = self.text[self.at..].lines().next().unwrap_or("");
            let length = plain_length(line);
            let part = line[..length].trim_end();
            text.push_str(part);
            self.at += part.len();
            let behind = line[part.len()..].trim_start();
            if !behind.is_empty() {
                return Ok(text);
            }
            // Blank lines count only if the scalar goes on behind them.
            let ahead = &self.text[self.at..];
            let mut blank = 0;
            let mut offset = ahead.find('\n').map_or(ahead.len(), |end| end + 1);
            let next = loop {
                let line = ahead[offset..].split('\n').next().unwrap_or("");
                if offset >= ahead.len() || !line.trim().is_empty() {
                    break line;
                }
                blank += 1;
                offset += line.len() + 1;
                if offset > ahead.len() {
                    return Ok(text);
                }
            };
            let indent = next.bytes().take_while(|byte| *byte == b' ').count();
            let content = next.trim_start_matches(' ');
            let ends_document = indent == 0 && (next.starts_with("---") || next.starts_with("..."));
            let is_below = parent.is_none_or(|parent| indent > parent);
            if content.starts_with('\t') && !is_below {
                for _ in 0..offset {
                    self.next();
                }
                return Err(self.scanner_error("found a tab character that violates indentation"));
            }
            if offset >= ahead.len() || !is_below || ends_document || content.starts_with('#') {
                return Ok(text);
            }
            for _ in 0..offset + indent {
                self.next();
            }
            let is_key = plain_key_length(content).is_some_and(|end| {
                let value = content[end..].trim_start().strip_prefix(':');
                value.is_some_and(|value| value.is_empty() || value.starts_with(' '))
            });
            if is_key {
                return Err(self.scanner_error("mapping values are not allowed in this context"));
            }
            text.push_str(&if blank == 0 { " ".to_string() } else { "\n".repeat(blank) });
        }
    }

    fn flow_list(&mut self) -> Result<Json, YamlError> {
        self.deeper()?;
        self.next();
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.byte() == Some(b']') {
                self.next();
                self.shallower();
                return Ok(Json::array(items));
            }
            let item = self.flow_item()?;
            self.skip()?;
            let item = if self.byte() == Some(b':') {
                self.next();
                self.skip()?;
                let value = self.flow_item()?;
                Json::of_fields(Vec::from([(Text::from(scalar::key(&item)), value)]))
            } else {
                item
            };
            items.push(item);
            self.skip()?;
            match self.byte() {
                Some(b',') => self.next(),
                Some(b']') => {}
                _ => return Err(self.parser_error("did not find expected ',' or ']'")),
            }
        }
    }

    fn flow_map(&mut self) -> Result<Json, YamlError> {
        self.deeper()?;
        self.next();
        let (mut fields, mut merges) = (Vec::new(), Vec::new());
        loop {
            self.skip()?;
            if self.byte() == Some(b'}') {
                self.next();
                self.shallower();
                return Ok(merged(fields, merges));
            }
            let line = self.line();
            let key = self.flow_item()?;
            self.skip()?;
            let mut value = Json::Null;
            if self.byte() == Some(b':') {
                self.next();
                self.skip()?;
                if !matches!(self.byte(), Some(b',' | b'}')) {
                    value = self.flow_item()?;
                }
            }
            if key == Json::text("<<") {
                merges.push(value);
            } else {
                self.put(&mut fields, &key, line, value);
            }
            self.skip()?;
            match self.byte() {
                Some(b',') => self.next(),
                Some(b'}') => {}
                _ => return Err(self.parser_error("did not find expected ',' or '}'")),
            }
        }
    }

    /// Reads an item of a flow collection.
    fn flow_item(&mut self) -> Result<Json, YamlError> {
        match self.byte() {
            Some(b'&' | b'!') => {
                let properties = self.properties()?;
                self.skip()?;
                let is_empty = matches!(self.byte(), Some(b',' | b']' | b'}'));
                let value = if is_empty { Json::Null } else { self.flow_item()? };
                Ok(self.named(properties, value))
            }
            Some(b'[' | b'{' | b'"' | b'\'' | b'*' | b']' | b'}' | b',') | None => self.flow_node(None),
            _ => {
                let line = self.text[self.at..].lines().next().unwrap_or("");
                let part = line[..flow_plain_length(line)].trim_end();
                let text = part.to_string();
                self.at += part.len();
                self.count();
                if text.is_empty() {
                    return Err(self.parser_error("did not find expected node content"));
                }
                Ok(scalar::resolve(&text))
            }
        }
    }

    /// Reads a scalar in quotes; ends of lines in it become spaces.
    pub(super) fn quoted(&mut self, quote: u8) -> Result<String, YamlError> {
        self.next();
        let mut text = String::new();
        loop {
            let Some(letter) = self.text[self.at..].chars().next() else {
                return Err(self.scanner_error("found unexpected end of stream"));
            };
            match letter {
                '\'' if quote == b'\'' && self.text[self.at..].starts_with("''") => {
                    text.push('\'');
                    self.at += 2;
                }
                _ if u32::from(letter) == u32::from(quote) => {
                    self.at += 1;
                    return Ok(text);
                }
                '\\' if quote == b'"' => self.escape(&mut text)?,
                '\n' | '\r' => {
                    text.truncate(text.trim_end_matches([' ', '\t']).len());
                    let mut ends = 0;
                    while self.byte().is_some_and(|byte| byte.is_ascii_whitespace()) {
                        ends += usize::from(self.byte() == Some(b'\n'));
                        self.next();
                    }
                    text.push_str(&if ends < 2 { " ".to_string() } else { "\n".repeat(ends - 1) });
                }
                letter => {
                    text.push(letter);
                    self.at += letter.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), YamlError> {
        let letter = self.text[self.at + 1..].chars().next().unwrap_or(' ');
        let plain = match letter {
            '0' => Some('\0'),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            't' | '\t' => Some('\t'),
            'n' => Some('\n'),
            'v' => Some('\u{b}'),
            'f' => Some('\u{c}'),
            'r' => Some('\r'),
            'e' => Some('\u{1b}'),
            ' ' | '"' | '/' | '\\' => Some(letter),
            'N' => Some('\u{85}'),
            '_' => Some('\u{a0}'),
            'L' => Some('\u{2028}'),
            'P' => Some('\u{2029}'),
            _ => None,
        };
        self.at += 1;
        if let Some(plain) = plain {
            text.push(plain);
            self.at += letter.len_utf8();
            return Ok(());
        }
        let digits = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            '\n' => {
                while self.byte().is_some_and(|byte| byte.is_ascii_whitespace()) {
                    self.next();
                }
                return Ok(());
            }
            _ => return Err(self.scanner_error("found unknown escape character")),
        };
        let code = self.text.get(self.at + 1..self.at + 1 + digits);
        let read = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        let Some(read) = read else {
            return Err(self.scanner_error("did not find expected hexdecimal number"));
        };
        text.push(read);
        self.at += 1 + digits;
        Ok(())
    }
}

/// Returns how long the plain scalar at the beginning of a line is.
fn plain_length(line: &str) -> usize {
    let ends = |at: usize| {
        let behind = &line[at..];
        behind == ":" || behind.starts_with(": ") || behind.starts_with(":\t") || behind.starts_with(" #")
    };
    line.char_indices().map(|(at, _)| at).find(|at| ends(*at)).unwrap_or(line.len())
}

/// Returns how long the plain key at the beginning of a line is; `None` if no colon follows.
pub(super) fn plain_key_length(line: &str) -> Option<usize> {
    let length = plain_length(line);
    line[length..].starts_with(':').then_some(length)
}

fn flow_plain_length(line: &str) -> usize {
    let ends = |at: usize| {
        let behind = &line[at..];
        let mark = behind.strip_prefix(':').map(|rest| rest.is_empty() || rest.starts_with([' ', '\t', ',', ']', '}']));
        behind.starts_with([',', '[', ']', '{', '}']) || mark == Some(true) || behind.starts_with(" #")
    };
    line.char_indices().map(|(at, _)| at).find(|at| ends(*at)).unwrap_or(line.len())
}

/// Returns how long the scalar in quotes at the beginning of a line is; `None` if it goes on in the next line.
pub(super) fn quoted_length(line: &str, quote: u8) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 1,
            byte if byte == quote && quote == b'\'' && bytes.get(at + 1) == Some(&quote) => at += 1,
            byte if byte == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns a map with what its merge keys add to it: fields that it does not have.
pub(super) fn merged(fields: Vec<(String, Json)>, merges: Vec<Json>) -> Json {
    let mut map: Json = fields.into_iter().map(|(name, value)| (Text::from(name), value)).collect();
    for merge in merges {
        let sources = if merge.is_array() { merge.items().to_vec() } else { Vec::from([merge]) };
        for (name, value) in sources.iter().flat_map(Json::fields) {
            if !map.fields().any(|(own, _)| own == name) {
                map.set(&[name], value.clone());
            }
        }
    }
    map
}

/// Joins the lines of a block scalar.
pub(super) fn block_text(lines: &[String], folds: bool, (keeps, strips): (bool, bool)) -> String {
    let content = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let mut text = String::new();
    for (at, line) in lines[..content].iter().enumerate() {
        if at > 0 {
            let before = &lines[at - 1];
            let is_more = |line: &str| line.starts_with([' ', '\t']);
            let joins = folds && !line.is_empty() && !before.is_empty() && !is_more(line) && !is_more(before);
            let swallowed = folds && before.is_empty() && !line.is_empty() && !is_more(line);
            if joins {
                text.push(' ');
            } else if !swallowed {
                text.push('\n');
            }
        }
        text.push_str(line);
    }
    if keeps {
        text.push_str(&"\n".repeat(lines.len() - content + usize::from(content > 0)));
    } else if !strips && content > 0 {
        text.push('\n');
    }
    text
}
