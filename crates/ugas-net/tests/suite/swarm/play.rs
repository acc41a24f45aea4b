//! A session: its members and its ticks.

use super::cheat::Cheater;
use super::dice::Dice;
use super::make::{self, Made};
use std::collections::BTreeMap;
use ugas_core::{
    AbilityGrant, Anchor, ControllerId, EffectFilter, EffectKey, InputId, Op, OpId, Sim, SimConfig, SimTime, SpawnSpec,
    Which,
};
use ugas_doc::ControllerReplication;
use ugas_net::client::ClientConfig;
use ugas_net::harness::Harness;
use ugas_net::interest::RateTable;
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::Tick;

pub(crate) const NAMES: [&str; 8] = ["Ann", "Bob", "Cyd", "Dee", "Eve", "Fay", "Gus", "Hal"];

/// Counts what sessions did, so that a session without events does not pass.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) list: BTreeMap<&'static str, u64>,
}

impl Tally {
    pub(crate) fn put(&mut self, what: &'static str, n: u64) {
        *self.list.entry(what).or_default() += n;
    }

    pub(crate) fn add(&mut self, other: &Tally) {
        other.list.iter().for_each(|(what, n)| self.put(what, *n));
    }

    /// Checks that every kind of event happened often enough in this many sessions.
    pub(crate) fn check(&self, sessions: u64) {
        let all = [
            "predicted",
            "refused by the client",
            "refused by the server",
            "corrections",
            "marks",
            "cuts",
            "disconnects",
            "reconnects",
            "sets",
            "definitions",
            "spawns",
            "despawns",
            "proxies",
            "server ops",
            "forged",
            "ticks in which the cheater's abilities are active",
            "cheater joined again",
            "reloads",
            "rules that clients got",
            "sets granted",
            "sets revoked",
            "blocks",
            "unblocks",
            "switches",
            "changes of resources",
            "active capabilities",
        ];
        let count = |what| self.list.get(what).copied().unwrap_or(0);
        for what in all {
            let n = count(what);
            assert!(n >= sessions / 2, "{what} happened only {n} times in {sessions} sessions: {self:#?}");
        }
        // One reload in eight denies the clients.
        let denied = count("denied");
        assert!(denied >= sessions / 8, "{denied} clients were denied in {sessions} sessions: {self:#?}");
    }
}

/// A predicted application of the counted effect.
#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) player: usize,
    pub(crate) op: OpId,
    pub(crate) key: EffectKey,
    pub(crate) until: SimTime,
    /// The newest tick that the server had confirmed when the client predicted the application.
    pub(crate) confirmed: Option<Tick>,
}

/// A session about random rules.
pub(crate) struct Swarm {
    pub(crate) seed: u64,
    /// Whether views go in every tick.
    pub(crate) prompt: bool,
    pub(crate) dice: Dice,
    /// Whether there are capability sets.
    pub(crate) has_sets: bool,
    /// The random numbers of the capability sets and of the ops on them.
    pub(crate) set_dice: Dice,
    pub(crate) made: Made,
    pub(crate) net: Harness,
    /// One for each player.
    pub(crate) heroes: Vec<ControllerId>,
    /// All actors that ever existed, except the heroes.
    pub(crate) others: Vec<ControllerId>,
    /// The hashes of the heroes without hidden attributes, at the end of each tick of the server.
    pub(crate) hashes: BTreeMap<(ControllerId, u32), u64>,
    /// The last tick in which each hero was dead, on the server or on its client.
    pub(crate) dead: BTreeMap<ControllerId, Tick>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) defined: u32,
    /// The hostile client.
    pub(crate) cheater: Option<Cheater>,
    /// Whether the server gets new rules during the session.
    pub(crate) reloads: bool,
    /// How many new rules had code that clients lack.
    pub(crate) coded: u32,
    /// The hash of the rules of each client.
    pub(crate) known_rules: Vec<u64>,
    pub(crate) tally: Tally,
}

