//! A rejection does not contain its reason, which may be hidden from the client.

use super::rig::LENGTH;
use ugas_core::{AbilityGrant, NoHost, Op, Rules, Sim, SimConfig, SpawnSpec, Spec, Target};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect, ImmunityEntry};
use ugas_net::authority::RejectReason;
use ugas_net::client::{Client, ClientConfig};
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

const ANN: PeerId = PeerId(1);

/// A session whose foe has an effect that is hidden from its attacker. Returns everything that is sent to the attacker after its
/// request to hit the foe, which is rejected.
fn sent_bytes(shield: &str) -> Vec<Vec<u8>> {
    let set = AttributeSet::new("S").with(Attribute::new("Open", 100.0));
    let tagged = |mut effect: Effect| {
        effect.effect_tags.push("Damage".into());
        effect
    };
    let mut builder = Rules::builder().add(set).add(tagged(Effect::instant("Hit").add("Open", -20.0)));
    for name in ["ShieldA", "ShieldB"] {
        let mut shield = Effect::infinite(name);
        shield.immunity.push(ImmunityEntry { effect_tags: vec!["Damage".into()], ..Default::default() });
        builder = builder.add(shield);
    }
    let strike = AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "Hit");
    let channel = Ability::new("Channel")
        .task(AbilityTask::new("WaitDelay").param("Duration", 9.0).client_effect("Hit", 1, 1))
        .task(strike);
    let rules = builder.add(channel).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let spawn = |sim: &mut Sim| sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
    let (hero, foe) = (spawn(&mut sim), spawn(&mut sim));
    let (ability, effect) = (rules.ability("Channel").unwrap(), rules.effect("Hit").unwrap());
    sim.run(Op::Grant { who: hero, grant: AbilityGrant::new(ability) }).unwrap();
    sim.apply(&Spec::new(rules.effect(shield).unwrap(), foe)).unwrap();
    let config =
        ServerConfig { tick_length: LENGTH, replication: ControllerReplication::Mixed, ..ServerConfig::default() };
    let mut server = Server::new(sim, config, Secret::known(1));
    server.connect(ANN, &[hero]).unwrap();
    let mut client = Client::new(rules, ClientConfig::default());
    let mut sent = Vec::new();
    for n in 0..120 {
        if n == 60 {
            let ask = Request::Activate { who: hero, ability, target: Target::Controller(foe) };
            client.command(ask).unwrap();
        }
        if n == 80 {
            sent.clear();
            client.command(Request::Apply { who: hero, ability, effect, target: foe }).unwrap();
        }
        client.send(&mut |datagram| server.receive(ANN, datagram));
        server.step(&mut NoHost);
        server.send(&mut |_, datagram| {
            sent.push(datagram.to_vec());
            client.receive(datagram);
        });
        client.update(LENGTH);
    }
    assert_eq!(
        (server.counts().of(RejectReason::Rules), client.counts().rejected),
        (1, 1),
        "it was rejected, with a verdict"
    );
    sent
}

#[test]
fn a_rejection_does_not_reveal_hidden_effects() {
    assert!(sent_bytes("ShieldA") == sent_bytes("ShieldB"), "the bytes do not depend on the effect");
}
