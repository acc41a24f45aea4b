//! New rules on a server with connected clients: the clients follow, or they are denied.

use crate::kit::{Game, LENGTH, Setup};
use std::sync::Arc;
use ugas_core::{AttributeId, FactKind, NoHost, Rules, Spec, Target};
use ugas_doc::{Attribute, AttributeSet, Doc, Effect, ReplicationMode};
use ugas_net::client::{Certainty, Client, ClientConfig, ClientState};
use ugas_net::link::LinkProfile;
use ugas_net::message::Denial;
use ugas_net::types::PeerId;

/// Returns rules in which these documents are added, or replace those of the same kind and name.
fn with(rules: &Arc<Rules>, new: Vec<Doc>) -> Arc<Rules> {
    let same = |a: &Doc, b: &Doc| a.kind() == b.kind() && a.name() == b.name();
    let mut docs: Vec<Doc> = rules.documents().map(|doc| (**doc).clone()).collect();
    for new in new {
        match docs.iter_mut().find(|old| same(old, &new)) {
            Some(old) => *old = new,
            None => docs.push(new),
        }
    }
    Rules::builder().after(rules.clone()).add_all(docs).build().unwrap()
}

/// A bolt of 40 instead of 25, a larger default of mana, a speed that is hidden from owners, and a new attribute.
fn changes() -> Vec<Doc> {
    let speed = Attribute { replication_mode: ReplicationMode::None, ..Attribute::new("Speed", 10.0) };
    let set = AttributeSet::new("Vitals")
        .with(Attribute::new("Health", 100.0).min(0.0))
        .with(Attribute::new("Mana", 140.0).min(0.0))
        .with(speed)
        .with(Attribute::new("Armor", 7.0));
    vec![set.into(), Effect::instant("GE_Bolt").add("Health", -40.0).into()]
}

fn game(profile: LinkProfile, seed: u64) -> Game {
    Game::new(Setup { ben: true, profile, seed, ..Setup::default() })
}

fn reload(g: &mut Game, new: Vec<Doc>) {
    let rules = with(g.net.server().sim().rules(), new);
    g.net.server_mut().reload(rules.clone()).unwrap();
    g.rules = rules;
}

/// Checks that both clients have the server's rules and states, and that Ana can predict.
fn agree(g: &mut Game, what: &str) {
    g.net.restore_links();
    g.net.run(120);
    let fingerprint = g.net.server().sim().rules().fingerprint();
    for (name, own, other) in [("Ana", g.hero, g.other), ("Ben", g.other, g.hero)] {
        let client = g.net.client(name);
        assert_eq!(*client.state(), ClientState::Playing, "{what}: {name}");
        assert_eq!(client.sim().rules().fingerprint(), fingerprint, "{what}: {name}");
        let server = g.net.server().owner_hash(own).unwrap();
        assert_eq!(client.confirmed_hash(own), Some(server), "{what}: {name}");
        assert_eq!(client.owned(), [own], "{what}: {name}");
        for who in [other, g.foe] {
            for attribute in ["Health", "Mana"].map(|name| g.attribute(name)) {
                let (seen, truth) = (client.sim().get(who, attribute), g.net.server().sim().get(who, attribute));
                assert_eq!(seen, truth, "{what}: {name} sees {who}");
            }
        }
        assert_eq!((client.pending_commands(), client.counts().malformed), (0, 0), "{what}: {name}");
    }
    let (foe, before) = (g.foe, g.truth(g.foe, "Health"));
    g.bolt();
    assert_eq!(g.seen(foe, "Health"), (before - 40.0).max(0.0), "{what}: predicted under the new rules");
    g.net.run(60);
    assert_eq!(g.truth(foe, "Health"), (before - 40.0).max(0.0), "{what}");
}

