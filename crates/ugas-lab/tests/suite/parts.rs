//! Scenarios with several machines: parsing, errors, and running the parts together.

use std::collections::VecDeque;
use ugas_core::SimTime;
use ugas_lab::{PartError, Scenario, run_str};
use ugas_net::client::ClientState;
use ugas_net::types::PeerId;

const HEAD: &str = r#"Scenario: A strike over a wire
Network: {TickHz: 50, Clients: {Ana: {Owns: [Hero], LatencyMs: 80, Loss: 0.05}}}
Entities:
  - {Kind: attribute_set, Name: V, Attributes: [{Name: Health, DefaultBaseValue: 100}, {Name: Mana, DefaultBaseValue: 50}]}
  - Kind: gameplay_effect
    Name: GE_Hit
    DurationPolicy: Instant
    Modifiers: [{Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -7}}]
  - {Kind: gameplay_ability, Name: GA_Strike, Tasks: [{Type: ApplyEffectToTarget, Params: {EffectClass: GE_Hit}}]}
Actors:
  Hero: {AttributeSets: [V], Abilities: [GA_Strike]}
  Ogre: {AttributeSets: [V]}
  Later: {AttributeSets: [V], Spawned: false}
"#;

fn read(text: &str) -> Result<Scenario, Vec<String>> {
    let tree = &ugas_data::read_trees("net.yaml", text).expect("it is YAML")[0];
    let describe = |e: ugas_data::ReadError| format!("{}:{} {}", e.line, e.column, e.message);
    Scenario::from_node("net.yaml", tree).map_err(|errors| errors.into_iter().map(describe).collect())
}

fn error_of(text: &str) -> String {
    read(text).map(|_| ()).expect_err("it is wrong").join("\n")
}

fn timeline(step: &str) -> String {
    format!("{HEAD}Timeline:\n  - At: 1\n    Do:\n      - {step}\n")
}

#[test]
fn errors_in_the_network_section_are_reported_at_their_location() {
    let network = |network: &str| {
        error_of(&HEAD.replacen("{TickHz: 50, Clients: {Ana: {Owns: [Hero], LatencyMs: 80, Loss: 0.05}}}", network, 1))
    };
    assert_eq!(
        network("{TickHz: 0, Clients: {Ana: {}}}"),
        "2:19 TickHz: expected a whole number from 1 to 1000, found the number 0"
    );
    assert!(network("{Clients: {}}").starts_with("2:20 Clients: expected a map of names, found"));
    assert!(network("{}").contains("Clients is missing"));
    assert_eq!(network("{Clients: {Ana: {Owns: [Heroo]}}}"), "2:34 unknown actor Heroo");
    assert_eq!(
        network("{Clients: {Ana: {Owns: [Hero]}, Ben: {Owns: [Hero]}}}"),
        "2:55 Hero already has an owner; remove it from one client"
    );
    assert!(
        network("{Clients: {Ana: {Owns: [Later]}}}").contains("a client can own only actors that exist from the start")
    );
    assert_eq!(network("{Clients: {Ana: {Loss: 2}}}"), "2:33 Loss: expected a fraction from 0 to 1, found 2");
    assert!(network("{Clients: {Ana: {LatencyMs: -1}}}").contains("expected 0 to 60000 milliseconds"));
    assert!(network("{Clients: {Ana: {Profile: Badd}}}").starts_with("2:36 Profile: unknown profile \"Badd\""));
}

#[test]
fn a_client_may_run_only_client_steps() {
    let step = |step: &str| error_of(&timeline(step));
    assert!(step("Apply: {Effect: GE_Hit, To: Hero}\n        On: Anna").contains("On: unknown client Anna"));
    assert!(step("Apply: {Effect: GE_Hit, To: Hero}\n        On: Ana").contains("only the server can"));
    assert!(step("Spawn: {Actor: Later}\n        On: Ana").contains("only the server can"));
    assert!(step("Repeat: {Times: 2, Do: []}\n        On: Ana").contains("only the server can"));
    read(&timeline("Activate: {Actor: Hero, Ability: GA_Strike, Target: Ogre}\n        On: Ana")).expect("it may");
    read(&timeline("Apply: {Effect: GE_Hit, To: Ogre, From: Hero, Ability: GA_Strike}\n        On: Ana"))
        .expect("it may");
}

#[test]
fn connections_are_changed_by_the_server_and_over_simulated_links_only() {
    let step = |step: &str| error_of(&timeline(step));
    assert!(step("Link: {Client: Anna, Loss: 1}").contains("Client: unknown client Anna"));
    assert!(step("Link: {Loss: 1}").contains("Client is missing"));
    assert!(step("Link: {Client: Ana, Loss: 2}").contains("expected a fraction from 0 to 1"));
    assert!(step("Disconnect: {Client: Ana, Loss: 1}").contains("Loss"));
    assert!(step("Reconnect: {Client: Ana}\n        On: Ana").contains("only the server can"));
    assert!(step("Reconnect: {Client: Ana}\n        Refused: Any").contains("cannot be refused"));
    let wired = read(&timeline("Disconnect: {Client: Ana}")).expect("a valid scenario");
    let Some(PartError::Errors(errors)) = wired.server_part().err() else { panic!("sockets are not simulated") };
    assert!(errors[0].message.contains("real machines") && errors[0].line > 2);
}

