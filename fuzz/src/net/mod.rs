//! What must hold for any bytes from the other side of a connection. Each function takes one input and panics where a
//! promise is broken.
//!
//! An input is a list of records: a byte that says what kind of thing follows, its length in two bytes (the lower first)
//! and so many bytes; the last record ends with the input.

mod carrier;
mod client;
mod delta;
mod game;
mod server;
mod views;

pub use carrier::carrier;
pub use client::client;
pub use delta::delta;
pub use server::server;
pub use views::views;

/// Told after each thing that was done with the input, by its name.
pub type Done<'d> = &'d mut dyn FnMut(&'static str);

/// What a target does with an input.
pub type Body = fn(&[u8], Done<'_>);

/// A target: its name, which is also its corpus's, and its body.
pub type Target = (&'static str, Body);

/// Every target there is.
pub const TARGETS: [Target; 5] = [
    ("net_carrier", carrier),
    ("net_server", server),
    ("net_client", client),
    ("net_delta", delta),
    ("net_views", views),
];

/// Records of one input; an honest packet or a few hundred of them.
const RECORDS: usize = 256;

/// The records of an input.
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
