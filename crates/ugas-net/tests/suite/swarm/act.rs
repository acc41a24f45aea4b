//! The random events of a session: requests of clients, ops of the host, and changes of links.

use super::make::{self, MARK_SECONDS, TAGS};
use super::play::{Mark, NAMES, Swarm};
use ugas_core::{
    AbilityId, Anchor, ControllerId, DefId, EffectFilter, EffectKey, EffectUpdate, EventData, InputId, Op, Rate, Sim,
    SimTime, Spec, Target,
};
use ugas_doc::Effect;
use ugas_net::client::CommandStatus;
use ugas_net::message::Request;

impl Swarm {
    /// The applications of the effect that is counted.
    pub(crate) fn marks_on(&self, sim: &Sim, who: ControllerId) -> Vec<EffectKey> {
        let mark = self.made.rules.effect("GE_Mark").unwrap();
        sim.effects(who).unwrap_or_default().iter().filter(|e| e.effect == mark).map(|e| e.key).collect()
    }

    fn random_controller(&mut self) -> ControllerId {
        let all: Vec<ControllerId> = self.heroes.iter().chain(&self.others).copied().collect();
        *self.dice.pick(&all)
    }

    fn any_ability(&mut self) -> AbilityId {
        let name = self.dice.pick(&self.made.abilities);
        self.made.rules.ability(name).unwrap()
    }

    pub(crate) fn players_act(&mut self) {
        let length = self.net.server().tick_length();
        // The same number of requests per second at every tick length.
        let seldom = ((SimTime::seconds(1.0).0 / length.0) / 6).max(1) as usize;
        for (player, name) in NAMES.iter().enumerate().take(self.heroes.len()) {
            if self.dice.roll(seldom) != 0 {
                continue;
            }
            let who = self.heroes[player];
            if self.dice.percent(25) {
                self.mark(player, who);
                continue;
            }
            let target =
                if self.dice.percent(80) { Target::Controller(self.random_controller()) } else { Target::None };
            let input = InputId(self.dice.roll(3) as u32);
            let ability = self.any_ability();
            let request = match self.dice.roll(12) {
                0 => Request::Press { who, input, target },
                1 => Request::Release { who, input },
                2 => Request::Cancel { who, ability },
                3 => {
                    let anchor = Anchor::at([self.dice.roll(100) as f64, 0.0, self.dice.roll(100) as f64]);
                    Request::Move { who, anchor }
                }
                4 => {
                    let name = self.dice.pick(&self.made.effects);
                    let effect = self.made.rules.effect(name).unwrap();
                    Request::Apply { who, ability, effect, target: self.random_controller() }
                }
                _ => Request::Activate { who, ability, target },
            };
            // Some are rejected: cooldowns, costs, closed windows, disconnected clients.
            match self.net.client_mut(name).command(request) {
                Ok(_) => self.tally.put("predicted", 1),
                Err(_) => self.tally.put("refused by the client", 1),
            }
        }
    }

    /// Applies the counted effect.
    fn mark(&mut self, player: usize, who: ControllerId) {
        let before = self.marks_on(self.net.client(NAMES[player]).sim(), who);
        let ability = self.made.rules.ability("GA_Mark").unwrap();
        let client = self.net.client_mut(NAMES[player]);
        let Ok(CommandStatus::Predicted(op, _)) =
            client.command(Request::Activate { who, ability, target: Target::None })
        else {
            return;
        };
        let now = self.net.client(NAMES[player]).sim().now();
        let after = self.marks_on(self.net.client(NAMES[player]).sim(), who);
        let new: Vec<EffectKey> = after.into_iter().filter(|key| !before.contains(key)).collect();
        assert_eq!(new.len(), 1, "seed {}: {} predicts it at once", self.seed, NAMES[player]);
        // One tick of tolerance for ends between ticks.
        let until = now + SimTime::seconds(MARK_SECONDS) - self.net.server().tick_length();
        let confirmed = self.net.client(NAMES[player]).confirmed_tick(who);
        self.marks.push(Mark { player, op, key: new[0], until, confirmed });
        self.tally.put("marks", 1);
    }

