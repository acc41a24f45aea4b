//! A controller as its owner receives it: exact, and in few bytes.

use ugas_core::{ControllerId, Portable, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec};
use ugas_doc::{Attribute, AttributeSet, Effect, TagRegistry};
use ugas_net::internals::wire::bits::{BitReader, BitWriter};
use ugas_net::internals::wire::delta::{Coder, Limits};
use ugas_net::internals::wire::token::Tokens;

/// A controller with sixteen attributes.
fn hero() -> (Sim, ControllerId) {
    let set = (0..16).fold(AttributeSet::new("Body"), |set, n| {
        let initial = [100.0, 50.0][n % 2];
        set.with(Attribute::new(format!("A{n}"), initial))
    });
    let rules = Rules::builder()
        .add(set)
        .add(TagRegistry::new(["State.Poisoned", "State.Fast"]))
        .add(Effect::instant("GE_Hit").add("A4", -17.0).add("A9", -8.5))
        .add(Effect::instant("GE_Third").multiply("A4", 1.0 / 3.0))
        .add(Effect::lasting("GE_Poison", 6.0).add("A4", -1.0).every(1.0).grants("State.Poisoned"))
        .add(Effect::lasting("GE_Haste", 4.0).add("A7", 2.5).grants("State.Fast"))
        .add(Effect::infinite("GE_Aura").multiply("A2", 0.25));
    let rules = rules.build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([rules.set("Body").unwrap()])).unwrap();
    (sim, who)
}

fn apply(sim: &mut Sim, who: ControllerId, name: &str) {
    let id = sim.rules().effect(name).unwrap();
    sim.apply(&Spec::new(id, who).from(who)).unwrap();
}

fn seen(sim: &Sim, who: ControllerId) -> Tokens {
    let mut portable = sim.remote().snapshot(who).unwrap();
    portable.strip();
    let mut tokens = Tokens::new();
    tokens.write(&portable).unwrap();
    tokens
}

/// Sends the difference and returns its number of bits.
fn sent(old: &Tokens, new: &Tokens) -> usize {
    let mut out = BitWriter::new();
    let mut coder = Coder::default();
    coder.encode(old, new, &mut out);
    let bits = out.bit_len();
    let mut back = Tokens::new();
    coder.decode(old, &mut BitReader::new(out.finish()), Limits::default(), &mut back).unwrap();
    assert_eq!(&back, new);
    bits
}

#[test]
fn two_changed_values_of_sixteen_fit_into_eight_bytes() {
    let (mut sim, who) = hero();
    apply(&mut sim, who, "GE_Aura");
    let old = seen(&sim, who);
    apply(&mut sim, who, "GE_Hit");
    let value = |name: &str| sim.get(who, sim.rules().attribute(name).unwrap()).unwrap();
    assert_eq!((value("A4"), value("A9")), (83.0, 41.5));
    let bits = sent(&old, &seen(&sim, who));
    assert!(bits <= 64, "{bits} bits");
}

#[test]
fn an_unchanged_state_takes_one_bit() {
    let (mut sim, who) = hero();
    apply(&mut sim, who, "GE_Poison");
    assert_eq!(sent(&seen(&sim, who), &seen(&sim, who)), 1);
}

#[test]
fn a_portable_round_trips_exactly() {
    let (mut sim, who) = hero();
    for name in ["GE_Poison", "GE_Haste", "GE_Aura", "GE_Third", "GE_Haste"] {
        apply(&mut sim, who, name);
        assert!(sim.advance_to(sim.now() + SimTime::millis(700)).finished);
        let mut tokens = Tokens::new();
        tokens.write(&sim.remote().snapshot(who).unwrap()).unwrap();
        let back: Portable = tokens.read().unwrap();
        let mut again = Tokens::new();
        again.write(&back).unwrap();
        assert_eq!(again, tokens);
        let mut other = sim.clone();
        other.extract(who).unwrap();
        other.insert(&back).unwrap();
        assert_eq!(other.row_hash(who), sim.row_hash(who));
    }
}

// The total cost of a fight: a hit every 20 ticks, poison, haste, and a value without a short decimal form.
#[test]
fn a_fight_is_sent_as_deltas_tick_by_tick() {
    let (mut sim, who) = hero();
    let mut old = seen(&sim, who);
    let (mut total, mut quiet) = (0, 0);
    for tick in 1..=600i64 {
        match tick % 97 {
            5 => apply(&mut sim, who, "GE_Poison"),
            30 | 60 => apply(&mut sim, who, "GE_Haste"),
            70 => apply(&mut sim, who, "GE_Third"),
            n if n % 20 == 0 => apply(&mut sim, who, "GE_Hit"),
            _ => {}
        }
        assert!(sim.advance_to(SimTime::frames(tick, 50)).finished);
        let new = seen(&sim, who);
        let bits = sent(&old, &new);
        total += bits;
        quiet += (bits == 1) as usize;
        old = new;
    }
    assert!(total <= 13_000, "{total} bits");
    assert!(quiet >= 450, "{quiet} ticks without changes");
}
