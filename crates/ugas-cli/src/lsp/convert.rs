//! Conversion between editor positions and spans. An editor position is a line and a column in UTF-16 code units, and
//! an editor identifies files by URI. A span of a [`Project`](ugas_data::Project) consists of byte offsets, and a
//! project identifies files by path.

use lsp_types::{Position, Range, Uri};
use std::path::{Path, PathBuf};
use ugas_data::{Diagnostic, Span, byte_at};

/// Returns the editor position of a byte offset, limited to the end of the text.
pub(crate) fn position(text: &str, byte: usize) -> Position {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().map_or(0, |l| l.encode_utf16().count());
    Position::new(clip(line), clip(column))
}

/// Returns the byte offset of an editor position, limited to the end of its line and of the text.
pub(crate) fn byte_of(text: &str, at: Position) -> usize {
    let mut start = 0;
    for _ in 0..at.line {
        match text[start..].find('\n') {
            Some(end) => start += end + 1,
            None => return text.len(),
        }
    }
    let line = text[start..].split('\n').next().unwrap_or("").trim_end_matches('\r');
    let mut units = 0;
    for (offset, c) in line.char_indices() {
        if units >= at.character as usize {
            return start + offset;
        }
        units += c.len_utf16();
    }
    start + line.len()
}

/// Returns the editor range of a span.
pub(crate) fn range(text: &str, span: Span) -> Range {
    Range::new(position(text, span.start as usize), position(text, span.end as usize))
}

/// Returns the editor range of a finding.
pub(crate) fn range_of(text: &str, finding: &Diagnostic) -> Range {
    if finding.span.end > 0 {
        return range(text, finding.span);
    }
    let byte = |line, column| position(text, byte_at(text, line, column));
    Range::new(byte(finding.line, finding.column), byte(finding.end_line, finding.end_column))
}

fn clip(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Returns the path of a file URI; `None` for other URIs.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(path.len());
    let mut at = path.bytes();
    while let Some(b) = at.next() {
        bytes.push(match b {
            b'%' => {
                let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
                let (high, low) = (digit(at.next())?, digit(at.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            b => b,
        });
    }
    let path = String::from_utf8(bytes).ok().filter(|p| !p.contains('\0'))?;
    // On Windows `/c:/games` means `c:/games`.
    let drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if drive { &path[1..] } else { &path }))
}

/// Returns the URI of a file.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    let path = path.to_str()?.replace('\\', "/");
    let mut address = String::from("file://");
    if !path.starts_with('/') {
        address.push('/');
    }
    for b in path.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => address.push(char::from(b)),
            b => address.push_str(&format!("%{b:02X}")),
        }
    }
    address.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units() {
        let text = "a: ö\r\nb: 😀x\n";
        let x = text.find('x').unwrap();
        assert_eq!(position(text, x), Position::new(1, 5));
        assert_eq!(byte_of(text, Position::new(1, 5)), x);
        // Positions in the middle of a surrogate pair, after the end of a line, and after the end of the text.
        assert_eq!(byte_of(text, Position::new(1, 4)), x);
        assert_eq!(byte_of(text, Position::new(0, 99)), "a: ö".len());
        assert_eq!(byte_of(text, Position::new(99, 0)), text.len());
        assert_eq!(position(text, usize::MAX), Position::new(2, 0));
        for (byte, _) in text.char_indices().filter(|(_, c)| *c != '\n') {
            assert_eq!(byte_of(text, position(text, byte)), byte);
        }
    }

    #[test]
    fn paths_and_uris_round_trip() {
        let path = Path::new("/games/mein Spiel/größe#1.yaml");
        let uri = uri_of(path).unwrap();
        assert!(uri.as_str().is_ascii() && !uri.as_str().contains(' '));
        assert_eq!(path_of(&uri).unwrap(), path);
        for none in ["untitled:Untitled-1", "http://example.invalid/a.yaml", "file:relative", "file:///%FF"] {
            assert_eq!(none.parse().ok().and_then(|uri| path_of(&uri)), None, "{none}");
        }
    }
}
