//! Who may do what with an ability, by its net execution policy: played out, and compared with the table in the book.

mod kit;

use kit::{Game, Setup, builder};
use ugas_core::{AbilityId, ControllerId, Op, Sim, Target, Which};
use ugas_doc::{Ability, AbilityTask, NetExecution};
use ugas_net::client::Commanded;
use ugas_net::message::Request;

const POLICIES: [(&str, NetExecution); 4] = [
    ("LocalPredicted", NetExecution::LocalPredicted),
    ("LocalOnly", NetExecution::LocalOnly),
    ("ServerInitiated", NetExecution::ServerInitiated),
    ("ServerOnly", NetExecution::ServerOnly),
];
const VERBS: [&str; 3] = ["activate", "cancel", "end"];
const WHO: [&str; 3] = ["the owner's client", "another client", "the server"];

fn runs(sim: &Sim, who: ControllerId, ability: AbilityId) -> bool {
    sim.activations(who).unwrap().any(|a| a.ability == ability)
}

/// What one cell of the table says.
fn cell(policy: NetExecution, verb: &str, by: &str) -> &'static str {
    let wait = AbilityTask::new("WaitDelay").param("Duration", 60.0);
    let rules = builder().add(Ability::new("GA_Long").net(policy).task(wait));
    let mut g = Game::new(Setup { builder: rules, ben: true, ..Setup::default() });
    let (who, ability) = (g.hero, g.ability("GA_Long"));
    if verb != "activate" {
        // Somebody who may has activated it before.
        if policy == NetExecution::LocalOnly && by != "the server" {
            g.cast("GA_Long", Target::None).unwrap();
        } else {
            g.net.server_mut().sim_mut().activate(who, ability, Target::None).unwrap();
        }
        g.net.run(30);
    }
    let request = match verb {
        "activate" => Request::Activate { who, ability, target: Target::None },
        "cancel" => Request::Cancel { who, ability },
        _ => Request::End { who, ability },
    };
    if by == "the server" {
        let which = Which::Ability(ability);
        let op = match verb {
            "activate" => Op::Activate { who, which, target: Target::None },
            "cancel" => Op::Cancel { who, which },
            _ => Op::End { who, which },
        };
        g.net.server_mut().sim_mut().run(op).unwrap();
        g.net.run(30);
        let (here, there) = (runs(g.net.server().sim(), who, ability), runs(g.ana().sim(), who, ability));
        assert_eq!((here, there), (verb == "activate", verb == "activate"), "{policy:?} {verb}");
        return "at once";
    }
    let name = if by == "another client" { "Ben" } else { "Ana" };
    let before = runs(g.ana().sim(), who, ability);
    let result = g.net.client_mut(name).command(request);
    let at_once = runs(g.ana().sim(), who, ability) != before;
    g.net.run(30);
    let (server, client) = (runs(g.net.server().sim(), who, ability), runs(g.ana().sim(), who, ability));
    let done = verb == "activate";
    match result {
        Ok(Commanded::Predicted(..)) => {
            assert!(at_once && server == done && client == done, "{policy:?} {verb} {by}");
            "ahead of the server"
        }
        Ok(Commanded::Sent(_)) => {
            assert!(!at_once && server == done && client == done, "{policy:?} {verb} {by}");
            "through the server"
        }
        Ok(Commanded::Local(_)) => {
            assert!(!server && !client, "{policy:?} {verb} {by}: nobody else hears of it");
            "on this machine only"
        }
        Err(_) => {
            assert!(!at_once && client == before, "{policy:?} {verb} {by}");
            "refused"
        }
    }
}

fn table() -> String {
    let mut text = String::from("| Policy | Who | activate | cancel | end |\n|---|---|---|---|---|\n");
    for (name, policy) in POLICIES {
        for by in WHO {
            let cells: Vec<&str> = VERBS.iter().map(|verb| cell(policy, verb, by)).collect();
            text += &format!("| `{name}` | {by} | {} |\n", cells.join(" | "));
        }
    }
    text
}

// covers: OWN-13, PEER-10
#[test]
fn the_table_in_the_book_is_what_happens() {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/network.md");
    let book = std::fs::read_to_string(book).unwrap();
    let table = table();
    assert!(book.contains(&table), "the book should say:\n{table}");
}
