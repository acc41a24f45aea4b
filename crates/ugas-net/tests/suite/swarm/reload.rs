//! New rules in the middle of some sessions. The clients follow them, or they are denied because they lack code.

use super::make;
use super::play::{NAMES, Swarm};
use std::sync::Arc;
use ugas_core::Rules;
use ugas_doc::{Attribute, AttributeSet, Doc, DocumentKind, Effect};
use ugas_net::client::ClientState;
use ugas_net::message::Denial;

impl Swarm {
    /// Replaces the rules about once in six seconds.
    pub(crate) fn rules_act(&mut self) {
        let second = self.ticks(1.0) as usize;
        if !self.reloads || self.dice.roll(second * 6) != 0 {
            return;
        }
        let rules = self.next_rules();
        match self.net.server_mut().reload(rules.clone()) {
            Ok(_) => {
                self.tally.put("reloads", 1);
                self.made.rules = rules;
            }
            // A run-time definition that the new rules do not allow.
            Err(_) => self.tally.put("refused reloads", 1),
        }
    }

    /// Returns rules with a few other documents.
    fn next_rules(&mut self) -> Arc<Rules> {
        let mut docs: Vec<Doc> = self.made.rules.documents().map(|doc| (**doc).clone()).collect();
        let same = |a: &Doc, b: &Doc| a.kind() == b.kind() && a.name() == b.name();
        for _ in 0..1 + self.dice.roll(4) {
            let new = self.changed_document(&docs);
            match docs.iter_mut().find(|old| same(old, &new)) {
                Some(old) => *old = new,
                None => docs.push(new),
            }
        }
        if let Some(new) = self.changed_capability() {
            docs.retain(|old| !same(old, &new));
            docs.push(new);
        }
        let builder = Rules::builder().after_with_code(self.made.rules.clone());
        if !self.dice.percent(12) {
            return builder.add_all(docs).build().unwrap();
        }
        // Clients that are connected do not have the code.
        self.coded += 1;
        let (effect, calc) = (format!("GE_Coded{}", self.coded), format!("ExecCalc_{}", self.coded));
        docs.push(Effect::instant(effect).execute(&calc).into());
        builder.add_all(docs).calc_fn(&calc, [], |cx| cx.add("Health", -1.0)).build().unwrap()
    }

    /// Returns a document that replaces another one, or a new one.
    fn changed_document(&mut self, docs: &[Doc]) -> Doc {
        let dice = &mut self.dice;
        let (effects, attributes) = (&self.made.effects, &self.made.attributes);
        match dice.roll(10) {
            0..5 => {
                let at = dice.roll(effects.len());
                make::effect(dice, &effects[at], attributes, &effects[at + 1..]).into()
            }
            5 | 6 => {
                let at = dice.roll(self.made.abilities.len());
                make::ability(dice, &self.made.abilities[at], &format!("GE_Wait{at}"), effects).into()
            }
            7 | 8 => {
                let is_core = |set: &&AttributeSet| set.name == "Core";
                let mut core = docs.iter().filter_map(AttributeSet::of).find(is_core).unwrap().clone();
                // The attributes after Health, Mana and Mark are random.
                let at = 3 + dice.roll(core.attributes.len() - 3);
                core.attributes[at] = make::attribute(dice, &core.attributes[at].name);
                core.attributes[1].default_base_value = Some(400.0 + dice.roll(100) as f64);
                if dice.percent(30) {
                    let name = format!("New{}", core.attributes.len());
                    core.attributes.push(Attribute::new(name, dice.roll(50) as f64));
                }
                core.into()
            }
            _ => Effect::lasting(format!("GE_New{}", docs.len()), 1.0).add("Health", 1.0).into(),
        }
    }

    /// Drops the marks of clients that got new rules: a client drops its predictions with the old rules.
    pub(crate) fn note_rules(&mut self) {
        for (player, known) in self.known_rules.iter_mut().enumerate() {
            let rules = self.net.client(NAMES[player]).sim().rules().fingerprint();
            if rules != *known {
                *known = rules;
                self.marks.retain(|mark| mark.player != player);
                self.tally.put("rules that clients got", 1);
            }
        }
    }

    /// A client is denied only for rules with code that it lacks, and the denial says so.
    pub(crate) fn assert_denials_have_a_reason(&self) {
        for name in &NAMES[..self.heroes.len()] {
            match self.net.client(name).state() {
                ClientState::Denied(Denial::Rules { server, client }) => {
                    assert!(self.coded > 0 && server != client, "seed {}: {name} is denied", self.seed);
                }
                ClientState::Denied(denial) => panic!("seed {}: {name}: {denial}", self.seed),
                ClientState::Connecting | ClientState::Playing | ClientState::Disconnected(_) => {}
            }
        }
    }

    /// Reconnects clients that were denied; a real player installs the new version of the game.
    pub(crate) fn denied_return(&mut self, all: bool) {
        let second = self.ticks(1.0) as usize;
        for (player, name) in NAMES.iter().enumerate().take(self.heroes.len()) {
            let is_denied = matches!(self.net.client(name).state(), ClientState::Denied(_));
            if is_denied && self.net.player(name).peer().is_some() && (all || self.dice.roll(second) == 0) {
                self.tally.put("denied", 1);
                self.reconnect(player);
            }
        }
    }

    /// Checks that every client has the rules of the server.
    pub(crate) fn assert_clients_have_the_rules(&self) {
        let rules = self.net.server().sim().rules().fingerprint();
        for name in &NAMES[..self.heroes.len()] {
            let client = self.net.client(name).sim().rules().fingerprint();
            assert_eq!(client, rules, "seed {}: {name} has other rules", self.seed);
        }
    }
}
