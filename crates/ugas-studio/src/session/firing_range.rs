//! Two shooters fire at one target over equal links. One predicts its cooldown; the other waits until the server
//! confirms that the cooldown has ended. The difference between their rates of fire is the effect of prediction.

use std::collections::VecDeque;
use std::sync::Arc;
use ugas_core::{
    AbilityId, Anchor, ControllerId, Fact, FactKind, Facts, Rules, Sim, SimTime, SpawnSpec, TagId, Target,
};
use ugas_net::client::{Certainty, ClientConfig, CommandStatus, NetFacts};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;

/// Ticks over which shots are counted: ten seconds.
const WINDOW: u32 = 10 * super::RATE;
const NAMES: [&str; 2] = ["Predicting", "Confirming"];

/// Counts of the ticks in which the first shooter's client showed the cooldown twice or not at all. Both counts stay 0
/// if the confirmed cooldown replaces the predicted cooldown within one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrongFrames {
    /// The number of ticks in which the cooldown was shown twice, as predicted and as confirmed.
    pub twice: u32,
    /// The number of ticks in which the cooldown was not shown although it was active.
    pub missing: u32,
}

/// The shooters and their statistics.
#[derive(Clone)]
pub struct FiringRange {
    net: Harness,
    shooters: [Shooter; 2],
    target: ControllerId,
    bolt: AbilityId,
    cooldown: TagId,
    /// The length of the cooldown in ticks.
    ticks: u32,
    wrong: WrongFrames,
    client_facts: NetFacts,
    begun: u32,
    facts: Facts,
}

#[derive(Clone, Debug)]
struct Shooter {
    who: ControllerId,
    /// The first tick of the client after its last shot.
    last: Option<u32>,
    /// The server ticks of the shooter's shots.
    shots: VecDeque<u32>,
}

impl FiringRange {
    /// Creates two copies of the mage and a target with much health.
    pub(super) fn new(rules: &Arc<Rules>, seed: u64) -> Result<FiringRange, String> {
        let missing = |what: &str| format!("the pack arena lacks {what}");
        let bolt = rules.find_ability("GA_Firebolt").ok_or_else(|| missing("GA_Firebolt"))?;
        let cooldown =
            rules.find_tag("Cooldown.Ability.Firebolt").ok_or_else(|| missing("Cooldown.Ability.Firebolt"))?;
        let ticks = length_of(rules).ok_or_else(|| missing("GE_FireboltCooldown with a duration"))?;
        let pyra = rules.find_template("Pyra").ok_or_else(|| missing("Pyra"))?;
        let body = rules.find_set("ArenaFighter").ok_or_else(|| missing("ArenaFighter"))?;
        let health = ["MaxHealth", "Health"].map(|name| rules.find_attribute(name).map(|a| (a, 1e9)));
        let mut sim = Sim::new(rules.clone(), super::config_without_causes(seed));
        let mut spawn = |spec: SpawnSpec| sim.spawn(spec).map_err(|r| r.describe(rules));
        let shooter = |who| Shooter { who, last: None, shots: VecDeque::new() };
        let at = |x: f64| Some(Anchor::at([x, 0.0, 0.0]));
        let mage = |x| SpawnSpec { template: Some(pyra), anchor: at(x), ..SpawnSpec::default() };
        let shooters = [shooter(spawn(mage(-1.0))?), shooter(spawn(mage(1.0))?)];
        let base = health.into_iter().flatten().collect();
        let target = spawn(SpawnSpec { base, anchor: at(9.0), ..SpawnSpec::sets([body]) })?;
        let mut net = Harness::new(super::server(sim, seed), seed ^ 0x5EED);
        let client = ClientConfig {
            prediction_window: SimTime::millis(500),
            sim: super::config_without_causes(0),
            ..ClientConfig::default()
        };
        for (name, shooter) in NAMES.iter().zip(&shooters) {
            let links = [LinkProfile::round_trip(100, 0); 2];
            net.join_over(name, client.clone(), links, &[shooter.who]).map_err(|e| e.to_string())?;
        }
        let begun = net.tick().0;
        Ok(FiringRange {
            net,
            shooters,
            target,
            bolt,
            cooldown,
            ticks,
            wrong: WrongFrames::default(),
            client_facts: NetFacts::default(),
            begun,
            facts: Facts::default(),
        })
    }

