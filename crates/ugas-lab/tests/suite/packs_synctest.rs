//! A seeded script uses all abilities of three heroes of a pack in every tick. The sim is repeatedly rolled back by one
//! to sixteen ticks and resimulated, and must reach the same state.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, ActorId, Anchor, BlockSource, ControllerId, EffectFilter, EventData, Fact, FactKind, Facts, InputId,
    KeyId, Op, OpId, ResourceSpec, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, TagId, Target,
};
use ugas_lab::Scenario;

/// A pack for the script: actors, inputs, effects of the environment, and the effects that restore the actors.
struct Stage {
    pack: &'static str,
    hero: &'static str,
    inputs: &'static [&'static str],
    event: &'static str,
    /// Further abilities, with their inputs if any.
    more: &'static [(&'static str, Option<&'static str>)],
    /// Effects that are applied and removed.
    around: &'static [&'static str],
    refill: &'static [(&'static str, f64)],
    /// The input of a channel that random inputs interrupt almost always.
    channel: Option<&'static str>,
    /// Further resources, and capability sets.
    resources: &'static [&'static str],
    capabilities: &'static [&'static str],
}

/// Ticks between two stretches in which one hero channels undisturbed, and their length: a cooldown, then the channel.
const CALM_EVERY: u32 = 4_000;
const CALM_TICKS: u32 = 720;
const CALM_PRESS: u32 = 500;

const STAGES: [Stage; 6] = [
    Stage {
        pack: "action",
        hero: "Hero_Platformer_01",
        inputs: &["Jump", "GroundPound"],
        event: "Event.Landed",
        more: &[("GA_AirJump", Some("Jump")), ("GA_LoseLife", None), ("GA_JumpBuffer", Some("Jump"))],
        around: &["GE_Grounded", "GE_Velocity", "GE_InvincibilityStar", "GE_SuperMushroom", "GE_ContactDamage"],
        refill: &[("Health", 3.0), ("Lives", 1.0), ("MaxJumpCount", 1.0)],
        channel: None,
        resources: &[],
        capabilities: &[],
    },
    // Three controllers with all abilities of the arena.
    Stage {
        pack: "arena",
        hero: "Pyra",
        inputs: &["Primary", "Ability1", "Ability2", "Ability3", "Item"],
        event: "Event.Montage.HitWindow",
        more: &[
            ("GA_Strike", Some("Primary")),
            ("GA_Guard", Some("Ability1")),
            ("GA_Bash", Some("Ability2")),
            ("GA_Judgement", Some("Ability3")),
            ("GA_Fury", None),
            ("GA_Slam", Some("Item")),
            ("GA_Summon", Some("Item")),
            ("GA_Drink", Some("Item")),
            ("GA_Claw", Some("Primary")),
            ("GA_Burst", None),
            ("GA_Enrage", None),
            ("GA_Heat", None),
        ],
        around: &["GE_Burn", "GE_Stun", "GE_Slow", "GE_Moving", "GE_EmberBlade", "GE_SageStaff", "GE_Strike"],
        refill: &[("Mana", 40.0)],
        channel: Some("Ability3"),
        resources: &[],
        capabilities: &[],
    },
    // Three controllers with the abilities of both classes and of the warden, and its capabilities.
    Stage {
        pack: "mmo",
        hero: "Stormcaller_01",
        inputs: &["Primary", "Ability1", "Ability2", "Ability3", "Interrupt"],
        event: "Event.Landed",
        more: &[
            ("GA_Jab", Some("Primary")),
            ("GA_Riposte", Some("Ability1")),
            ("GA_Kick", Some("Interrupt")),
            ("GA_Doom", Some("Ability3")),
        ],
        around: &["GE_Heroism", "GE_Silenced", "GE_Harden", "GE_Alchemist", "GE_Enrage"],
        refill: &[("Health", 400.0), ("Mana", 200.0)],
        channel: Some("Ability2"),
        resources: &["Energy"],
        capabilities: &["CS_Warden"],
    },
    Stage {
        pack: "racing",
        hero: "Vehicle_SportCar_01",
        inputs: &["Boost", "Drift"],
        event: "Event.Landed",
        more: &[],
        around: &["GE_Biome_Mud", "GE_Biome_Asphalt", "GE_Tuning_Sport", "GE_Traction_Update", "GE_Telemetry"],
        refill: &[("Boost", 40.0)],
        channel: None,
        resources: &[],
        capabilities: &[],
    },
    Stage {
        pack: "rpg",
        hero: "Hero_Barbarian_01",
        inputs: &["BasicAttack", "Ability1"],
        event: "Event.Montage.HitWindow",
        more: &[],
        around: &["GE_Weapon_FireSword", "GE_Regeneration", "GE_MainStat_Strength"],
        refill: &[("Health", 200.0), ("Mana", 50.0)],
        channel: None,
        resources: &[],
        capabilities: &[],
    },
    Stage {
        pack: "shooter",
        hero: "Soldier_FPS_01",
        inputs: &["Fire", "Reload", "Aim"],
        event: "Event.Landed",
        more: &[],
        around: &["GE_AttachmentBarrel", "GE_EquipRifle", "GE_ADS", "GE_EquipRifle"],
        refill: &[("Health", 100.0), ("Shield", 50.0), ("ReserveAmmo", 30.0)],
        channel: None,
        resources: &[],
        capabilities: &[],
    },
];

