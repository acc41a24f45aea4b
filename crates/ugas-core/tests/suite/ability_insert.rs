//! Controllers with running abilities that come from outside: moved between sims with definitions of their own, and
//! damaged or forged on the way.

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
fn a_running_ability_that_was_made_at_run_time_goes_on_under_another_number() {
    let rules = base().build().unwrap();
    let doc = Ability::new("GA_Made").owned("State.Buff").task(wait(1.0)).task(mark("GE_Mark"));
    let mut home = Sim::new(rules.clone(), Default::default());
    let hero = spawn(&mut home);
    let id = made(&mut home, doc.clone());
    home.grant(hero, AbilityGrant::new(id)).unwrap();
    home.activate(hero, id, Target::None).unwrap();
    go(&mut home, 0.5);
    let portable = moved(&home.extract(hero).unwrap());

    let mut away = Sim::new(rules.clone(), Default::default());
    away.define(Effect::infinite("GE_Other")).unwrap();
    let other = made(&mut away, Ability::new("GA_Other").task(wait(9.0)));
    go(&mut away, 3.0);
    away.insert(&portable).unwrap();
    let running: Vec<_> = away.activations(hero).unwrap().collect();
    assert_eq!(running.len(), 1);
    let here = running[0].ability;
    assert!(here != id && here != other);
    let buff = tag(&rules, "State.Buff");
    assert!(away.has_tag(hero, buff).unwrap());
    go(&mut away, 3.4);
    assert_eq!(get(&away, hero, "AttackPower"), 10.0);
    go(&mut away, 3.5);
    assert_eq!(get(&away, hero, "AttackPower"), 11.0);
    assert!(!away.has_tag(hero, buff).unwrap());
    away.activate(hero, here, Target::None).unwrap();
    // What is in use cannot be forgotten.
    assert!(away.undefine(DefId::Ability(here)).is_err());
}

/// Whatever was accepted must run, answer and go.
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

/// Moments of the script at which much runs, taken out.
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
    // Somebody to aim at, under the number of the one aimed at.
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
fn forged_fields_of_running_abilities_never_panic_and_what_is_accepted_works() {
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
fn bytes_damaged_in_running_abilities_never_panic() {
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

// A row from outside has no more of anything than ops would have given it.
#[test]
fn an_inserted_row_keeps_to_the_limits() {
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
