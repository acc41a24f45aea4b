//! Limits for input. Files may come from untrusted sources (mods, downloads), so every quantity that grows with the
//! input has a limit. The limits are far above normal files.

/// The largest file, in bytes.
pub const MAX_BYTES: usize = 16 << 20;

/// The deepest nesting of lists and maps, with aliases expanded. This limit also bounds every recursion over a tree.
pub const MAX_DEPTH: usize = 64;

/// The most values in one file, with aliases expanded. This limit stops alias bombs.
pub const MAX_NODES: usize = 1 << 20;

/// The base of the limit for values in one file, with aliases expanded: this number plus four values per byte of the
/// file. This limit stops many small alias bombs.
pub const MAX_NODES_OF_SMALL: usize = 10_000;

/// The most text in one file, with aliases expanded, in bytes.
pub const MAX_TEXT: usize = 2 * MAX_BYTES;

/// The base of the limit for text in one file, with aliases expanded, in bytes: this number plus four bytes per byte of
/// the file.
pub const MAX_TEXT_OF_SMALL: usize = 1 << 18;

/// The number of errors in one file after which reading it stops.
pub const MAX_ERRORS: usize = 100;

/// The most errors that are reported for one document.
pub const MAX_ERRORS_PER_DOCUMENT: usize = 20;

/// The most points in the table of one curve, and in all tables that the curves of one file use together.
pub const MAX_POINTS: usize = 100_000;

/// The cost limit for all patches of a document set, roughly in nanoseconds. The cost grows with the bytes of the
/// targets that are read again and with the number of compared fields.
pub const MAX_PATCHING: usize = 256 << 20;

/// The most findings of the rules builder that are reported for one document.
pub const MAX_FINDINGS_PER_DOCUMENT: usize = 100;

/// The most findings of the rules builder that are reported for one pack.
pub const MAX_FINDINGS: usize = 10_000;

/// The most packs that one pack may require.
pub const MAX_REQUIRED: usize = 256;

/// The most files in one folder.
pub const MAX_FILES: usize = 100_000;
