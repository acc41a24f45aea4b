//! The worlds of the sessions: one for each shipped pack that has actors, and one for the rules of this test.

use super::dice::Dice;
use super::trial;
use std::path::Path;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, Anchor, AttributeId, ControllerId, EffectFilter, EventData, Op, Rules, Sim, SimConfig, SpawnSpec,
    Spec,
};
use ugas_data::PackSet;
use ugas_doc::Doc;

/// A pack and what the data does not say about it.
pub(crate) struct Stage {
    /// The folder of the pack, or `trial`.
    pub(crate) name: &'static str,
    /// The templates that the cheater may play.
    pub(crate) heroes: &'static [&'static str],
    /// Abilities that the heroes have in addition, with their inputs.
    pub(crate) more: &'static [(&'static str, &'static str)],
    /// The other actors and their positions. The first is near, the last far away.
    pub(crate) others: &'static [(Actor, [f64; 3])],
    /// Base values of attributes that differ from the templates.
    pub(crate) base: &'static [(&'static str, f64)],
    /// The highest honest speed, in units per second.
    pub(crate) speed: f64,
    /// The most that one execution of an effect can change a resource, where the magnitude is not a literal number.
    pub(crate) most: &'static [(&'static str, f64)],
    /// Cooldowns whose length is calculated, in seconds.
    pub(crate) cooldowns: &'static [(&'static str, f64)],
    pub(crate) chances: &'static [Chance],
    /// Effects that the world applies in the name of an actor; they are not counted.
    pub(crate) outside: &'static [&'static str],
    /// Whether the sim plays timelines. Without them, the client answers the tasks that wait for targets.
    pub(crate) timelines: bool,
    /// Whether damage depends on the distance of the hit: effect, damage at no distance, range of full damage.
    pub(crate) falloff: Option<(&'static str, f64, f64)>,
    /// What the physics of the game does to an actor.
    pub(crate) physics: fn(&mut Sim, ControllerId, &mut Dice),
}

