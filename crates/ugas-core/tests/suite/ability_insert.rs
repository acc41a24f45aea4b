//! Controllers with active abilities that are inserted into a sim: moved between sims with their own definitions, and
//! with damaged or forged data.

use crate::kit::script::*;
use ugas_core::{
    AbilityGrant, AbilityId, ControllerId, DefId, EventData, Facts, Limits, Op, Portable, Sim, SimConfig, SimTime,
    Target, Which,
};
use ugas_doc::{Ability, Effect};

fn made(sim: &mut Sim, doc: Ability) -> AbilityId {
    match sim.define(doc).unwrap() {
        DefId::Ability(id) => id,
        other => panic!("{other:?}"),
    }
}

fn moved(portable: &Portable) -> Portable {
    serde_json::from_str(&serde_json::to_string(portable).unwrap()).unwrap()
}

// covers: OWN-14
#[test]
fn an_active_ability_defined_at_run_time_continues_under_another_id_after_a_move() {
    let rules = base().build().unwrap();
    let doc = Ability::new("GA_Made").owned("State.Buff").task(wait(1.0)).task(mark("GE_Mark"));
    let mut first = Sim::new(rules.clone(), Default::default());
    let hero = spawn(&mut first);
    let id = made(&mut first, doc.clone());
    first.grant(hero, AbilityGrant::new(id)).unwrap();
    first.activate(hero, id, Target::None).unwrap();
    go(&mut first, 0.5);
    let portable = moved(&first.extract(hero).unwrap());

    let mut second = Sim::new(rules.clone(), Default::default());
    second.define(Effect::infinite("GE_Other")).unwrap();
    let other = made(&mut second, Ability::new("GA_Other").task(wait(9.0)));
    go(&mut second, 3.0);
    second.insert(&portable).unwrap();
    let running: Vec<_> = second.activations(hero).unwrap().collect();
    assert_eq!(running.len(), 1);
    let here = running[0].ability;
    assert!(here != id && here != other);
    let buff = tag(&rules, "State.Buff");
    assert!(second.has_tag(hero, buff).unwrap());
    go(&mut second, 3.4);
    assert_eq!(get(&second, hero, "AttackPower"), 10.0);
    go(&mut second, 3.5);
    assert_eq!(get(&second, hero, "AttackPower"), 11.0);
    assert!(!second.has_tag(hero, buff).unwrap());
    second.activate(hero, here, Target::None).unwrap();
    // A definition in use cannot be undefined.
    assert!(second.undefine(DefId::Ability(here)).is_err());
}

/// An accepted row must run, be readable and be removable.
fn use_it(sim: &mut Sim, who: ControllerId) {
    let rules = sim.rules().clone();
    let sum = sim.hash();
    assert_eq!(sim.clone().hash(), sum);
    let foe = ControllerId(1);
    for tag_name in ["Event.Hit.Hard", "Event.Other"] {
        let event = EventData { instigator: Some(foe), ..EventData::new(tag(&rules, tag_name), who) };
        let _ = sim.event(event);
    }
    for g in sim.grants(who).unwrap() {
        let _ = (sim.castable(who, g.id), sim.charges(who, g.id), sim.cooldown(who, g.id));
        let _ = sim.why_not(who, Which::Grant(g.id), Target::Controller(foe), &mut Vec::new());
        let _ = sim.ability_state(who, g.id);
    }
    let _ = (sim.cast(who), sim.global_cooldowns(who), sim.activations(who).unwrap().count());
    for t in sim.tasks(who).unwrap() {
        let _ = sim.complete(t.key, Default::default());
    }
    for name in ["GE_Burn", "GE_Stun", "GE_Hurt", "GE_Haste"] {
        let _ = sim.apply(&ugas_core::Spec::new(effect(&rules, name), who).from(foe));
    }
    let fire = rules.input("Fire").unwrap();
    let _ = sim.press(who, fire, Target::None);
    let now = sim.now();
    for seconds in [0.02, 0.3, 2.0] {
        sim.advance_with(now + SimTime::seconds(seconds), &mut Ground(foe));
    }
    let _ = sim.release(who, fire);
    let carried = sim.extract(who).unwrap();
    assert_eq!(sim.insert(&carried), Ok(who));
    let handles: Vec<u64> = (0..40).collect();
    for handle in handles {
        let _ = sim.revoke_set(who, handle);
    }
    for name in ABILITIES {
        let which = Which::Ability(ability(&rules, name));
        let _ = sim.validate(who, which, true);
        let _ = sim.activate_which(who, which, Target::Controller(foe));
        let _ = sim.run(Op::Revoke { who, which });
    }
    sim.advance_to(now + SimTime::seconds(3.0));
    sim.despawn(who).unwrap();
    sim.hash();
    sim.take_facts(&mut Facts::default());
}

