//! What a file may cost. Files come from strangers (mods, downloads), so everything that grows with the input has a
//! bound that no honest file comes near.

/// Largest file, in bytes.
pub const MAX_BYTES: usize = 16 << 20;

/// Deepest nesting of lists and maps, aliases expanded. It also bounds every recursion over a tree.
pub const MAX_DEPTH: usize = 64;

/// Largest number of values in one file, aliases expanded. This is what stops an alias bomb.
pub const MAX_NODES: usize = 1 << 20;

/// Largest amount of text in one file, aliases expanded, in bytes.
pub const MAX_TEXT: usize = 2 * MAX_BYTES;

/// Errors reported for one file before reading it stops.
pub const MAX_ERRORS: usize = 100;

/// Errors reported for one document.
pub const MAX_ERRORS_PER_DOCUMENT: usize = 20;

/// Largest number of points in the table of a curve.
pub const MAX_POINTS: usize = 100_000;

/// Largest number of files in one folder.
pub const MAX_FILES: usize = 100_000;
