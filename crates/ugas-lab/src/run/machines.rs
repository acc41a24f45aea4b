//! Runs a scenario with `Network:`: its server and its clients over simulated links. Time is virtual and random numbers
//! depend only on the seed, so a run is reproducible.
//!
//! All times of the timeline are server times. A verb runs on the client that its `On:` names, or on the server if it
//! has no `On:`. It runs at the first server tick at or after the time of its timeline entry; a verb of a client whose
//! prediction window is full waits. Commands of a client travel over its simulated link, so they reach the server
//! later, as in a game.

use super::parts::{ClientPart, PartError, ServerPart};
use super::{RunOptions, Runner};
use crate::report::Failure;
use crate::scenario::{LinkChange, Place, Scenario, Wire, WireVerb};
use ugas_core::SimTime;
use ugas_data::ReadError;
use ugas_net::link::Link;
use ugas_net::types::{PeerId, Tick};

/// A client and its links.
struct Machine<'s> {
    /// The number of its connection, while it has one.
    peer: Option<PeerId>,
    /// The tick at which it connects first.
    joins: Tick,
    part: ClientPart<'s>,
    up: Link,
    down: Link,
}

impl Machine<'_> {
    fn connect(
        &mut self,
        server: &mut ServerPart<'_>,
        peers: &mut u32,
        scenario: &Scenario,
        place: Place,
    ) -> Result<(), PartError> {
        *peers += 1;
        let (peer, owned) = (PeerId(*peers), server.owned_by(self.part.name()).unwrap_or_default());
        server.server_mut().connect(peer, &owned).map_err(|error| {
            let message = format!("the client {} cannot connect: {error}", self.part.name());
            PartError::Errors(vec![place.error(&scenario.file, message)])
        })?;
        self.peer = Some(peer);
        Ok(())
    }

    /// Stops the client: datagrams in flight and its state are lost.
    fn disconnect(&mut self, server: &mut ServerPart<'_>) {
        if let Some(peer) = self.peer.take() {
            server.server_mut().disconnect(peer);
        }
        self.up.clear();
        self.down.clear();
        self.part.restart();
    }

    fn relink(&mut self, change: &LinkChange) {
        for link in [&mut self.up, &mut self.down] {
            let after = change.after(link.profile());
            link.set_profile(after);
        }
    }
}

impl<'a> Runner<'a> {
    /// Runs a scenario to its end, on one machine or on several, and returns the runner of the server. `watch` is
    /// called as in [`Runner::play`].
    pub(crate) fn played(
        scenario: &'a Scenario,
        options: RunOptions,
        watch: &mut dyn FnMut(&Runner<'_>),
    ) -> Result<Runner<'a>, Vec<ReadError>> {
        if scenario.network.is_none() {
            let mut runner = Runner::new(scenario, options)?;
            runner.play(options, watch);
            return Ok(runner);
        }
        play(scenario, options, watch).map_err(|why| match why {
            PartError::Errors(errors) => errors,
            other @ PartError::NoNetwork | other @ PartError::NoClient { .. } | other @ PartError::TooLong => {
                vec![scenario.place.error(&scenario.file, other.to_string())]
            }
        })
    }
}

fn play<'s>(
    scenario: &'s Scenario,
    options: RunOptions,
    watch: &mut dyn FnMut(&Runner<'_>),
) -> Result<Runner<'s>, PartError> {
    let seed = options.seed.unwrap_or(scenario.seed);
    let mut server = scenario.wired_server_part(options, None)?;
    let mut machines = Vec::new();
    for (at, client) in scenario.network.iter().flat_map(|network| &network.clients).enumerate() {
        // Each link has its own random stream.
        let link =
            |way: u64| Link::new(client.link(), seed ^ (at as u64 * 2 + way + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let part = scenario.client_part(&client.name)?;
        let joins = server.last_tick_at(client.joins);
        machines.push(Machine { peer: None, joins, part, up: link(0), down: link(1) });
    }
    let mut peers = 0;
    let length = server.server().tick_length();
    let end = options.until.map_or(server.end(), |until| server.last_tick_at(until));
    let mut now = SimTime::ZERO;
    server.look(watch);
    loop {
        for machine in &mut machines {
            let (Some(peer), session) = (machine.peer, server.server_mut()) else { continue };
            machine.up.receive(now, &mut |datagram| session.receive(peer, datagram));
        }
        let tick = server.server().tick();
        for machine in machines.iter_mut().filter(|m| m.joins == tick && m.peer.is_none()) {
            machine.connect(&mut server, &mut peers, scenario, scenario.place)?;
        }
        server.run_due();
        machines.iter_mut().for_each(|machine| machine.part.run_due_at(tick));
        for WireVerb { client, what } in server.take_wires() {
            let Some(machine) = machines.iter_mut().find(|m| m.part.name() == client.text) else { continue };
            match what {
                Wire::Link(change) => machine.relink(change),
                Wire::Disconnect => machine.disconnect(&mut server),
                Wire::Reconnect => {
                    machine.disconnect(&mut server);
                    machine.connect(&mut server, &mut peers, scenario, client.place)?;
                }
            }
        }
        server.look(watch);
        if tick >= end {
            break;
        }
        server.advance();
        server.server_mut().send(&mut |peer, datagram| {
            if let Some(machine) = machines.iter_mut().find(|machine| machine.peer == Some(peer)) {
                machine.down.send(now, datagram);
            }
        });
        // Clients run half a tick after the server.
        let midway = now + SimTime(length.0 / 2);
        for Machine { part, up, down, .. } in machines.iter_mut().filter(|machine| machine.peer.is_some()) {
            let client = part.client_mut();
            down.receive(midway, &mut |datagram| client.receive(datagram));
            client.update(length);
            client.send(&mut |datagram| up.send(midway, datagram));
        }
        now += length;
    }
    Ok(gather(server, machines))
}

/// Returns the runner of the server with the failures of all machines, in the order of the file.
fn gather<'s>(server: ServerPart<'s>, machines: Vec<Machine<'s>>) -> Runner<'s> {
    let mut runner = server.into_runner();
    for machine in machines {
        let (name, failures) = machine.part.into_failures();
        let with_name = |failure: Failure| Failure { message: format!("on {name}: {}", failure.message), ..failure };
        runner.failures.extend(failures.into_iter().map(with_name));
    }
    runner.failures.sort_by_key(|failure| (failure.line, failure.column));
    runner
}