/// The first thing that does not hold when the line of a step and what follows it are played.
fn first_failure(step: &str, later: &str) -> String {
    let text = timeline(step);
    let report = read(&format!("{}{later}", text.trim_end())).expect("a valid scenario").run();
    report.failures[0].message.clone()
}

#[test]
fn an_expectation_on_a_disconnected_client_fails_with_the_reason() {
    let later = "\n  - At: 9\n    Do:\n      - Expect: {Hero.Mana: 50}\n        On: Ana\n";
    let failure = first_failure("Disconnect: {Client: Ana}", later);
    assert!(
        failure.contains("on Ana: expected the client to be connected at 9 s, but it is disconnected"),
        "{failure}"
    );
}

#[test]
fn a_client_that_lost_its_connection_reports_why() {
    let later = "\n  - At: 80\n    Do:\n      - Link: {Client: Ana, Loss: 0}\n  - At: 85\n    Do:\n      - Expect: {Hero.Mana: 50}\n        On: Ana\n";
    let failure = first_failure("Link: {Client: Ana, Loss: 1}", later);
    assert!(failure.contains("but it lost its connection: the server's clock jumped from tick"), "{failure}");
}

#[test]
fn a_networked_scenario_needs_a_server_and_clients() {
    let scenario = read(HEAD).expect("a valid scenario");
    let errors = scenario.live().err().expect("a world of one machine");
    assert!(errors[0].message.contains("needs a server and its clients"));
    assert!(
        matches!(scenario.client_part("Ben").err(), Some(PartError::NoClient { clients, .. }) if clients == ["Ana"])
    );
    let alone = read("Scenario: Alone").expect("a valid scenario");
    assert_eq!(alone.server_part().err(), Some(PartError::NoNetwork));
}

/// The parts over a link of three ticks, in virtual time.
#[test]
fn the_server_and_client_parts_of_a_scenario_reach_the_same_state() {
    let text = format!(
        "{HEAD}Timeline:\n  - At: 1\n    Do:\n      - Repeat: {{Times: 2, Do: [{{Activate: {{Actor: Hero, Ability: GA_Strike, Target: Ogre}}, On: Ana}}]}}\n      - Apply: {{Effect: GE_Hit, To: Hero}}\n      - Activate: {{Actor: Ogre, Ability: GA_Strike}}\n        On: Ana\n        Refused: Authority\n      - Expect: {{Ogre.Health: 86}}\n        On: Ana\n      - Expect: {{Ogre.Health: 100}}\n  - At: 3\n    Do:\n      - Expect: {{Ogre.Health: 86, Hero.Health: 93}}\n      - Expect: {{Ogre.Health: 85}}\n"
    );
    let scenario = read(&text).expect("a valid scenario");
    let mut server = scenario.server_part().expect("a server");
    let mut client = scenario.client_part("Ana").expect("a client");
    let ana = PeerId(1);
    let owns = server.owned_by("Ana").expect("she is in the file");
    server.server_mut().connect(ana, &owns).expect("a place");
    let tick = SimTime::frames(1, 50);
    let (mut up, mut down) = (VecDeque::new(), VecDeque::new());
    let mut now = 0;
    while !(server.is_over() && client.is_over()) {
        now += 1;
        assert!(now < 1_000, "server {:?}, client {:?}", server.server().tick(), client.client().tick());
        let due = |queue: &mut VecDeque<(u32, Vec<u8>)>| {
            let ready = queue.iter().take_while(|(at, _)| *at <= now).count();
            queue.drain(..ready).map(|(_, bytes)| bytes).collect::<Vec<_>>()
        };
        due(&mut up).iter().for_each(|bytes| server.server_mut().receive(ana, bytes));
        due(&mut down).iter().for_each(|bytes| client.client_mut().receive(bytes));
        server.step();
        client.update(tick);
        server.server_mut().send(&mut |_, bytes| down.push_back((now + 3, bytes.to_vec())));
        client.client_mut().send(&mut |bytes| up.push_back((now + 3, bytes.to_vec())));
    }
    assert_eq!(*client.client().state(), ClientState::Playing);
    assert_eq!(client.hashes(), server.hashes("Ana"));
    assert_eq!(client.finish().failures, []);
    let failures: Vec<String> = server.finish().failures.into_iter().map(|f| f.message).collect();
    assert_eq!(failures, ["expected Ogre.Health to be 85, found 86"]);
}

