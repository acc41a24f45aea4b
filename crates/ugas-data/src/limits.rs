//! Limits for input. Files may come from untrusted sources (mods, downloads), so every quantity that grows with the
//! input has a limit. Normal files stay far below these limits.

/// The maximum size of a file, in bytes.
pub const MAX_BYTES: usize = 16 << 20;

/// The maximum nesting depth of lists and maps, with aliases expanded. This limit also bounds every recursion over a
/// tree.
pub const MAX_DEPTH: usize = 64;

/// The maximum number of values in one file, with aliases expanded. This limit stops alias bombs.
pub const MAX_NODES: usize = 1 << 20;

/// A stricter limit for small files, which stops alias bombs: with aliases expanded, a file may have at most this
/// number of values plus four values per byte of the file.
pub const MAX_NODES_OF_SMALL: usize = 10_000;

/// The maximum length of all texts in one file together, with aliases expanded, in bytes.
pub const MAX_TEXT: usize = 2 * MAX_BYTES;

/// A stricter limit for small files: with aliases expanded, the texts in a file may have at most this number of bytes
/// plus four bytes per byte of the file.
pub const MAX_TEXT_OF_SMALL: usize = 1 << 18;

/// The number of errors after which the reading of a file stops.
pub const MAX_ERRORS: usize = 100;

/// The maximum number of errors that are reported for one document.
pub const MAX_ERRORS_PER_DOCUMENT: usize = 20;

/// The maximum number of points in the table of one curve, and the maximum total for the tables of all curves of one
/// file.
pub const MAX_POINTS: usize = 100_000;

/// The maximum cost of all patches of a document set, roughly in nanoseconds. The cost grows with the size of the
/// patched documents and with the number of fields that are compared.
pub const MAX_PATCHING: usize = 256 << 20;

/// The maximum number of findings of the rules builder that are reported for one document.
pub const MAX_FINDINGS_PER_DOCUMENT: usize = 100;

/// The maximum number of findings of the rules builder that are reported for one document set.
pub const MAX_FINDINGS: usize = 10_000;

/// The maximum number of packs that one pack may require directly.
pub const MAX_REQUIRED: usize = 256;

/// The maximum number of files in one folder and its subfolders.
pub const MAX_FILES: usize = 100_000;
