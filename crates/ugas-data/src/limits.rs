//! Limits for input. Files may come from untrusted sources (mods, downloads), so everything that grows with the input has a
//! limit far above normal files.

/// Largest file, in bytes.
pub const MAX_BYTES: usize = 16 << 20;

/// Deepest nesting of lists and maps, aliases expanded. It also bounds every recursion over a tree.
pub const MAX_DEPTH: usize = 64;

/// Largest number of values in one file, aliases expanded. This stops alias bombs.
pub const MAX_NODES: usize = 1 << 20;

/// Largest number of values in a small file, aliases expanded; each byte of a file allows four more. This stops many
/// small alias bombs.
pub const MAX_NODES_OF_SMALL: usize = 10_000;

/// Largest amount of text in one file, aliases expanded, in bytes.
pub const MAX_TEXT: usize = 2 * MAX_BYTES;

/// Largest amount of text in a small file, aliases expanded, in bytes; each byte of a file allows four more.
pub const MAX_TEXT_OF_SMALL: usize = 1 << 18;

/// Errors reported for one file before reading it stops.
pub const MAX_ERRORS: usize = 100;

/// Errors reported for one document.
pub const MAX_ERRORS_PER_DOCUMENT: usize = 20;

/// Largest number of points in the table of a curve, and in all tables that one file names.
pub const MAX_POINTS: usize = 100_000;

/// Budget for all patches of a set, roughly in nanoseconds: bytes of targets read again, and compared fields.
pub const MAX_PATCHING: usize = 256 << 20;

/// Findings of the rules builder that are reported for one document.
pub const MAX_FINDINGS_PER_DOCUMENT: usize = 100;

/// Findings of the rules builder that are reported for one pack.
pub const MAX_FINDINGS: usize = 10_000;

/// Packs that one pack may require.
pub const MAX_REQUIRED: usize = 256;

/// Largest number of files in one folder.
pub const MAX_FILES: usize = 100_000;