impl Swarm {
    pub(crate) fn new(seed: u64) -> Swarm {
        let mut dice = Dice::new(seed);
        let (has_sets, mut set_dice) = (!super::KEPT.contains(&seed), Dice::new(!seed));
        let made = make::rules(&mut dice, has_sets.then_some(&mut set_dice));
        let sim = Sim::new(made.rules.clone(), SimConfig { seed, ..SimConfig::default() });
        let length = SimTime::frames(1, *dice.pick(&[20, 30, 60]));
        let mode = *dice.pick(&[ControllerReplication::Full, ControllerReplication::Mixed]);
        let config = ServerConfig { replication: mode, tick_length: length, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(seed));
        // Every tick, so that the compared states are of one tick; the others are sent at the usual rates.
        let prompt = seed.is_multiple_of(2);
        if prompt {
            let often = 60..=100;
            let rates = RateTable {
                state_divisor: 1,
                player_slow: often.clone(),
                important: often.clone(),
                ..RateTable::default()
            };
            server.set_rates(RateTable { distant: often, ..rates });
        }
        let net = Harness::new(server, seed);
        let mut swarm = Swarm {
            seed,
            prompt,
            dice,
            has_sets,
            set_dice,
            made,
            net,
            heroes: Vec::new(),
            others: Vec::new(),
            hashes: BTreeMap::new(),
            dead: BTreeMap::new(),
            marks: Vec::new(),
            defined: 0,
            cheater: None,
            reloads: (seed / 2) % 4 >= 2,
            coded: 0,
            known_rules: Vec::new(),
            tally: Tally::default(),
        };
        let players = 1 + swarm.dice.roll(NAMES.len());
        for name in &NAMES[..players] {
            let hero = swarm.spawn(true);
            swarm.heroes.push(hero);
            let window = *swarm.dice.pick(&[ClientConfig::default().prediction_window, SimTime::millis(500)]);
            let config = ClientConfig { prediction_window: window, ..ClientConfig::default() };
            let ways = [0; 2].map(|_| swarm.dice.pick(&LinkProfile::ALL).1);
            swarm.net.join_over(name, config, ways, &[hero]).unwrap();
        }
        for _ in 0..swarm.dice.roll(4) {
            let other = swarm.spawn(false);
            swarm.others.push(other);
        }
        swarm.known_rules = vec![swarm.made.rules.fingerprint(); players];
        if (seed / 2) % 2 == 1 {
            swarm.add_cheater();
        }
        swarm
    }

    /// Spawns an actor with every ability.
    pub(crate) fn spawn(&mut self, hero: bool) -> ControllerId {
        let rules = self.made.rules.clone();
        let mut sets = vec![rules.set("Core").unwrap()];
        if self.dice.percent(30) {
            sets.push(rules.set("Item").unwrap());
        }
        sets.extend(self.has_sets.then(|| rules.set("Rage").unwrap()));
        let place = [self.dice.roll(100) as f64, 0.0, self.dice.roll(100) as f64];
        let anchor = Some(Anchor::at(place));
        let names = self.made.abilities.iter().map(String::as_str).chain(["GA_Mark"]).enumerate();
        let grant = |(i, name): (usize, &str)| {
            let input = (i < 3).then_some(InputId(i as u32));
            AbilityGrant { input, ..AbilityGrant::new(rules.ability(name).unwrap()) }
        };
        let abilities = names.map(grant).collect();
        let spec = SpawnSpec { anchor, abilities, ..SpawnSpec::sets(sets) };
        let who = self.net.server_mut().sim_mut().spawn(spec).unwrap();
        let all = [
            ControllerReplication::Full,
            ControllerReplication::Mixed,
            ControllerReplication::Minimal,
            ControllerReplication::None,
        ];
        // The owner of an exact row predicts; the others only observe.
        let modes = if hero { &all[..2] } else { &all[..] };
        if self.dice.percent(50) {
            let mode = *self.dice.pick(modes);
            self.net.server_mut().set_replication(who, mode);
        }
        who
    }

    /// Ticks in this many seconds.
    pub(crate) fn ticks(&self, seconds: f64) -> u32 {
        (SimTime::seconds(seconds).0 / self.net.server().tick_length().0) as u32
    }

