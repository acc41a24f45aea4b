//! A hostile client in some sessions: it owns one controller and sends forged commands, messages and damaged packets.
//! Whatever the server makes of them, the other clients must agree with the server.

use super::dice::Dice;
use super::play::Swarm;
use ugas_core::{
    AbilityId, ActivationKey, Anchor, Answer, ControllerId, EffectId, Hit, InputId, TagId, Target, TaskKey,
};
use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
use ugas_net::internals::wire::bits::BitWriter;
use ugas_net::internals::wire::number::put_uint;
use ugas_net::message::{Command, PROTOCOL, Request, ToServer};
use ugas_net::types::{PeerId, Tick};

/// The first peer of the hostile client; the other clients have small numbers.
const FIRST_PEER: u32 = 1_000;

/// The hostile client. It never reads what the server sends, so that nothing is acknowledged.
pub(crate) struct Cheater {
    /// Separate from the dice of the session, so that a session without the cheater is unchanged.
    dice: Dice,
    pub(crate) who: ControllerId,
    peer: PeerId,
    carrier: Carrier,
    base: u32,
}

impl Swarm {
    /// Adds the hostile client with a controller of its own.
    pub(crate) fn add_cheater(&mut self) {
        let who = self.spawn(true);
        self.others.push(who);
        let carrier = Carrier::new(ConnectionConfig::default());
        let dice = Dice::new(!self.seed);
        self.cheater = Some(Cheater { dice, who, peer: PeerId(FIRST_PEER), carrier, base: 0 });
        self.join_cheater();
    }

    /// Connects the hostile client again.
    fn join_cheater(&mut self) {
        let Some(cheater) = &mut self.cheater else { return };
        let server = self.net.server_mut();
        server.disconnect(cheater.peer);
        cheater.peer = PeerId(cheater.peer.0 + 1);
        server.connect(cheater.peer, &[cheater.who]).unwrap();
        cheater.carrier = Carrier::new(ConnectionConfig::default());
        let rules = server.sim().rules().fingerprint();
        let hello = ToServer::Hello { protocol: PROTOCOL, rules, padding: vec![0; 256] };
        cheater.carrier.push(&hello.to_bytes()).unwrap();
    }

    pub(crate) fn cheater_acts(&mut self) {
        let second = self.ticks(1.0) as usize;
        let Some(mut cheater) = self.cheater.take() else { return };
        if cheater.dice.roll(second / 10 + 1) == 0 {
            self.send_forged(&mut cheater);
        }
        let is_active = self.net.server().sim().activations(cheater.who).is_ok_and(|mut list| list.next().is_some());
        self.tally.put("ticks in which the cheater's abilities are active", u64::from(is_active));
        let again = cheater.dice.roll(second * 8) == 0;
        self.cheater = Some(cheater);
        if again {
            self.join_cheater();
            self.tally.put("cheater joined again", 1);
        }
    }

    /// Sends one packet with forged commands, and with damage in some.
    fn send_forged(&mut self, cheater: &mut Cheater) {
        let (now, tick) = (self.net.now(), self.net.tick());
        if cheater.dice.percent(3) {
            let message = match cheater.dice.roll(3) {
                0 => ToServer::Resync.to_bytes(),
                1 => ToServer::Rules { rules: cheater.dice.roll(1 << 40) as u64 }.to_bytes(),
                _ => (0..cheater.dice.roll(64)).map(|_| cheater.dice.roll(256) as u8).collect(),
            };
            // The stream is full, because nothing is ever acknowledged.
            let _ = cheater.carrier.push(&message);
        }
        let commands: Vec<Vec<u8>> =
            (0..1 + cheater.dice.roll(4)).map(|_| self.forge(cheater, tick).to_bytes()).collect();
        self.tally.put("forged", commands.len() as u64);
        let payload = payload(&commands);
        let mut out = Vec::new();
        let mut write = |bytes: &mut Vec<u8>, room: usize| {
            if payload.len() <= room {
                bytes.extend_from_slice(&payload);
            }
        };
        cheater.carrier.write(now, tick, &mut out, &mut write);
        if cheater.dice.percent(15) && !out.is_empty() {
            let at = cheater.dice.roll(out.len());
            out[at] ^= 1 << cheater.dice.roll(8);
        }
        self.net.server_mut().receive(cheater.peer, &out);
    }

    /// Any request with any number, tick, target and answer; mostly for the cheater's own controller.
    fn forge(&self, cheater: &mut Cheater, tick: Tick) -> Command {
        let server = self.net.server().sim();
        let all: Vec<ControllerId> = self.heroes.iter().chain(&self.others).copied().collect();
        let dice = &mut cheater.dice;
        let who = if dice.percent(85) { cheater.who } else { *dice.pick(&all) };
        let target = *dice.pick(&all);
        let ability = AbilityId(dice.roll(server.rules().ability_list().count() + 1) as u32);
        let effect = EffectId(dice.roll(server.rules().effect_list().count() + 1) as u32);
        let input = InputId(dice.roll(4) as u32);
        let mut place = || *dice.pick(&[0.0, 3.0, 70.0, 9_000.0, -1e12, f64::NAN, f64::INFINITY]);
        let point = [place(), place(), place()];
        let aim = *dice.pick(&[Target::None, Target::Controller(target), Target::Point(point)]);
        let hit = Hit { distance: Some(point[0]), tags: vec![TagId(dice.roll(40) as u32)], ..Hit::default() };
        let answer = Answer { targets: vec![target], hit: Some(hit), value: point[1], fail: dice.percent(20) };
        let task = server.tasks(who).ok().and_then(|tasks| tasks.first().map(|task| task.key));
        let running = server.activations(who).ok().and_then(|mut list| list.next().map(|a| a.key));
        let request = match dice.roll(14) {
            0 => Request::Press { who, input, target: aim },
            1 => Request::Release { who, input },
            2 => Request::Cancel { who, ability },
            3 => Request::End { who, ability },
            4 => Request::Commit { who, ability },
            5 | 6 => Request::Apply { who, ability, effect, target },
            7 => Request::Complete { key: task.unwrap_or(TaskKey { seq: dice.roll(50) as u64, who }), answer },
            8 => Request::Move { who, anchor: Anchor::at(point) },
            9 => {
                let key = running.unwrap_or(ActivationKey { origin_id: 1, who, ordinal: 0 });
                Request::Aim { key, target: aim, tick: None }
            }
            10 => Request::Mispredicted { who, base: dice.roll(200) as u32, sub: 0, ability, target: aim },
            _ => Request::Activate { who, ability, target: aim },
        };
        cheater.base += dice.roll(3) as u32;
        let base = if dice.percent(5) { dice.roll(1 << 32) as u32 } else { cheater.base };
        let tick = Tick((tick.0 + dice.roll(16) as u32).saturating_sub(dice.roll(16) as u32));
        let aim = dice.percent(10).then_some(Target::Controller(target));
        Command { tick, base, sub: dice.roll(4) as u16, request, aim }
    }
}

/// The payload of a client with one controller that claims nothing about its state.
fn payload(commands: &[Vec<u8>]) -> Vec<u8> {
    let mut out = BitWriter::new();
    out.bit(false);
    out.bit(false);
    put_uint(&mut out, commands.len() as u64);
    for command in commands {
        put_uint(&mut out, command.len() as u64);
        out.bytes(command);
    }
    out.finish().to_vec()
}
