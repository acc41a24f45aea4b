//! Any serialisable value as a flat list of tokens.
