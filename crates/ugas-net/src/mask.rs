//! Which parts of a controller its owner and others may see.