#[test]
fn clients_follow_a_reload_and_agree_with_the_server_afterwards() {
    for profile in
        [LinkProfile::round_trip(0, 0), LinkProfile::round_trip(100, 0), LinkProfile::MOBILE, LinkProfile::BAD]
    {
        let mut g = game(profile, 3);
        let (hero, haste) = (g.hero, g.effect("GE_Haste"));
        g.net.server_mut().sim_mut().apply(&Spec::new(haste, hero)).unwrap();
        g.bolt();
        g.net.run(3);
        g.facts();
        reload(&mut g, changes());
        g.net.run(40);
        let facts = g.facts();
        let is_reload = |kind: &FactKind| matches!(kind, FactKind::Reloaded { .. });
        assert_eq!(facts.iter().filter(|(f, _)| is_reload(&f.kind)).count(), 1);
        let gone = |kind: &FactKind| matches!(kind, FactKind::Despawned | FactKind::Spawned { .. });
        assert_eq!(facts.iter().filter(|(f, _)| gone(&f.kind)).count(), 0, "all actors stay");
        let speed = g.attribute("Speed");
        agree(&mut g, "one reload");
        let server = g.truth(hero, "Mana");
        assert_eq!(g.seen(hero, "Mana"), server);
        assert_eq!(g.seen(g.foe, "Armor"), 7.0, "observers see a new attribute");
        let shape = g.ana().proxies().get(g.other).unwrap().snapshot();
        let shown: Vec<AttributeId> = shape.values.iter().map(|v| v.0).collect();
        assert!(!shown.contains(&speed), "an attribute that became hidden is no longer sent");
    }
}

/// The client cannot find out what became of its predictions under the old rules.
#[test]
fn predictions_in_flight_during_a_reload_are_not_undone() {
    for (ahead, rtt) in [(0, 100), (2, 100), (5, 200)] {
        let mut g = game(LinkProfile::round_trip(rtt, 0), 3);
        let (foe, before) = (g.foe, g.truth(g.foe, "Health"));
        g.facts();
        reload(&mut g, changes());
        g.net.run(ahead);
        g.bolt();
        g.net.run(120);
        assert_eq!(g.truth(foe, "Health"), before - 40.0, "the server ran it under the new rules");
        let undone = |c: &&(_, Certainty)| c.1 == Certainty::Undone;
        let facts = g.facts();
        assert_eq!(facts.iter().find(undone), None, "{ahead}, {rtt} ms");
    }
}

#[test]
fn a_reload_through_the_sim_is_followed_with_the_next_tick() {
    let mut g = game(LinkProfile::round_trip(100, 0), 1);
    let rules = with(&g.rules, changes());
    g.net.server_mut().sim_mut().reload(rules.clone()).unwrap();
    g.rules = rules;
    agree(&mut g, "through the sim");
}

#[test]
fn reloads_during_play_over_bad_links_lose_nothing() {
    for seed in 0..12 {
        let mut g = game(if seed % 2 == 0 { LinkProfile::BAD } else { LinkProfile::MOBILE }, seed);
        for step in 0..240u64 {
            if step % 11 == seed % 11 {
                // Refused while the window is closed.
                let _ = g.cast(if step % 2 == 0 { "GA_Bolt" } else { "GA_Haste" }, Target::Controller(g.foe));
            }
            if [40, 44, 90, 91, 160].contains(&(step + seed)) {
                let most = 100.0 + (step + seed) as f64;
                let mut new = changes();
                new.push(Effect::instant("GE_Cost").add("Mana", -(step as f64) / 1000.0).into());
                new.push(Effect::instant(format!("GE_New{step}")).add("Health", most).into());
                reload(&mut g, new);
            }
            g.net.step();
        }
        agree(&mut g, &format!("seed {seed}"));
    }
}

#[test]
fn a_client_that_cannot_build_the_rules_is_denied_with_both_hashes() {
    let mut g = game(LinkProfile::round_trip(100, 0), 1);
    let old = g.rules.fingerprint();
    let mut docs: Vec<Doc> = g.rules.documents().map(|doc| (**doc).clone()).collect();
    docs.push(Effect::instant("GE_Coded").execute("ExecCalc_New").into());
    let builder = Rules::builder().after(g.rules.clone()).add_all(docs);
    let rules = builder.calc_fn("ExecCalc_New", [], |cx| cx.add("Health", -1.0)).build().unwrap();
    g.net.server_mut().reload(rules.clone()).unwrap();
    g.net.run(60);
    let denial = Denial::Rules { server: rules.fingerprint(), client: old };
    for name in ["Ana", "Ben"] {
        assert_eq!(*g.net.client(name).state(), ClientState::Denied(denial.clone()));
    }
    assert_eq!(
        g.net.server().denied().map(|(_, why)| why.clone()).collect::<Vec<_>>(),
        [denial.clone(), denial.clone()]
    );
    let text = denial.to_string();
    for hash in [rules.fingerprint(), old] {
        assert!(text.contains(&format!("{hash:016x}")), "{text}");
    }
    assert_eq!(g.net.server().playing().count(), 0);
}

