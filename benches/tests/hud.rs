//! Reads of a HUD: cooldown, cast, charges and effects as remaining, total and fraction, stacks, castable with its
//! reason. A HUD asks every frame, so no answer may allocate; this program counts, and holds this one test alone.

#[path = "../src/alloc.rs"]
#[allow(dead_code)]
mod alloc;

use ugas_core::{
    AbilityGrant, ControllerId, EffectKey, GrantId, Refusal, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target,
    Timer, Which,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect, Stacking};

struct Hud {
    cooldown: Option<Timer>,
    cast: Option<Timer>,
    charge: Option<Timer>,
    charges: (u32, u32),
    effect: Option<Timer>,
    stacks: u32,
    castable: [Option<Refusal>; 3],
    ready: [Option<SimTime>; 3],
}

fn read(sim: &Sim, who: ControllerId, [bolt, dash, chant]: [GrantId; 3], ward: EffectKey) -> Result<Hud, Refusal> {
    let charges = sim.charges(who, dash)?.ok_or(Refusal::StaleHandle)?;
    let effect = sim.effect(ward)?;
    let castable = [sim.castable(who, bolt)?, sim.castable(who, dash)?, sim.castable(who, chant)?];
    Ok(Hud {
        cooldown: sim.cooldown(who, bolt)?,
        cast: sim.cast(who)?.map(|c| c.timer),
        charge: charges.timer(),
        charges: (charges.have, charges.max),
        effect: effect.timer(),
        stacks: effect.stacks,
        castable: castable.map(|c| c.reason),
        ready: castable.map(|c| c.ready_at),
    })
}

fn shown(timer: Option<Timer>) -> Option<(f64, f64, f64)> {
    timer.map(|t| (t.remaining.as_seconds(), t.total.as_seconds(), t.fraction()))
}

// covers: PEER-19
#[test]
fn a_hud_reads_remaining_times_without_allocating() {
    let mut ward = Effect::lasting("GE_Ward", 6.0).grants("State.Warded");
    ward.stacking = Some(Stacking { limit: Some(5), ..Stacking::default() });
    let rules = Rules::builder()
        .add(AttributeSet::new("V").with(Attribute::new("Mana", 100.0).min(0.0)))
        .add(Effect::instant("GE_Cost").add("Mana", -10.0))
        .add(Effect::lasting("GE_Cooldown", 5.0).grants("Cooldown.Bolt"))
        .add(ward)
        .add(Ability::new("GA_Bolt").cost("GE_Cost").cooldown("GE_Cooldown"))
        .add(Ability::new("GA_Dash").charges(2, 4.0))
        .add(Ability::new("GA_Chant").cast(2.0, 1).task(AbilityTask::new("WaitDelay").param("Duration", 9.0)))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([rules.set("V").unwrap()])).unwrap();
    let grants = ["GA_Bolt", "GA_Dash", "GA_Chant"].map(|name| {
        let ability = rules.ability(name).unwrap();
        let grant = sim.grant(who, AbilityGrant::new(ability)).unwrap();
        sim.activate(who, ability, Target::None).unwrap();
        grant
    });
    let ward = sim.apply(&Spec::new(rules.effect("GE_Ward").unwrap(), who).stacks(3)).unwrap();
    sim.advance_to(SimTime::seconds(1.5));

    let hud = read(&sim, who, grants, ward).unwrap();
    assert_eq!(shown(hud.cooldown), Some((3.5, 5.0, 0.7)));
    assert_eq!(shown(hud.cast), Some((0.5, 2.0, 0.25)));
    assert_eq!((shown(hud.charge), hud.charges), (Some((2.5, 4.0, 0.625)), (1, 2)));
    assert_eq!((shown(hud.effect), hud.stacks), (Some((4.5, 6.0, 0.75)), 3));
    let kinds = hud.castable.map(|reason| reason.map(|r| r.kind()));
    assert_eq!(kinds, [Some("Casting"), Some("Casting"), Some("AlreadyActive")]);
    let seconds = |s: f64| Some(SimTime::seconds(s));
    assert_eq!(hud.ready, [seconds(5.0), seconds(2.0), None], "cast and cooldown ended, cast ended, unknown");
    // All reasons go into a list that the HUD keeps.
    let mut reasons = Vec::with_capacity(32);
    sim.why_not(who, Which::Grant(grants[0]), Target::None, &mut reasons).unwrap();
    assert_eq!(reasons.iter().map(|r| r.refusal.kind()).collect::<Vec<_>>(), ["Casting", "Cooldown"]);

    // The test harness may allocate too; a read that allocates would do so every time.
    let counts = (0..20).map(|_| {
        let before = alloc::allocations();
        std::hint::black_box(read(&sim, who, grants, ward).is_ok());
        let asked = sim.why_not(who, Which::Grant(grants[0]), Target::None, &mut reasons);
        std::hint::black_box(asked.is_ok());
        alloc::allocations() - before
    });
    assert_eq!(counts.min(), Some(0));
}
