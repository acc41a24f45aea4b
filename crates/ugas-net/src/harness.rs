//! A server and its clients over simulated links in virtual time.
//!
//! A [`Harness`] is for tests of games and of this crate. It takes a [`Server`], lets named clients join over links
//! with given profiles, and runs the server, the clients and the links tick by tick. One seed determines all loss and
//! delay, so a failure is reproducible.
//!
//! In each tick the server receives datagrams, runs its sim and sends datagrams. Half a tick later the clients receive
//! datagrams, update and send datagrams. This offset models clocks that are not aligned.

use ugas_core::{ControllerId, Host, NoHost, SimTime};

use crate::client::{Client, ClientConfig};
use crate::link::{Link, LinkProfile};
use crate::server::{ConnectError, Server};
use crate::types::{PeerId, Tick};

/// A client of a [`Harness`] with its links and owned controllers.
#[derive(Clone)]
pub struct Player {
    name: String,
    peer: Option<PeerId>,
    client: Client,
    config: ClientConfig,
    owns: Vec<ControllerId>,
    /// The link from the client to the server.
    pub up: Link,
    /// The link from the server to the client.
    pub down: Link,
}

impl Player {
    /// Returns the name of the client.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of the client's connection; `None` while the client is not connected.
    pub fn peer(&self) -> Option<PeerId> {
        self.peer
    }

    /// Returns the controllers that the client joined with.
    pub fn owns(&self) -> &[ControllerId] {
        &self.owns
    }

    /// Returns the session of the client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns a mutable reference to the session of the client, to send commands and take facts.
    pub fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

/// A server, its clients and the links between them, in virtual time.
///
/// ```
/// use ugas_core::{Rules, Sim, SimConfig, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet};
/// use ugas_net::client::ClientState;
/// use ugas_net::harness::Harness;
/// use ugas_net::link::LinkProfile;
/// use ugas_net::server::{Secret, Server, ServerConfig};
///
/// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
///
/// let mut play = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), 42);
/// play.join("Ann", LinkProfile::GOOD, &[hero])?;
/// play.run(60);
/// assert!(matches!(play.client("Ann").state(), ClientState::Playing));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Harness {
    server: Server,
    players: Vec<Player>,
    now: SimTime,
    seed: u64,
    links: u64,
    peers: u32,
}

impl Harness {
    /// Creates a harness without clients.
    pub fn new(server: Server, seed: u64) -> Harness {
        let now = server.tick().time(server.tick_length());
        Harness { server, players: Vec::new(), now, seed, links: 0, peers: 0 }
    }

    /// Adds a client with the same link profile in both directions.
    ///
    /// # Panics
    /// Panics if another client has that name.
    pub fn join(&mut self, name: &str, profile: LinkProfile, owns: &[ControllerId]) -> Result<(), ConnectError> {
        self.join_over(name, ClientConfig::default(), [profile, profile], owns)
    }

    /// Adds a client with one link profile for each direction: `up` to the server and `down` to the client.
    ///
    /// # Panics
    /// Panics if another client has that name.
    pub fn join_over(
        &mut self,
        name: &str,
        config: ClientConfig,
        [up, down]: [LinkProfile; 2],
        owns: &[ControllerId],
    ) -> Result<(), ConnectError> {
        assert!(self.players.iter().all(|player| player.name != name), "a client named {name} has joined already");
        let peer = self.connect(owns)?;
        let client = Client::new(self.server.sim().rules().clone(), config.clone());
        let (up, down) = (self.link(up), self.link(down));
        let name = name.to_owned();
        self.players.push(Player { name, peer: Some(peer), client, config, owns: owns.to_vec(), up, down });
        Ok(())
    }

    /// Ends a client's connection, as if the process of the client were killed. Datagrams in flight are lost. The
    /// controllers of the client stay in the sim; the server releases their held inputs, unless
    /// [`ServerConfig::release_inputs`](crate::server::ServerConfig::release_inputs) is off.
    ///
    /// # Panics
    /// Panics if no client has that name.
    pub fn disconnect(&mut self, name: &str) {
        let player = find(&mut self.players, name);
        if let Some(peer) = player.peer.take() {
            self.server.disconnect(peer);
        }
        player.up.clear();
        player.down.clear();
    }

