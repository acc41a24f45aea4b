//! Whole numbers and fractions in as few bits as they need, exactly.
