//! Random play of several clients over random links, with cuts and reconnects. What a client holds as settled is what
//! the server had at that tick, in every tick; after the links heal everything agrees and nothing is kept any more.

use std::collections::BTreeMap;
use std::sync::Arc;

use ugas_core::{AbilityGrant, ControllerId, EffectId, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, TagId, Target};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect};
use ugas_net::client::ClientState;
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Server, ServerConfig};

const NAMES: [&str; 4] = ["Ann", "Bob", "Cyd", "Dee"];
const ABILITIES: [&str; 5] = ["GA_Bolt", "GA_Rage", "GA_Burn", "GA_Slow", "GA_Charge"];

fn rules() -> Arc<Rules> {
    let to_owner = |effect: &str| AbilityTask::new("ApplyEffectToOwner").param("EffectClass", effect);
    let to_target = |effect: &str| AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect);
    Rules::builder()
        .add(
            AttributeSet::new("Combat")
                .with(Attribute::new("Health", 1000.0).min(0.0).max(1000.0))
                .with(Attribute::new("Mana", 1000.0).min(0.0).max(1000.0))
                .with(Attribute::new("Power", 10.0)),
        )
        .add(Effect::instant("GE_Cost").add("Mana", -5.0))
        .add(Effect::lasting("GE_BoltWait", 0.4).grants("Cooldown.Bolt"))
        .add(Effect::lasting("GE_RageWait", 1.0).grants("Cooldown.Rage"))
        .add(Effect::instant("GE_Hit").add("Health", -7.0))
        .add(Effect::lasting("GE_Rage", 0.75).add("Power", 5.0).grants("State.Raging"))
        .add(Effect::lasting("GE_Burn", 0.8).add("Health", -1.0).every(0.1).grants("State.Burning"))
        .add(Effect::lasting("GE_Curse", 0.5).add("Power", -3.0))
        .add(Ability::new("GA_Bolt").cost("GE_Cost").cooldown("GE_BoltWait").task(to_target("GE_Hit")))
        .add(Ability::new("GA_Rage").cooldown("GE_RageWait").task(to_owner("GE_Rage")))
        .add(Ability::new("GA_Burn").cost("GE_Cost").gcd(0.3).task(to_owner("GE_Burn")))
        .add(
            Ability::new("GA_Slow")
                .gcd(0.3)
                .owned("State.Casting")
                .task(AbilityTask::new("WaitDelay").param("Duration", 0.35))
                .task(to_owner("GE_Hit")),
        )
        .add(Ability::new("GA_Charge").charges(3, 0.6).task(to_owner("GE_Cost")))
        .build()
        .unwrap()
}

/// SplitMix64, so that a seed is a session.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }
}

struct Swarm {
    seed: u64,
    dice: Dice,
    play: Harness,
    heroes: Vec<ControllerId>,
    /// Hashes of the heroes at the end of each tick of the server's.
    hashes: BTreeMap<(ControllerId, u32), u64>,
}

impl Swarm {
    fn new(seed: u64) -> Swarm {
        let rules = rules();
        let mut dice = Dice(seed);
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let mut heroes = Vec::new();
        for _ in NAMES {
            let hero = sim.spawn(SpawnSpec::sets(vec![rules.set("Combat").unwrap()])).unwrap();
            for name in ABILITIES {
                sim.grant(hero, AbilityGrant::new(rules.ability(name).unwrap())).unwrap();
            }
            heroes.push(hero);
        }
        let config = ServerConfig { mode: ControllerReplication::Full, ..ServerConfig::default() };
        let mut play = Harness::new(Server::new(sim, config), seed);
        for (name, hero) in NAMES.into_iter().zip(&heroes) {
            let (_, profile) = LinkProfile::ALL[dice.roll(LinkProfile::ALL.len())];
            play.join(name, profile, &[*hero]).unwrap();
        }
        Swarm { seed, dice, play, heroes, hashes: BTreeMap::new() }
    }

