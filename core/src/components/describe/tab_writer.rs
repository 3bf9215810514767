//! Aligns cells that tabs end, as Go's text/tabwriter does.
//!
//! Source: Go's text/tabwriter (1.24), with the settings of k8s.io/kubectl pkg/describe/describe.go (v1.34),
//! `tabbedString`: no least width, two blanks between columns. Pure. A column is a block of following lines that all
//! have a cell there; the last cell of a line belongs to none.

use alloc::string::String;
use alloc::vec::Vec;

/// Blanks behind the widest cell of a column.
const PADDING: usize = 2;

/// Lines of cells.
#[derive(Default)]
pub(super) struct TabWriter {
    waiting: Vec<Vec<String>>,
    done: Vec<String>,
}

impl TabWriter {
    /// Adds a line; a tab ends a cell.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        self.waiting.push(line.as_ref().split('\t').map(String::from).collect());
    }

    /// Ends all columns.
    pub(super) fn flush(&mut self) {
        let lines = core::mem::take(&mut self.waiting);
        self.format(&lines, &mut Vec::new());
    }

    /// Returns the lines.
    pub(super) fn finish(mut self) -> Vec<String> {
        self.flush();
        self.done
    }

    /// Writes lines of which the widths of the first columns are known.
    fn format(&mut self, lines: &[Vec<String>], widths: &mut Vec<usize>) {
        let column = widths.len();
        let has_cell = |line: &Vec<String>| line.len() > column + 1;
        let (mut begin, mut at) = (0, 0);
        while at < lines.len() {
            if !has_cell(&lines[at]) {
                at += 1;
                continue;
            }
            self.write(&lines[begin..at], widths);
            begin = at;
            while at < lines.len() && has_cell(&lines[at]) {
                at += 1;
            }
            let block = &lines[begin..at];
            let widest = block.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
            widths.push(widest + PADDING);
            self.format(block, widths);
            widths.pop();
            begin = at;
        }
        self.write(&lines[begin..], widths);
    }

    fn write(&mut self, lines: &[Vec<String>], widths: &[usize]) {
        for line in lines {
            let mut written = String::new();
            for (place, cell) in line.iter().enumerate() {
                written.push_str(cell);
                if let Some(width) = widths.get(place).filter(|_| place + 1 < line.len()) {
                    written.extend(core::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
                }
            }
            self.done.push(written);
        }
    }
}