    pub(crate) fn play(&mut self, seconds: f64) {
        for _ in 0..self.ticks(seconds) {
            self.players_act();
            self.server_acts();
            self.capabilities_act();
            self.links_act();
            self.cheater_acts();
            self.rules_act();
            self.denied_return(false);
            self.step();
        }
    }

    /// Restores the links and reconnects all clients, then continues for a while.
    pub(crate) fn restore_links(&mut self) {
        self.net.restore_links();
        for (player, name) in NAMES.iter().enumerate().take(self.heroes.len()) {
            if self.net.player(name).peer().is_none() {
                self.reconnect(player);
            }
        }
        for _ in 0..self.ticks(2.5) {
            self.step();
            // A denial may have been under way.
            self.denied_return(true);
        }
        for _ in 0..self.ticks(1.0) {
            self.players_act();
            self.server_acts();
            self.capabilities_act();
            self.cheater_acts();
            self.step();
        }
    }

    /// The ticks until all packets in flight have arrived.
    fn round_trip(&self) -> u32 {
        let now = self.net.tick().0;
        let lead = |name: &&str| self.net.client(name).tick().0.saturating_sub(now);
        NAMES[..self.heroes.len()].iter().map(lead).max().unwrap_or(0) + 4
    }

    /// Stops all requests. One round trip later all commands are decided, and one more later the server has the reports of the
    /// rejected ones, so no command is pending. One round trip after the last effect ended the journals are empty.
    pub(crate) fn quiet(&mut self) {
        for _ in 0..2 * self.round_trip() {
            self.step();
        }
        self.assert_nothing_is_pending();
        self.count_capabilities();
        // A client that could not predict what a capability of the server did may request a state.
        let most = if self.has_sets { 2 + self.round_trip() } else { 2 };
        for _ in 0..self.ticks(0.5) {
            self.step();
            self.assert_owners_are_up_to_date(most);
            if self.prompt {
                self.assert_all_clients_agree();
                self.assert_capabilities_agree();
            }
        }
        for round in 0..20 {
            if self.is_idle() {
                break;
            }
            for who in self.heroes.iter().chain(&self.others).copied().collect::<Vec<_>>() {
                self.revoke_sets(who);
                let all = EffectFilter::default();
                // A paused controller would keep its effects for ever.
                let sim = self.net.server_mut().sim_mut();
                let _ = sim.run(Op::SetActive { who, active: true });
                let _ = sim.run(Op::RemoveMatching { who, filter: all });
                // Rules in which the end of an effect triggers another effect never stop by themselves.
                for grant in sim.grants(who).unwrap_or_default().into_iter().filter(|_| round >= 10) {
                    let _ = sim.run(Op::Revoke { who, which: Which::Grant(grant.id) });
                }
            }
            self.marks.clear();
            for _ in 0..self.ticks(0.5) {
                self.step();
            }
        }
        assert!(self.is_idle(), "seed {}: something stays active for ever", self.seed);
        for _ in 0..self.round_trip() {
            self.step();
        }
        self.journals_are_empty();
        self.assert_clients_have_the_rules();
        // Remote actors are sent at their own rates.
        for _ in 0..self.ticks(0.5) {
            self.step();
        }
        self.assert_owners_are_up_to_date(2);
        self.assert_all_clients_agree();
        self.assert_capabilities_agree();
        let counts = self.net.players().iter().map(|p| p.client().counts());
        let (corrections, refused) = counts.fold((0, 0), |(c, r), n| (c + n.corrections, r + n.rejected));
        self.tally.put("corrections", corrections);
        self.tally.put("refused by the server", refused);
        self.tally.put("proxies", self.net.players().iter().map(|p| p.client().proxies().len() as u64).sum());
    }

    pub(crate) fn step(&mut self) {
        self.net.step();
        self.note();
        self.note_rules();
        self.assert_denials_have_a_reason();
        self.assert_confirmed_states_match_the_server();
        self.assert_accepted_marks_are_present_once();
        self.assert_memory_is_bounded();
    }
}