    pub(super) fn net_mut(&mut self) -> &mut Harness {
        &mut self.net
    }

    /// Runs one tick.
    pub(super) fn step(&mut self) {
        let target = Target::Controller(self.target);
        for (at, name) in NAMES.iter().enumerate() {
            let (who, bolt) = (self.shooters[at].who, self.bolt);
            let client = self.net.client_mut(name);
            let settled = client.confirmed_tick(who).map_or(0, |t| t.0);
            let confirmed = self.shooters[at].last.is_none_or(|last| settled >= last + self.ticks);
            let may = client.sim().check(who, bolt, target).is_ok();
            if may
                && (at == 0 || confirmed)
                && let Ok(CommandStatus::Predicted(..)) =
                    client.command(Request::Activate { who, ability: bolt, target })
            {
                self.shooters[at].last = Some(client.tick().0 + 1);
            }
        }
        self.net.step();
        self.net.server_mut().take_facts(&mut self.facts);
        let tick = self.net.tick().0;
        for shooter in &mut self.shooters {
            let fired = |f: &&Fact| {
                f.who == shooter.who
                    && matches!(f.kind, FactKind::AbilityActivated { ability, .. } if ability == self.bolt)
            };
            let shots = self.facts.list.iter().filter(fired).count();
            shooter.shots.extend(std::iter::repeat_n(tick, shots));
            while shooter.shots.front().is_some_and(|&t| t + WINDOW <= tick) {
                shooter.shots.pop_front();
            }
        }
        self.check_cooldown();
    }

    /// Compares the cooldown that the first shooter's client shows with the expected cooldown.
    fn check_cooldown(&mut self) {
        // Facts that are not taken would be copied with every keyframe.
        self.net.client_mut(NAMES[1]).take_facts(&mut self.client_facts);
        let client = self.net.client_mut(NAMES[0]);
        client.take_facts(&mut self.client_facts);
        let predicting = &mut self.shooters[0];
        let is_bolt = |f: &Fact| matches!(f.kind, FactKind::AbilityActivated { ability, .. } if ability == self.bolt);
        // A shot that was rolled back has no cooldown.
        if self.client_facts.iter().any(|(fact, certainty)| certainty == Certainty::Undone && is_bolt(fact)) {
            predicting.last = None;
        }
        let Ok(count) = client.sim().tag_count(predicting.who, self.cooldown) else { return };
        let tick = client.tick().0;
        // A shot is fired at the end of the previous tick; its cooldown ends within its last tick.
        let runs = predicting.last.is_some_and(|last| (last..last + self.ticks - 1).contains(&tick));
        self.wrong.twice += u32::from(count > 1);
        self.wrong.missing += u32::from(count == 0 && runs);
    }

    /// Returns shots per minute over the last ten seconds: of the shooter that predicts its cooldown, then of the
    /// shooter that waits for the server.
    pub fn shots_per_minute(&self) -> [f64; 2] {
        let seconds = f64::from((self.net.tick().0 - self.begun).clamp(1, WINDOW)) / f64::from(super::RATE);
        [0, 1].map(|at| self.shooters[at].shots.len() as f64 * 60.0 / seconds)
    }

    /// Returns the number of ticks in which the cooldown was shown twice or not at all.
    pub fn wrong_frames(&self) -> WrongFrames {
        self.wrong
    }
}

/// Returns the length of the bolt's cooldown in ticks.
fn length_of(rules: &Rules) -> Option<u32> {
    let seconds: f64 = rules.fill_text("{GE_FireboltCooldown.Duration}", 1).text.parse().ok()?;
    Some((seconds * f64::from(super::RATE)).round() as u32).filter(|ticks| *ticks > 0)
}