/// How an actor is spawned.
#[derive(Clone, Copy)]
pub(crate) enum Actor {
    Template(&'static str),
    /// An actor with an attribute set only.
    Set(&'static str),
}

/// A random roll of one use of an ability.
#[derive(Clone, Copy)]
pub(crate) struct Chance {
    pub(crate) ability: &'static str,
    /// The effect whose application rolls.
    pub(crate) effect: &'static str,
    /// The tag that a success adds to the context; without a tag, a success applies the effect.
    pub(crate) tag: Option<&'static str>,
    pub(crate) chance: f64,
}

fn no_physics(_: &mut Sim, _: ControllerId, _: &mut Dice) {}

/// A platformer's physics: the actor leaves the ground, moves up or down, and lands.
fn platformer(sim: &mut Sim, who: ControllerId, dice: &mut Dice) {
    let rules = sim.rules().clone();
    let effect = |name: &str| rules.effect(name).unwrap();
    let grounded = EffectFilter { effect: Some(effect("GE_Grounded")), ..EffectFilter::default() };
    let velocity = rules.find_key("Velocity").unwrap();
    // A refused op changes nothing.
    let _ = match dice.roll(4) {
        0 => sim.run(Op::RemoveMatching { who, filter: grounded }),
        1 => {
            let _ = sim.run(Op::RemoveMatching { who, filter: grounded });
            let _ = sim.run(Op::Apply(Spec::new(effect("GE_Grounded"), who)));
            sim.run(Op::Event(EventData::new(rules.tag("Event.Landed").unwrap(), who)))
        }
        2 => sim.run(Op::Apply(Spec::new(effect("GE_Velocity"), who).set(velocity, dice.roll(400) as f64 - 200.0))),
        _ => sim.run(Op::Event(EventData::new(rules.tag("Event.Landed").unwrap(), who))),
    };
}

pub(crate) const STAGES: [Stage; 7] = [
    Stage {
        name: "trial",
        heroes: &["Hero"],
        more: &[],
        others: &[(Actor::Template("Foe"), [2.0, 0.0, 0.0]), (Actor::Template("Foe"), [500.0, 0.0, 0.0])],
        base: &[],
        speed: 6.0,
        most: &[],
        cooldowns: &[],
        chances: &[Chance { ability: "GA_Lucky", effect: "GE_Luck", tag: None, chance: 0.05 }],
        outside: &[],
        timelines: true,
        falloff: None,
        physics: no_physics,
    },
    Stage {
        name: "arena",
        heroes: &["Pyra", "Brann"],
        more: &[("GA_Drink", "Item")],
        others: &[
            (Actor::Template("Colossus"), [2.0, 0.0, 0.0]),
            (Actor::Template("Pyra"), [0.0, 0.0, 2.5]),
            (Actor::Template("Brann"), [500.0, 0.0, 0.0]),
        ],
        base: &[],
        speed: 6.0,
        // AttackPower: 10 x 1.5 might x 1.2 blade x 1.5 fury = 27. Firebolt: 20 x 1.5 burning x 2 critical.
        most: &[
            ("GE_Strike", 27.0),
            ("GE_Judgement", 81.0),
            ("GE_Firebolt", 60.0),
            ("GE_Fireball", 40.0),
            ("GE_Rise", 200.0),
            ("GE_BulwarkDown", 30.0),
        ],
        cooldowns: &[],
        chances: &[Chance { ability: "GA_Firebolt", effect: "GE_Firebolt", tag: Some("Hit.Critical"), chance: 0.25 }],
        outside: &[],
        timelines: true,
        falloff: None,
        physics: no_physics,
    },
    Stage {
        name: "rpg",
        heroes: &["Hero_Barbarian_01"],
        more: &[],
        others: &[
            (Actor::Template("Hero_Barbarian_01"), [100.0, 0.0, 0.0]),
            (Actor::Template("Hero_Barbarian_01"), [50_000.0, 0.0, 0.0]),
        ],
        base: &[],
        speed: 600.0,
        // WeaponDamage: 10 x 1.5 strength x 1.2 sword.
        most: &[("GE_BasicAttackDamage", 18.0)],
        cooldowns: &[],
        chances: &[],
        outside: &[],
        timelines: true,
        falloff: None,
        physics: no_physics,
    },
    Stage {
        name: "shooter",
        heroes: &["Soldier_FPS_01"],
        more: &[],
        others: &[
            (Actor::Set("ShooterCombatSet"), [20.0, 0.0, 0.0]),
            (Actor::Set("ShooterCombatSet"), [190.0, 0.0, 0.0]),
        ],
        // Metres per second, as the positions.
        base: &[("MoveSpeed", 6.0)],
        speed: 6.0,
        // A magazine; WeaponDamage 25. The timeline reports neither a zone nor a distance.
        most: &[("GE_Reload", 30.0), ("GE_BallisticDamage", 25.0)],
        // FireRate 10.
        cooldowns: &[("GE_FireCooldown", 0.1)],
        chances: &[],
        outside: &[],
        timelines: true,
        falloff: None,
        physics: no_physics,
    },
    Stage {
        name: "shooter",
        heroes: &["Soldier_FPS_01"],
        more: &[],
        others: &[
            (Actor::Set("ShooterCombatSet"), [20.0, 0.0, 0.0]),
            (Actor::Set("ShooterCombatSet"), [190.0, 0.0, 0.0]),
        ],
        // Metres per second, as the positions.
        base: &[("MoveSpeed", 6.0)],
        speed: 6.0,
        // A magazine; WeaponDamage 25. No target has the tag of a zone, so that the server believes no hit to the head.
        most: &[("GE_Reload", 30.0), ("GE_BallisticDamage", 25.0)],
        // FireRate 10.
        cooldowns: &[("GE_FireCooldown", 0.1)],
        chances: &[],
        outside: &[],
        timelines: false,
        // EffectiveRange: 50 + 30 with the barrel.
        falloff: Some(("GE_BallisticDamage", 25.0, 80.0)),
        physics: no_physics,
    },
    Stage {
        name: "racing",
        heroes: &["Vehicle_SportCar_01"],
        more: &[],
        others: &[(Actor::Template("Vehicle_SportCar_01"), [500.0, 0.0, 0.0])],
        base: &[],
        // 280 km/h with nitro, 100 units per metre.
        speed: 7_800.0,
        most: &[],
        cooldowns: &[],
        chances: &[],
        outside: &[],
        timelines: true,
        falloff: None,
        physics: no_physics,
    },
    Stage {
        name: "action",
        heroes: &["Hero_Platformer_01"],
        more: &[("GA_AirJump", "Jump"), ("GA_JumpBuffer", "Jump"), ("GA_LoseLife", "")],
        others: &[
            (Actor::Template("Hero_Platformer_01"), [100.0, 0.0, 0.0]),
            (Actor::Template("Hero_Platformer_01"), [50_000.0, 0.0, 0.0]),
        ],
        base: &[],
        // HorizontalSpeed 600, 30 % more with a star.
        speed: 780.0,
        most: &[("GE_Respawn", 3.0)],
        cooldowns: &[],
        chances: &[],
        // When the physics removes GE_Grounded.
        outside: &["GE_CoyoteTime"],
        timelines: true,
        falloff: None,
        physics: platformer,
    },
];

/// The rules of a stage and the documents they are made of.
pub(crate) fn load(stage: &Stage) -> (Arc<Rules>, Vec<Doc>) {
    if stage.name == "trial" {
        let docs = trial::docs();
        let rules = docs.iter().cloned().fold(Rules::builder(), |b, doc| b.add(doc)).build().unwrap();
        return (rules, docs);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs").join(stage.name);
    let docs = PackSet::read([&folder]).unwrap().docs().map(|loaded| loaded.doc.clone()).collect();
    (ugas_lab::load_pack(&folder).unwrap(), docs)
}

/// A sim with its actors, before a session.
pub(crate) struct Cast {
    pub(crate) sim: Sim,
    /// The actors that the cheater owns.
    pub(crate) own: Vec<ControllerId>,
    pub(crate) others: Vec<ControllerId>,
}

/// Spawns the actors of a stage; the cheater owns the heroes with these numbers.
pub(crate) fn spawn(stage: &Stage, rules: &Arc<Rules>, heroes: &[usize]) -> Cast {
    let mut sim = Sim::new(rules.clone(), SimConfig { timelines: stage.timelines, ..SimConfig::default() });
    let at = |x: f64, y: f64, z: f64| Some(Anchor::at([x, y, z]));
    let base: Vec<(AttributeId, f64)> = stage.base.iter().map(|(a, v)| (rules.attribute(a).unwrap(), *v)).collect();
    let mut own = Vec::new();
    for (n, &hero) in heroes.iter().enumerate() {
        let template = rules.template(stage.heroes[hero]).unwrap();
        let (anchor, base) = (at(0.0, 0.0, n as f64), base.clone());
        let who = sim.spawn(SpawnSpec { anchor, base, ..SpawnSpec::template(template) }).unwrap();
        for (ability, input) in stage.more {
            let grant = AbilityGrant::new(rules.ability(ability).unwrap());
            let grant = rules.find_input(input).map_or(grant, |input| grant.input(input));
            sim.grant(who, grant).unwrap();
        }
        own.push(who);
    }
    let spawn_other = |&(actor, [x, y, z]): &(Actor, [f64; 3])| {
        let spec = match actor {
            Actor::Template(name) => SpawnSpec::template(rules.template(name).unwrap()),
            Actor::Set(name) => SpawnSpec::sets([rules.set(name).unwrap()]),
        };
        sim.spawn(SpawnSpec { anchor: at(x, y, z), base: base.clone(), ..spec }).unwrap()
    };
    let others = stage.others.iter().map(spawn_other).collect();
    sim.take_facts(&mut ugas_core::Facts::default());
    Cast { sim, own, others }
}