    pub(crate) fn server_acts(&mut self) {
        let length = self.net.server().tick_length();
        let seldom = ((SimTime::seconds(1.0).0 / length.0) / 4).max(1) as usize;
        if self.dice.roll(seldom) != 0 {
            return;
        }
        self.tally.put("server ops", 1);
        let rules = self.made.rules.clone();
        let (who, from) = (self.random_controller(), self.random_controller());
        let name = self.dice.pick(&self.made.effects);
        let effect = rules.effect(name).unwrap();
        let set = rules.set("Item").unwrap();
        let tag: &&str = self.dice.pick(&TAGS);
        // Rules that do not use the tag have nothing with it.
        let Some(tag) = rules.find_tag(tag) else { return };
        let filter = EffectFilter { with_any_tag: vec![tag], ..EffectFilter::default() };
        let op = match self.dice.roll(22) {
            0..5 => Op::Apply(Spec::new(effect, who).from(from)),
            5 => Op::Apply(Spec::new(rules.effect("GE_Roll").unwrap(), who)),
            6 | 7 => Op::RemoveMatching { who, filter },
            8 => Op::ChangeMatching { who, filter, change: EffectUpdate::Extend(SimTime::millis(300)) },
            9 | 10 => {
                self.tally.put("sets", 1);
                Op::AddSet { who, set }
            }
            11 => Op::Apply(Spec::new(rules.effect("GE_Worn").unwrap(), who)),
            12 | 13 => {
                self.tally.put("sets", 1);
                Op::RemoveSet { who, set, force: true }
            }
            14 => Op::SetRate { who, rate: Rate::new(*self.dice.pick(&[0.5, 1.0])).unwrap() },
            15 => match self.others.first() {
                // A paused hero cannot act, and its predictions would be undone.
                Some(&who) => Op::SetActive { who, active: self.dice.percent(70) },
                None => return,
            },
            16 => match rules.find_tag("Event.Ping") {
                Some(tag) => Op::Event(EventData::new(tag, who)),
                None => return,
            },
            17 => {
                let anchor = Some(Anchor::at([self.dice.roll(100) as f64, 1.0, 2.0]));
                Op::Move { who, anchor }
            }
            18 => {
                let other = self.spawn(false);
                self.others.push(other);
                self.tally.put("spawns", 1);
                return;
            }
            19 => {
                if self.others.is_empty() {
                    return;
                }
                let at = self.dice.roll(self.others.len());
                if self.cheater.as_ref().is_some_and(|cheater| cheater.who == self.others[at]) {
                    return;
                }
                self.tally.put("despawns", 1);
                Op::Despawn { who: self.others.remove(at) }
            }
            _ => return self.define(who),
        };
        // Some are refused: a set that is present already, a blocked effect.
        let _ = self.net.server_mut().sim_mut().run(op);
    }

    /// Defines an effect at run time.
    fn define(&mut self, who: ControllerId) {
        self.defined += 1;
        let name = format!("GE_Found{}", self.defined);
        let effect = match self.dice.percent(50) {
            true => Effect::lasting(name, 1.5).add("Mana", 3.0).grants("State.Fast"),
            false => make::effect(&mut self.dice, &name, &["Health".to_owned(), "Mana".to_owned()], &[]),
        };
        let sim = self.net.server_mut().sim_mut();
        let Ok(DefId::Effect(id)) = sim.define(effect) else { return };
        self.tally.put("definitions", 1);
        let _ = sim.apply(&Spec::new(id, who));
    }

    pub(crate) fn links_act(&mut self) {
        let length = self.net.server().tick_length();
        let second = (SimTime::seconds(1.0).0 / length.0) as usize;
        let player = self.dice.roll(self.heroes.len());
        let name = NAMES[player];
        match self.dice.roll(second * 6) {
            0 => {
                let millis = *self.dice.pick(&[200, 700, 2500]);
                self.net.interrupt_link(name, SimTime::millis(millis));
                self.tally.put("cuts", 1);
            }
            1 => {
                self.net.disconnect(name);
                self.marks.retain(|m| m.player != player);
                self.tally.put("disconnects", 1);
            }
            2..5 if self.net.player(name).peer().is_none() => self.reconnect(player),
            _ => {}
        }
    }

    pub(crate) fn reconnect(&mut self, player: usize) {
        self.marks.retain(|m| m.player != player);
        self.net.reconnect(NAMES[player]).unwrap();
        self.tally.put("reconnects", 1);
    }
}