/// A client that does not run for twenty seconds, as when its process is suspended.
#[test]
fn a_suspended_client_catches_up_with_the_server() {
    let text = format!("{HEAD}Timeline:\n  - At: 60\n    Do:\n      - Expect: {{Hero.Health: 100}}\n");
    let scenario = read(&text).expect("a valid scenario");
    let mut server = scenario.server_part().expect("a server");
    let mut client = scenario.client_part("Ana").expect("a client");
    let ana = PeerId(1);
    let owns = server.owned_by("Ana").expect("she is in the file");
    server.server_mut().connect(ana, &owns).expect("a place");
    let tick = SimTime::frames(1, 50);
    for n in 0..300 {
        let mut elapsed = tick;
        if n == 150 {
            (0..1_000).for_each(|_| server.step());
            elapsed = SimTime::seconds(20.0);
        }
        server.step();
        client.update(elapsed);
        server.server_mut().send(&mut |_, bytes| client.client_mut().receive(bytes));
        client.client_mut().send(&mut |bytes| server.server_mut().receive(ana, bytes));
    }
    assert_eq!(*client.client().state(), ClientState::Playing);
    assert!(client.client().tick() > server.server().tick(), "the client is early enough again");
}

#[test]
fn a_failed_expectation_on_a_client_names_the_client() {
    let text = format!(
        "{HEAD}Timeline:\n  - At: 0\n    Do:\n      - Expect: {{Hero.Health: 100}}\n  - At: 2\n    Do:\n      - Activate: {{Actor: Hero, Ability: GA_Strike, Target: Ogre}}\n        On: Ana\n      - Expect: {{Ogre.Health: 100}}\n        On: Ana\n      - Expect: {{Ogre.Health: 93}}\n"
    );
    let failures = |text: &str| -> Vec<(u32, String)> {
        let results = run_str("net.yaml", text);
        results.reports.iter().flat_map(|r| &r.failures).map(|f| (f.line, f.message.clone())).collect()
    };
    let wanted = [
        (22, "on Ana: expected Ogre.Health to be 100, found 93".to_owned()),
        (24, "expected Ogre.Health to be 93, found 100".to_owned()),
    ];
    assert_eq!(failures(&text), wanted);
    assert_eq!(failures(&text), wanted, "the same seed, the same session");
    let early = failures(&timeline("Expect: {Hero.Health: 100}\n        On: Ana").replace("At: 1", "At: 0"));
    assert!(early[0].1.contains("it is still connecting"), "{early:?}");
}

#[test]
fn a_failed_expectation_on_a_hidden_value_explains_replication() {
    let explained = |text: &str| -> Vec<String> {
        let results = run_str("net.yaml", text);
        results.reports.iter().flat_map(|r| &r.failures).filter_map(|f| f.explanation.clone()).collect()
    };
    let text = timeline("Expect: {Hero.Health: 1, Ogre.Health: 1}\n        On: Ana");
    let explanations = explained(&text);
    assert!(!explanations[0].contains("not replicated"), "an own attribute is known: {explanations:?}");
    assert!(
        explanations[1].contains("Health of Ogre is not replicated") && explanations[1].contains("`Mixed`"),
        "{explanations:?}"
    );
    assert!(explanations[1].contains("`ReplicationMode: Full`"), "{explanations:?}");

    let controller = |attribute: &str| {
        text.replace(
            "Actors:\n",
            "  - {Kind: gameplay_controller, OwnerActor: {ActorID: Brute}, ReplicationMode: Full, AttributeSets: [{Name: V}]}\nActors:\n",
        )
        .replace("Ogre: {AttributeSets: [V]}", "Ogre: {Controller: Brute}")
        .replace("{Name: Health,", attribute)
    };
    let explanations = explained(&controller("{Name: Health,"));
    assert!(!explanations[1].contains("not replicated"), "in mode Full it is shown: {explanations:?}");
    let explanations = explained(&controller("{Name: Health, ReplicationMode: OwnerOnly,"));
    assert!(explanations[1].contains("the attribute's own `ReplicationMode`"), "{explanations:?}");
    assert!(!explanations[0].contains("not replicated"), "{explanations:?}");
}

#[test]
fn samples_explanations_and_facts_come_from_the_server() {
    let text = timeline("Activate: {Actor: Hero, Ability: GA_Strike, Target: Ogre}\n        On: Ana") + "  - At: 2\n";
    let scenario = read(&text).expect("a valid scenario");
    let samples = ugas_lab::sample(&scenario, Default::default()).expect("it runs");
    let at = samples.columns.iter().position(|c| c == "Ogre.Health").expect("a column");
    let values: Vec<f64> = samples.rows.iter().filter_map(|row| row.values[at].map(|v| v.mean)).collect();
    assert_eq!((values.first(), values.last()), (Some(&100.0), Some(&93.0)));
    let explained = |at: f64| ugas_lab::explain(&scenario, "Ogre", "Health", SimTime::seconds(at)).expect("a value");
    assert!(explained(1.0).contains("100") && explained(2.0).contains("93"), "{}", explained(2.0));
    let facts = ugas_lab::facts(&scenario, None).expect("it runs");
    assert!(facts.iter().any(|line| line.contains("Ogre: Health 100 → 93")), "{facts:?}");
}
