//! The server session: commands in, states out.
