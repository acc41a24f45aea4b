//! The integration tests of `ugas-net`, one module per subject, in one program: each program is linked on its own, and
//! linking many of them took most of the time that building the tests took.

mod aims;
mod boundary;
mod burst;
mod carrier;
mod carrier_links;
mod carrier_rules;
mod confirmed;
mod corpora;
mod costs;
mod hidden_bytes;
mod kit;
mod knowledge;
mod link;
mod observer_events;
mod prediction;
mod rate_of_fire;
mod releases;
mod remote_facts;
mod session;
mod session_backlog;
mod session_blip;
mod session_cues;
mod session_far;
mod session_hostile;
mod session_interest;
mod session_leave;
mod session_links;
mod session_return;
mod session_updates;
mod session_validation;
mod swarm;
mod truth_table;
mod view;
mod wire_portable;
