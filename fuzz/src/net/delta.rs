//! Arbitrary bits as a delta to the state of a controller.

use super::Done;
use super::game::{rules, rules_with_sets, session, session_with_sets};
use std::sync::OnceLock;
use ugas_core::{NoHost, Portable, Sim, SimTime, Spec};
use ugas_net::internals::wire::bits::{BitReader, BitWriter};
use ugas_net::internals::wire::delta::{Limits, decode, encode};
use ugas_net::internals::wire::token::Tokens;

/// Returns the state of a poisoned controller, with or without capability sets.
fn known(has_sets: bool) -> &'static Tokens {
    static KNOWN: [OnceLock<Tokens>; 2] = [OnceLock::new(), OnceLock::new()];
    KNOWN[usize::from(has_sets)].get_or_init(|| {
        let (mut server, own, _) = if has_sets { session_with_sets() } else { session() };
        let poison = server.sim().rules().effect("GE_Poison").expect("it has its effect");
        server.sim_mut().apply(&Spec::new(poison, own)).expect("it can be applied");
        server.step(&mut NoHost);
        let mut tokens = Tokens::new();
        tokens.write(&server.sim().remote().snapshot(own).expect("it is there")).expect("it can be written");
        tokens
    })
}

/// Decodes a delta, encodes the result again and, if it is a controller, imports it.
pub fn delta(bytes: &[u8], done: Done<'_>) {
    let [kind, bits @ ..] = bytes else { return };
    let nothing = Tokens::new();
    let has_sets = kind & 4 != 0;
    let old = if kind & 1 == 0 { known(has_sets) } else { &nothing };
    let limits = if kind & 2 == 0 { Limits::default() } else { Limits { tokens: 40, bytes: 40 } };
    let mut new = Tokens::new();
    let read = decode(old, &mut BitReader::new(bits), limits, &mut new);
    done("decode");
    assert!(new.len() <= limits.tokens && new.byte_len() <= limits.bytes);
    if read.is_err() {
        assert!(new.is_empty(), "nothing is left of what could not be read");
        return;
    }
    let (mut out, mut again) = (BitWriter::new(), Tokens::new());
    encode(old, &new, &mut out);
    decode(old, &mut BitReader::new(out.finish()), limits, &mut again).expect("what was written is read");
    assert_eq!(again, new, "and is the same");
    done("encode");
    if let Ok(portable) = new.read::<Portable>() {
        let rules = if has_sets { rules_with_sets() } else { rules() };
        let mut sim = Sim::new(rules, ugas_core::SimConfig::default());
        sim.advance_to(SimTime::frames(1, 60));
        let mark = sim.remote().journal_end(portable.id());
        if let Ok(image) = sim.remote_mut().import(&portable, mark) {
            let _ = sim.resimulate(&image, None, &mut [ugas_core::ResimulationStop::at(SimTime::frames(10, 60))]);
        }
        done("check");
    }
}