/// Ticks of each pack; ten times as many in a soak.
fn ticks() -> u32 {
    if std::env::var_os("UGAS_SOAK").is_some() { 200_000 } else { 20_000 }
}

struct Rng(u64);
impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
    fn pick<'a>(&mut self, list: &'a [&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// The pack's rules with an extra effect that restores what the script uses up.
fn rules(stage: &Stage) -> Arc<Rules> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs").join(stage.pack);
    let gifts = stage.refill.iter().map(|(attribute, value)| {
        format!("{{Attribute: {attribute}, Operation: Add, Magnitude: {{Type: ScalableFloat, Value: {value}}}}}")
    });
    let text = format!(
        "Scenario: It\nPacks: [{}]\nEntities:\n  - Kind: gameplay_effect\n    Name: GE_Refill\n    DurationPolicy: Instant\n    \
         Modifiers: [{}]\n",
        folder.canonicalize().unwrap().display(),
        gifts.collect::<Vec<_>>().join(", ")
    );
    let tree = &ugas_data::read_trees("it.yaml", &text).unwrap()[0];
    Scenario::from_node("it.yaml", tree).unwrap().rules().unwrap()
}

#[derive(Clone)]
struct Play {
    stage: &'static Stage,
    sim: Sim,
    who: Vec<ControllerId>,
    seed: u64,
    tick: u32,
}

impl Play {
    fn new(stage: &'static Stage, seed: u64, slow_path: bool) -> Play {
        let rules = rules(stage);
        let mut sim = Sim::new(rules.clone(), SimConfig { seed, slow_path, ..SimConfig::default() });
        let hero = rules.template(stage.hero).unwrap();
        let mut who = Vec::new();
        for n in 0..3 {
            let resources = stage.resources.iter().map(|name| ResourceSpec::new(rules.set(name).unwrap())).collect();
            let ability_sets = stage.capabilities.iter().map(|name| rules.ability_set(name).unwrap()).collect();
            // Only one controller of an actor may have capabilities.
            let avatar = Some(ActorId(100 + n as u64));
            let spec = SpawnSpec { resources, ability_sets, avatar, ..SpawnSpec::template(hero) };
            let id = sim.spawn(spec).unwrap();
            let anchor = Some(Anchor::at([60.0 * f64::from(n), 0.0, 0.0]));
            sim.run(Op::Move { who: id, anchor }).unwrap();
            for (ability, input) in stage.more {
                let input = input.map(|i| rules.input(i).unwrap());
                let ability = rules.ability(ability).unwrap();
                sim.grant(id, AbilityGrant { ability, level: 1, input }).unwrap();
            }
            who.push(id);
        }
        sim.take_facts(&mut Facts::default());
        Play { stage, sim, who, seed, tick: 0 }
    }

    fn input(&self, rng: &mut Rng) -> InputId {
        self.sim.rules().input(rng.pick(self.stage.inputs)).unwrap()
    }

    fn op(&self, rng: &mut Rng) -> Op {
        let rules = self.sim.rules();
        let who = self.who[rng.below(3)];
        let other = self.who[rng.below(3)];
        let effect = |name: &str| rules.effect(name).unwrap();
        let key = |name: &str| rules.find_key(name).unwrap_or(KeyId(u32::MAX));
        match rng.below(100) {
            0..=39 => Op::Press { who, input: self.input(rng), target: Target::Controller(other) },
            40..=61 => Op::Release { who, input: self.input(rng) },
            62..=69 => Op::Event(EventData::new(tag(rules, self.stage.event), who)),
            70..=79 => Op::Apply(Spec::new(effect("GE_Refill"), who).from(other)),
            80..=89 => {
                let mut spec = Spec::new(effect(rng.pick(self.stage.around)), who).from(other);
                for name in ["Velocity", "Speed", "Rpm"].into_iter().filter(|n| rules.find_key(n).is_some()) {
                    spec = spec.set(key(name), rng.below(200) as f64 - 50.0);
                }
                Op::Apply(spec)
            }
            90..=93 if !self.stage.capabilities.is_empty() => self.capability_op(rng, who),
            _ => {
                let gone = Some(effect(rng.pick(self.stage.around)));
                Op::RemoveMatching { who, filter: EffectFilter { effect: gone, ..EffectFilter::default() } }
            }
        }
    }

    /// An op about the capabilities or the resources of a controller.
    fn capability_op(&self, rng: &mut Rng, who: ControllerId) -> Op {
        let held = self.sim.capabilities(who).unwrap();
        let capability = held[rng.below(held.len())].class;
        let (tag, source) = (tag(self.sim.rules(), "Capability.Boss"), BlockSource::host("Script"));
        let resources = self.sim.resources(who).unwrap();
        match rng.below(5) {
            0 => Op::Block { who, tag, source },
            1 => Op::Unblock { who, tag, source },
            2 => Op::Enable { who, capability, on: rng.below(2) == 0 },
            3 => {
                let interval = Some(SimTime::frames(rng.below(40) as i64, 60));
                Op::SetTick { who, capability, ticks: Some(rng.below(3) > 0), interval }
            }
            _ => {
                let (attribute, by) = (resources[rng.below(resources.len())], rng.below(80) as f64 - 20.0);
                Op::ModifyResource { who, attribute, by, source: None, tags: Vec::new(), plain: rng.below(2) == 0 }
            }
        }
    }

