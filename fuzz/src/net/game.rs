//! A small game that exercises every decoder.

use std::sync::{Arc, OnceLock};
use ugas_core::{
    AbilityGrant, Anchor, BlockSource, CapabilityCall, CapabilityCx, CodedCapability, ControllerId, NoHost, Op, Rules,
    RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec, Spec,
};
use ugas_doc::{
    Ability, AbilityTask, Attribute, AttributeSet, Capability, CapabilitySet, ControllerReplication, Effect,
    SetCapability, Side,
};
use ugas_net::client::{Client, ClientConfig};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

pub(super) const LENGTH: SimTime = SimTime::frames(1, 60);
pub(super) const PEER: PeerId = PeerId(1);

fn builder() -> RulesBuilder {
    let set = AttributeSet::new("Vitals")
        .with(Attribute::new("Health", 100.0).min(0.0))
        .with(Attribute::new("Mana", 50.0).min(0.0));
    let own = |effect: &str| AbilityTask::new("ApplyEffectToOwner").param("EffectClass", effect);
    Rules::builder()
        .add(set)
        .add(Effect::lasting("GE_Cooldown", 0.2).grants("Cooldown.Haste"))
        .add(Effect::lasting("GE_Haste", 1.0).add("Mana", 5.0).grants("State.Haste"))
        .add(Effect::lasting("GE_Poison", 2.0).every(0.5).add("Health", -1.0).grants("State.Poisoned"))
        .add(Ability::new("GA_Haste").cooldown("GE_Cooldown").task(own("GE_Haste")))
        .add(Ability::new("GA_Aim").task(AbilityTask::new("WaitTargetData").param("TargetingMethod", "Trace")))
        .add(Ability::new("GA_Judged").validated("Server", None).task(own("GE_Haste")))
}

pub(super) fn rules() -> Arc<Rules> {
    static RULES: OnceLock<Arc<Rules>> = OnceLock::new();
    RULES.get_or_init(|| builder().build().expect("the rules are valid")).clone()
}

/// A coded capability with state.
struct Pulse;
impl CodedCapability for Pulse {
    type State = u32;
    fn step(&self, calls: &mut u32, _: CapabilityCall, _: &mut CapabilityCx<'_>) {
        *calls = calls.wrapping_add(1);
    }
}

/// Returns the same rules with capability sets, which views and states then contain.
pub(super) fn rules_with_sets() -> Arc<Rules> {
    static RULES: OnceLock<Arc<Rules>> = OnceLock::new();
    let build = || {
        let of = |class: &str, side: Side| SetCapability::new(class).side(side).tag("Capability.Any");
        let set = CapabilitySet::new("CS_Robot").data("RobotData");
        let set = Side::ALL.into_iter().fold(set, |set, side| set.capability(of("Guard", side)));
        builder()
            .add(AttributeSet::new("RobotData").with(Attribute::new("Charge", 5.0)))
            .add(Effect::infinite("GE_Guard").add("Mana", 1.0))
            .add(Capability::new("Guard").when("Health > 10").effect("GE_Guard").blocks("Capability.Other"))
            .add(set.capability(of("Pulse", Side::Always).interval(0.1)))
            .add(CapabilitySet::new("CS_Small").capability(of("Pulse", Side::OwnerLocalControlledOnly)))
            .capability_code("Pulse", Pulse)
            .build()
            .expect("the rules are valid")
    };
    RULES.get_or_init(build).clone()
}

/// Returns a server with a controller of a client and one without an owner.
pub(super) fn session() -> (Server, ControllerId, ControllerId) {
    session_of(rules())
}

/// Returns such a server whose controllers have all capability sets and a block.
pub(super) fn session_with_sets() -> (Server, ControllerId, ControllerId) {
    let rules = rules_with_sets();
    let (mut server, own, other) = session_of(rules.clone());
    for who in [own, other] {
        for set in ["CS_Robot", "CS_Small"] {
            server.sim_mut().grant_set(who, rules.ability_set(set).expect("it has its set")).expect("it is new");
        }
        let tag = rules.tag("Capability.Other").expect("it has its tag");
        server.sim_mut().run(Op::Block { who, tag, source: BlockSource::host("Test") }).expect("it can be blocked");
    }
    (server, own, other)
}

fn session_of(rules: Arc<Rules>) -> (Server, ControllerId, ControllerId) {
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let vitals = rules.set("Vitals").expect("it has its set");
    let mut spawn = |x| {
        let anchor = Some(Anchor::at([x, 0.0, 0.0]));
        sim.spawn(SpawnSpec { anchor, ..SpawnSpec::sets([vitals]) }).expect("there is room")
    };
    let (own, other) = (spawn(0.0), spawn(5.0));
    for (ability, _) in rules.ability_list() {
        sim.run(Op::Grant { who: own, grant: AbilityGrant::new(ability) }).expect("it can be granted");
    }
    let (mode, packets) = (ControllerReplication::Full, 1024);
    let config = ServerConfig {
        replication: mode,
        packets_per_tick: packets,
        commands_per_tick: 64,
        tick_length: LENGTH,
        ..ServerConfig::default()
    };
    let mut server = Server::new(sim, config, Secret::known(1));
    server.connect(PEER, &[own]).expect("the first client");
    (server, own, other)
}

/// Returns the datagrams to the client of a short session, by tick.
pub(super) fn recorded() -> &'static [Vec<Vec<u8>>] {
    static RECORDED: OnceLock<Vec<Vec<Vec<u8>>>> = OnceLock::new();
    RECORDED.get_or_init(|| {
        let (mut server, own, other) = session();
        let mut client = fresh_client();
        let poison = rules().effect("GE_Poison").expect("it has its effect");
        (0..24)
            .map(|tick| {
                client.send(&mut |datagram| server.receive(PEER, datagram));
                if tick % 8 == 7 {
                    for who in [own, other] {
                        server.sim_mut().apply(&Spec::new(poison, who)).expect("it can be applied");
                    }
                }
                server.step(&mut NoHost);
                let mut datagrams = Vec::new();
                server.send(&mut |_, datagram| datagrams.push(datagram.to_vec()));
                datagrams.iter().for_each(|datagram| client.receive(datagram));
                client.update(LENGTH);
                datagrams
            })
            .collect()
    })
}

pub(super) fn fresh_client() -> Client {
    Client::new(rules(), ClientConfig::default())
}

/// Returns a client that has received that session.
pub(super) fn warm_client() -> Client {
    let mut client = fresh_client();
    for datagrams in recorded() {
        client.send(&mut |_| ());
        datagrams.iter().for_each(|datagram| client.receive(datagram));
        client.update(LENGTH);
    }
    client
}

/// Returns a datagram with a valid header and this content.
pub(super) fn datagram(number: u64, tick: u32, is_reliable: bool, rest: &[u8]) -> Vec<u8> {
    let mut out = vec![1 << 6 | u8::from(is_reliable) << 1];
    out.extend_from_slice(&number.to_le_bytes()[..6]);
    out.extend_from_slice(&tick.to_le_bytes());
    out.extend_from_slice(rest);
    out
}

/// Returns a section of the reliable stream with one message.
pub(super) fn section(sequence: u16, message: &[u8]) -> Vec<u8> {
    let message = &message[..message.len().min(480)];
    let mut out = vec![1];
    out.extend_from_slice(&sequence.to_le_bytes());
    out.extend_from_slice(&((message.len() as u16) << 1 | 1).to_le_bytes());
    out.extend_from_slice(message);
    out
}
