//! Arbitrary bits as sections of remote actors.

use super::game::{LENGTH, rules, rules_with_sets};
use super::{Done, records};
use ugas_net::internals::view::{Pose, Proxies, read_next};
use ugas_net::internals::wire::bits::BitReader;
use ugas_net::types::Tick;

/// Reads lists of actors as a session does.
pub fn views(bytes: &[u8], done: Done<'_>) {
    let list = records(bytes);
    // With capability sets, sections contain those that an actor has.
    let has_sets = list.first().is_some_and(|(kind, _)| kind & 32 != 0);
    let mut proxies = Proxies::new(if has_sets { rules_with_sets() } else { rules() }, LENGTH);
    let mut tick = Tick(1);
    for (kind, record) in list {
        tick = tick.plus(u32::from(kind % 16));
        let (mut from, mut last, mut changes) = (BitReader::new(record), None, Vec::new());
        while let Ok(Some(who)) = read_next(&mut from, &mut last) {
            if proxies.read(&mut from, who, tick, &mut changes).is_err() {
                break;
            }
            if kind & 16 != 0 {
                proxies.remove(who, tick);
            }
        }
        assert!(changes.len() <= 200 * record.len() + 200, "{} changes of {} bytes", changes.len(), record.len());
        for proxy in proxies.iter() {
            proxy.snapshot();
        }
        let baseline = Pose::from(ugas_core::Anchor::at([1.0, 2.0, 3.0]));
        let _ = Pose::get(&mut BitReader::new(record), |_| Some(baseline));
        done("read");
    }
    assert!(proxies.len() <= bytes.len(), "an actor costs at least a byte");
    done("");
}