    fn step(&mut self) {
        self.play.step();
        let tick = self.play.tick().0;
        for &hero in &self.heroes {
            let hash = self.play.server().sim().row_hash_without(hero, &[]).unwrap();
            self.hashes.insert((hero, tick), hash);
        }
        for (name, &hero) in NAMES.into_iter().zip(&self.heroes) {
            let client = self.play.client(name);
            let Some(settled) = client.settled(hero) else { continue };
            let known = self.hashes.get(&(hero, settled.0)).copied();
            assert_eq!(client.settled_hash(hero), known, "seed {}: {name} at tick {tick} about {settled:?}", self.seed);
            let power = client.sim().get(hero, client.sim().rules().attribute("Power").unwrap());
            let once = [10.0, 15.0, 7.0, 12.0];
            assert!(power.is_ok_and(|p| once.contains(&p)), "seed {}: {name} shows Power {power:?}", self.seed);
        }
    }

    fn act(&mut self) {
        for (name, hero) in NAMES.into_iter().zip(self.heroes.clone()) {
            if self.dice.roll(12) != 0 {
                continue;
            }
            let ability = self.play.server().sim().rules().ability(ABILITIES[self.dice.roll(ABILITIES.len())]).unwrap();
            let target = Target::Controller(self.heroes[self.dice.roll(self.heroes.len())]);
            // Refused here and there: cooldowns, closed windows, players who are away.
            let _ = self.play.client_mut(name).command(Request::Activate { who: hero, ability, target });
        }
        match self.dice.roll(240) {
            0 => {
                let hero = self.heroes[self.dice.roll(self.heroes.len())];
                let effect = self.play.server().sim().rules().effect("GE_Hit").unwrap();
                self.play.server_mut().sim_mut().apply(&Spec::new(effect, hero)).unwrap();
            }
            1 => self.play.cut(NAMES[self.dice.roll(NAMES.len())], SimTime::millis(700)),
            2 => self.play.disconnect(NAMES[self.dice.roll(NAMES.len())]),
            3 | 4 => {
                let name = NAMES[self.dice.roll(NAMES.len())];
                if self.play.player(name).peer().is_none() {
                    self.play.reconnect(name).unwrap();
                }
            }
            _ => (),
        }
    }

    fn heal(&mut self) {
        self.play.heal();
        for name in NAMES {
            if self.play.player(name).peer().is_none() {
                self.play.reconnect(name).unwrap();
            }
        }
        for _ in 0..240 {
            self.step();
        }
    }

    /// What a sim shows of a controller.
    fn shown(sim: &Sim, who: ControllerId) -> (Vec<f64>, Vec<TagId>, Vec<(EffectId, u32)>) {
        let values = sim.attributes(who).unwrap().into_iter().map(|a| sim.get(who, a).unwrap()).collect();
        let mut tags: Vec<_> = sim.tags(who).unwrap().into_iter().map(|(tag, _)| tag).collect();
        tags.sort();
        let mut effects: Vec<_> = sim.effects(who).unwrap().into_iter().map(|e| (e.effect, e.stacks)).collect();
        effects.sort();
        (values, tags, effects)
    }

    fn must_agree(&self) {
        for (name, own) in NAMES.into_iter().zip(&self.heroes) {
            let client = self.play.client(name);
            let seed = self.seed;
            assert_eq!(*client.state(), ClientState::Playing, "seed {seed}: {name}");
            assert_eq!(client.unanswered(), 0, "seed {seed}: {name}");
            assert_eq!(client.journalled(), 0, "seed {seed}: {name}");
            let behind = client.tick().0 - client.settled(*own).unwrap().0;
            assert!(behind < 16, "seed {seed}: {name} is {behind} ticks ahead of what is settled");
            for &hero in &self.heroes {
                let (server, here) = (self.play.server().sim(), client.sim());
                assert_eq!(
                    Swarm::shown(here, hero),
                    Swarm::shown(server, hero),
                    "seed {seed}: {name} about {hero:?} (own {own:?})"
                );
            }
        }
    }
}

#[test]
fn after_the_links_heal_everybody_agrees() {
    for seed in 0..24 {
        let mut swarm = Swarm::new(seed);
        for _ in 0..600 {
            swarm.act();
            swarm.step();
        }
        swarm.heal();
        swarm.must_agree();
    }
}