/// Rows extracted at ticks of the script with many active abilities.
fn rich(seed: u64) -> (Sim, Vec<Portable>) {
    let rules = kit();
    let mut p = Play::new(&rules, seed);
    let mut best: Vec<(usize, Portable)> = Vec::new();
    for _ in 0..300 {
        p.step();
        let kinds = |who| {
            let sim = &p.sim;
            let tasks = sim.tasks(who).unwrap();
            let more = [sim.cast(who).unwrap().is_some(), !sim.global_cooldowns(who).unwrap().is_empty()];
            tasks.len() + 4 * more.iter().filter(|m| **m).count() + sim.activations(who).unwrap().count()
        };
        let score = kinds(p.hero);
        best.push((score, p.sim.clone().extract(p.hero).unwrap()));
    }
    best.sort_by_key(|b| std::cmp::Reverse(b.0));
    let mut sim = Sim::new(rules, config(seed));
    // A target with the id that the row aims at.
    spawn(&mut sim);
    spawn(&mut sim);
    sim.despawn(ControllerId(0)).unwrap();
    let few = best.into_iter().step_by(9).take(2).map(|b| b.1).collect();
    (sim, few)
}

fn leaves(value: &serde_json::Value, path: &str, into: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => map.iter().for_each(|(k, v)| leaves(v, &format!("{path}/{k}"), into)),
        serde_json::Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, v)| leaves(v, &format!("{path}/{i}"), into))
        }
        _ => into.push(path.to_owned()),
    }
}

#[test]
fn forged_fields_of_active_abilities_never_panic_and_accepted_rows_work() {
    use serde_json::json;
    let numbers = [0, 1, 2, 3, 7, 255, 65_534, 65_535, u32::MAX as u64, 1 << 31, i64::MAX as u64, u64::MAX, 1 << 44];
    let forged: Vec<_> = numbers
        .iter()
        .map(|n| json!(n))
        .chain([json!(-1), json!(i64::MIN), json!(1e308), json!(null), json!(true), json!("Ending"), json!("Granted")])
        .collect();
    let (blank, portables) = rich(3);
    let (mut failures, mut accepted, mut refused) = (Vec::new(), 0, 0);
    for portable in &portables {
        let whole = serde_json::to_value(portable).unwrap();
        let mut places = Vec::new();
        leaves(&whole, "", &mut places);
        places.retain(|p| p.contains("/play/") || p.contains("/grants/"));
        for place in &places {
            for value in &forged {
                let mut broken = whole.clone();
                *broken.pointer_mut(place).unwrap() = value.clone();
                let Ok(portable) = serde_json::from_value::<Portable>(broken) else { continue };
                let mut sim = blank.clone();
                // A panic is caught to name all places at once.
                let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let good = sim.insert(&portable).is_ok();
                    if good {
                        use_it(&mut sim, portable.id());
                    }
                    good
                }));
                match tried {
                    Ok(true) => accepted += 1,
                    Ok(false) => refused += 1,
                    Err(_) => failures.push(format!("{place} = {value}")),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} forged fields broke the sim:\n{}", failures.len(), failures.join("\n"));
    assert!(accepted > 100 && refused > 100, "{accepted} {refused}");
}

#[test]
fn damaged_bytes_of_active_abilities_never_panic() {
    let (blank, portables) = rich(8);
    let (mut rng, mut read, mut accepted) = (Rng(1), 0, 0);
    for n in 0..1_000 {
        let mut bytes = postcard::to_allocvec(&portables[n % portables.len()]).unwrap();
        for _ in 0..=rng.below(2) {
            let at = rng.below(bytes.len());
            match rng.below(3) {
                0 => bytes[at] ^= 1 << rng.below(8),
                1 => bytes[at] = rng.next() as u8,
                _ => drop(bytes.remove(at)),
            }
        }
        let Ok(portable) = postcard::from_bytes::<Portable>(&bytes) else { continue };
        read += 1;
        let mut sim = blank.clone();
        if sim.insert(&portable).is_ok() {
            accepted += 1;
            use_it(&mut sim, portable.id());
        }
    }
    assert!(read > 200 && accepted > 20, "{read} read, {accepted} accepted");
}

// An inserted row must respect the limits that ops respect.
#[test]
fn an_inserted_row_must_respect_the_limits() {
    let rules = rules_with(Ability::new("GA"));
    let mut s = Stage::new(&rules, "GA");
    s.sim.grant(s.hero, AbilityGrant::new(s.ability)).unwrap();
    let row = s.sim.extract(s.hero).unwrap();
    for (grants, fits) in [(1, false), (2, true)] {
        let limits = Limits { grants_per_controller: grants, ..Limits::default() };
        let mut other = Sim::new(rules.clone(), SimConfig { limits, ..SimConfig::default() });
        assert_eq!(other.insert(&row).is_ok(), fits, "{grants}");
    }
}
