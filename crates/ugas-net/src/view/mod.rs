//! What an observer sees of a controller, and its difference to what it saw before.
