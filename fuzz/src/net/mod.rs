//! The invariants for arbitrary bytes from the network. Each function takes one input and panics if an
//! invariant is broken.
//!
//! An input is a list of records: a byte with the kind, the length in two little-endian bytes, and that many
//! bytes; the last record ends with the input.

mod carrier;
mod client;
mod delta;
mod game;
mod moves;
mod server;
mod views;

pub use carrier::carrier;
pub use client::client;
pub use delta::delta;
pub use moves::moves;
pub use server::server;
pub use views::views;

/// A callback that receives the name of each finished step.
pub type Done<'d> = &'d mut dyn FnMut(&'static str);

/// The body of a target.
pub type Body = fn(&[u8], Done<'_>);

/// A target: its name, which is also the name of its corpus, and its body.
pub type Target = (&'static str, Body);

/// All targets.
pub const TARGETS: [Target; 6] = [
    ("net_carrier", carrier),
    ("net_server", server),
    ("net_client", client),
    ("net_delta", delta),
    ("net_views", views),
    ("net_moves", moves),
];

/// The maximum number of records of one input.
const RECORDS: usize = 256;

/// Returns the records of an input.
fn records(mut bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let mut list = Vec::new();
    while let [kind, low, high, rest @ ..] = bytes {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (record, next) = rest.split_at(length);
        list.push((*kind, record));
        bytes = next;
        if list.len() == RECORDS {
            break;
        }
    }
    list
}
