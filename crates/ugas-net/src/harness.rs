//! A server and its clients over simulated links, stepped in virtual time.
