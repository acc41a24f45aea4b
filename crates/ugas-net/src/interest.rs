//! Who hears of whom, how urgently and how often.
