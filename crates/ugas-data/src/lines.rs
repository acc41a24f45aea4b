//! An index from byte offsets to lines and columns. A lookup does not count lines from the start of the file.

/// Bytes between two indexed places.
const STEP: usize = 512;

/// The index of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lines {
    /// Line and column of every `STEP`th byte.
    marks: Vec<(u32, u32)>,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Lines {
        let (mut place, mut marks) = ((1, 1), Vec::with_capacity(text.len() / STEP + 1));
        for chunk in text.as_bytes().chunks(STEP) {
            marks.push(place);
            place = after(place, chunk);
        }
        Lines { marks }
    }

    /// Returns the line and column (in characters), from 1, of a byte offset in the indexed text.
    pub(crate) fn place(&self, text: &str, byte: usize) -> (u32, u32) {
        let byte = byte.min(text.len());
        let at = (byte / STEP).min(self.marks.len().saturating_sub(1));
        let begin = self.marks.get(at).copied().unwrap_or((1, 1));
        after(begin, &text.as_bytes()[at * STEP..byte])
    }
}

/// Returns the place after some bytes.
fn after((line, column): (u32, u32), bytes: &[u8]) -> (u32, u32) {
    // A continuation byte does not start a column.
    let columns = |bytes: &[u8]| bytes.iter().filter(|b| **b & 0xC0 != 0x80).count() as u32;
    match bytes.iter().rposition(|b| *b == b'\n') {
        Some(last) => {
            let lines = bytes[..=last].iter().filter(|b| **b == b'\n').count() as u32;
            (line + lines, 1 + columns(&bytes[last + 1..]))
        }
        None => (line, column + columns(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place_of;

    #[test]
    fn the_line_and_column_of_every_byte_equal_a_linear_count() {
        let long = format!("a: 1\nbö: {}\n\n{}\nlast", "é".repeat(700), "x\n".repeat(300));
        for text in ["", "a", "a\n", "ö\nü", &long] {
            let lines = Lines::of(text);
            for byte in (0..=text.len()).filter(|b| text.is_char_boundary(*b)) {
                assert_eq!(lines.place(text, byte), place_of(text, byte), "{byte}");
            }
        }
    }
}