    /// The ops of a tick.
    fn ops(&self) -> Vec<Op> {
        let mut rng = Rng(self.seed ^ (u64::from(self.tick) << 20));
        let calm = (self.tick % CALM_EVERY).checked_sub(CALM_EVERY - CALM_TICKS);
        match (self.stage.channel, calm) {
            (Some(input), Some(at)) => self.calm_ops(self.sim.rules().input(input).unwrap(), at),
            _ => (0..rng.below(3)).map(|_| self.op(&mut rng)).collect(),
        }
    }

    /// One hero waits for its cooldowns, presses the input of a channel and holds it.
    fn calm_ops(&self, input: InputId, at: u32) -> Vec<Op> {
        let rules = self.sim.rules();
        let who = self.who[(self.tick / CALM_EVERY) as usize % self.who.len()];
        match at {
            0 => {
                let filter = |name: &&str| EffectFilter { effect: rules.effect(name).ok(), ..EffectFilter::default() };
                let around = self.stage.around.iter().map(|name| Op::RemoveMatching { who, filter: filter(name) });
                [Op::Release { who, input }].into_iter().chain(around).collect()
            }
            CALM_PRESS => {
                let refill = Op::Apply(Spec::new(rules.effect("GE_Refill").unwrap(), who));
                vec![refill, Op::Press { who, input, target: Target::Controller(who) }]
            }
            _ => Vec::new(),
        }
    }

    fn step(&mut self) {
        for (n, op) in self.ops().into_iter().enumerate() {
            // The script does not know what is allowed; a refused op has no effect.
            let _ = self.sim.run_as(OpId::new(7, self.tick, n as u16), &op);
        }
        self.tick += 1;
        assert!(self.sim.advance_to(SimTime::frames(i64::from(self.tick), 60)).finished);
    }

    /// Runs `count` ticks and returns their facts and the hash after each.
    fn run(&mut self, ticks: u32) -> (Vec<Fact>, Vec<u64>) {
        let (mut all, mut hashes) = (Vec::new(), Vec::new());
        for _ in 0..ticks {
            self.step();
            let mut facts = Facts::default();
            self.sim.take_facts(&mut facts);
            all.extend(facts.list);
            hashes.push(self.sim.hash());
        }
        (all, hashes)
    }
}

fn tag(rules: &Rules, name: &str) -> TagId {
    rules.tag(name).unwrap()
}

// Save, advance k ticks, roll back, advance again.
#[test]
fn every_pack_rolled_back_by_one_to_sixteen_ticks_resimulates_equally() {
    let all = ticks();
    for stage in &STAGES {
        let mut p = Play::new(stage, 11, false);
        let mut saved = p.sim.clone();
        let mut ended: BTreeMap<&str, u32> = BTreeMap::new();
        let rules = p.sim.rules().clone();
        let mut k = 1;
        while p.tick < all {
            let tick = p.tick;
            saved.clone_from(&p.sim);
            let first = p.run(k);
            p.sim.clone_from(&saved);
            p.tick = tick;
            let resimulated = p.run(k);
            assert_eq!(first, resimulated, "{}: tick {tick}, {k} ticks", stage.pack);
            for fact in &first.0 {
                if let FactKind::AbilityEnded { ability, cancelled: false, .. } = fact.kind {
                    *ended.entry(rules.ability_name(ability).unwrap()).or_default() += 1;
                }
            }
            k = k % 16 + 1;
        }
        println!("{}: {all} ticks, abilities ended by themselves {ended:?}", stage.pack);
        // The script must reach everything it is meant to cover.
        for (_, name) in rules.ability_list() {
            let passive = rules.find_ability(name).and_then(|id| rules.ability_doc(id)).is_some_and(|a| a.passive);
            let often = ended.get(name).is_some_and(|n| *n >= 2);
            assert!(often || passive, "{}: {name} hardly ever ends by itself: {ended:?}", stage.pack);
        }
    }
}

/// The script does the same with every fast path switched off: the same facts, causes and hashes.
#[test]
fn every_pack_runs_equally_on_the_slow_path() {
    for stage in &STAGES {
        let (mut fast, mut slow) = (Play::new(stage, 13, false), Play::new(stage, 13, true));
        for _ in 0..ticks() / 10 {
            let at = fast.tick;
            let (quick, full) = (fast.run(1), slow.run(1));
            assert_eq!(quick, full, "{}: tick {at}", stage.pack);
            for fact in &quick.0 {
                assert_eq!(fast.sim.chain(fact.link), slow.sim.chain(fact.link), "{}: tick {at}", stage.pack);
            }
        }
    }
}
