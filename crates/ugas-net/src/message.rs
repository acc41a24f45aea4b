//! What the two sides say to each other.