#[test]
fn a_reload_that_is_too_long_to_send_denies_the_clients() {
    let mut g = game(LinkProfile::round_trip(100, 0), 1);
    let old = g.rules.fingerprint();
    let many = (0..200).map(|n| Effect::instant(format!("GE_{n}_{}", "x".repeat(600))).add("Health", 1.0).into());
    reload(&mut g, many.collect());
    g.net.run(60);
    let denial = Denial::Rules { server: g.rules.fingerprint(), client: old };
    assert_eq!(*g.net.client("Ana").state(), ClientState::Denied(denial));
}

/// Connects a client with these rules as a third player and runs for two seconds. Returns the client.
fn join_with(g: &mut Game, rules: Arc<Rules>) -> Client {
    let server = g.net.server_mut();
    server.connect(PeerId(77), &[]).unwrap();
    let mut client = Client::new(rules, ClientConfig::default());
    let mut down: Vec<Vec<u8>> = Vec::new();
    for _ in 0..120 {
        down.drain(..).for_each(|datagram| client.receive(&datagram));
        client.update(LENGTH);
        client.send(&mut |datagram| server.receive(PeerId(77), datagram));
        server.step(&mut NoHost);
        server.send(&mut |peer, datagram| down.extend((peer == PeerId(77)).then(|| datagram.to_vec())));
    }
    client
}

#[test]
fn a_client_that_joins_with_earlier_rules_gets_the_current_ones() {
    let mut g = game(LinkProfile::round_trip(0, 0), 1);
    let earlier = g.rules.clone();
    let between = changes();
    reload(&mut g, between);
    reload(&mut g, vec![Effect::instant("GE_Other").add("Health", -2.0).into()]);
    g.net.run(30);
    let late = join_with(&mut g, earlier);
    assert_eq!(*late.state(), ClientState::Playing);
    assert_eq!(late.sim().rules().fingerprint(), g.rules.fingerprint());
    let armor = g.attribute("Armor");
    assert_eq!(late.sim().get(g.foe, armor), Ok(7.0));
}

/// The ids of new names depend on the versions before, also on a name that a version in between added.
#[test]
fn clients_get_every_version_of_the_rules() {
    let mut g = game(LinkProfile::round_trip(0, 0), 1);
    let earlier = g.rules.clone();
    // Both reloads happen before the next tick.
    reload(&mut g, vec![Effect::infinite("GE_Between").grants("State.Between").into()]);
    let mut docs: Vec<Doc> = g.rules.documents().map(|doc| (**doc).clone()).collect();
    docs.retain(|doc| doc.name() != "GE_Between");
    docs.push(Effect::infinite("GE_After").grants("State.After").into());
    let rules = Rules::builder().after(g.rules.clone()).add_all(docs).build().unwrap();
    g.net.server_mut().reload(rules.clone()).unwrap();
    g.net.run(60);
    let late = join_with(&mut g, earlier);
    for client in [g.net.client("Ana"), g.net.client("Ben"), &late] {
        assert_eq!(*client.state(), ClientState::Playing);
        assert_eq!(client.sim().rules().fingerprint(), rules.fingerprint());
    }
}

#[test]
fn a_client_with_unknown_rules_is_denied() {
    let mut g = game(LinkProfile::round_trip(0, 0), 1);
    let unknown = with(&g.rules, vec![Effect::instant("GE_Other").add("Health", -9.0).into()]);
    reload(&mut g, changes());
    g.net.run(10);
    let denial = Denial::Rules { server: g.rules.fingerprint(), client: unknown.fingerprint() };
    assert_eq!(*join_with(&mut g, unknown).state(), ClientState::Denied(denial));
}

#[test]
fn a_reload_that_changes_nothing_sends_nothing() {
    let mut g = game(LinkProfile::round_trip(100, 0), 1);
    g.net.run(30);
    g.facts();
    let same = with(&g.rules, Vec::new());
    assert_eq!(same.fingerprint(), g.rules.fingerprint());
    g.net.server_mut().reload(same).unwrap();
    g.net.run(30);
    assert!(g.facts().is_empty());
    assert!(g.ana().can_predict());
}