    /// Reconnects a client with a new session, over the same links and with the same controllers.
    ///
    /// # Panics
    /// Panics if no client has that name.
    pub fn reconnect(&mut self, name: &str) -> Result<(), ConnectError> {
        self.disconnect(name);
        let owns = find(&mut self.players, name).owns.clone();
        let peer = self.connect(&owns)?;
        let rules = self.server.sim().rules().clone();
        let player = find(&mut self.players, name);
        player.peer = Some(peer);
        player.client = Client::new(rules, player.config.clone());
        Ok(())
    }

    /// Runs one tick without a host.
    pub fn step(&mut self) {
        self.step_with(&mut NoHost);
    }

    /// Runs one tick with a host for the server.
    pub fn step_with(&mut self, host: &mut dyn Host) {
        let Harness { server, players, now, .. } = self;
        let length = server.tick_length();
        let midway = *now + SimTime(length.0 / 2);
        for player in players.iter_mut() {
            let Some(peer) = player.peer else { continue };
            player.up.receive(*now, &mut |datagram| server.receive(peer, datagram));
        }
        server.step(host);
        server.send(&mut |peer, datagram| {
            if let Some(player) = players.iter_mut().find(|player| player.peer == Some(peer)) {
                player.down.send(*now, datagram);
            }
        });
        for Player { peer, client, up, down, .. } in players.iter_mut() {
            if peer.is_none() {
                continue;
            }
            down.receive(midway, &mut |datagram| client.receive(datagram));
            client.update(length);
            client.send(&mut |datagram| up.send(midway, datagram));
        }
        *now += length;
    }

    /// Runs a number of ticks.
    pub fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.step();
        }
    }

    /// Runs ticks until a condition is true, but at most `most` ticks. Returns how many ticks ran, or `None` if the
    /// condition did not become true.
    pub fn run_until(&mut self, most: u32, mut holds: impl FnMut(&Harness) -> bool) -> Option<u32> {
        for tick in 0..most {
            if holds(self) {
                return Some(tick);
            }
            self.step();
        }
        holds(self).then_some(most)
    }

    /// Makes all links perfect. Datagrams in flight keep their delay.
    pub fn restore_links(&mut self) {
        for link in self.players.iter_mut().flat_map(|player| [&mut player.up, &mut player.down]) {
            link.set_profile(LinkProfile::PERFECT);
            link.cut(SimTime::ZERO);
        }
    }

    /// Drops all datagrams that are sent to or from a client for this length of time.
    ///
    /// # Panics
    /// Panics if no client has that name.
    pub fn interrupt_link(&mut self, name: &str, length: SimTime) {
        let until = self.now + length;
        let player = find(&mut self.players, name);
        player.up.cut(until);
        player.down.cut(until);
    }

    /// Returns the server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns a mutable reference to the server, so that a test can run ops of the host.
    pub fn server_mut(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Returns a client.
    ///
    /// # Panics
    /// Panics if no client has that name.
    pub fn client(&self, name: &str) -> &Client {
        self.player(name).client()
    }

    /// Returns a mutable reference to a client, to send commands and take facts.
    ///
    /// # Panics
    /// Panics if no client has that name.
    pub fn client_mut(&mut self, name: &str) -> &mut Client {
        &mut find(&mut self.players, name).client
    }

    /// Returns a client with its links.
    ///
    /// # Panics
    /// Panics if no client has that name.
    pub fn player(&self, name: &str) -> &Player {
        self.players.iter().find(|player| player.name == name).unwrap_or_else(|| panic!("no client is named {name}"))
    }

    /// Returns all clients in the order they joined.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// Returns all clients as a mutable slice, to change their links.
    pub fn players_mut(&mut self) -> &mut [Player] {
        &mut self.players
    }

    /// Returns the virtual time.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Returns the server's tick.
    pub fn tick(&self) -> Tick {
        self.server.tick()
    }

    fn connect(&mut self, owns: &[ControllerId]) -> Result<PeerId, ConnectError> {
        let peer = PeerId(self.peers + 1);
        self.server.connect(peer, owns)?;
        self.peers += 1;
        Ok(peer)
    }

    /// Creates a link with its own seed, so that a client that joins later does not change the links of earlier
    /// clients.
    fn link(&mut self, profile: LinkProfile) -> Link {
        self.links += 1;
        Link::new(profile, self.seed.wrapping_add(self.links.wrapping_mul(0xD605_BBB5_8C8A_BC03)))
    }
}

fn find<'p>(players: &'p mut [Player], name: &str) -> &'p mut Player {
    players.iter_mut().find(|player| player.name == name).unwrap_or_else(|| panic!("no client is named {name}"))
}
