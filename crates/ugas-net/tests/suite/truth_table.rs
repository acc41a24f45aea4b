//! Who may activate or cancel an ability, by its net execution policy: simulated and compared with the table in the book.

use crate::kit::{Game, Setup, builder};
use ugas_core::{AbilityId, ControllerId, FactKind, Op, Sim, Spec, Target, Which};
use ugas_doc::{Ability, AbilityTask, Effect, NetExecution, Trigger};
use ugas_net::client::{Certainty, CommandStatus};
use ugas_net::message::Request;

const POLICIES: [(&str, NetExecution); 4] = [
    ("LocalPredicted", NetExecution::LocalPredicted),
    ("LocalOnly", NetExecution::LocalOnly),
    ("ServerInitiated", NetExecution::ServerInitiated),
    ("ServerOnly", NetExecution::ServerOnly),
];
const VERBS: [&str; 3] = ["activate", "cancel", "end"];
const WHO: [&str; 3] = ["the owning client", "another client", "the server"];

fn runs(sim: &Sim, who: ControllerId, ability: AbilityId) -> bool {
    sim.activations(who).unwrap().any(|a| a.ability == ability)
}

/// Returns one cell of the table.
fn cell(policy: NetExecution, verb: &str, by: &str) -> &'static str {
    let wait = AbilityTask::new("WaitDelay").param("Duration", 60.0);
    let rules = builder().add(Ability::new("GA_Long").net(policy).task(wait));
    let mut g = Game::new(Setup { builder: rules, ben: true, ..Setup::default() });
    let (who, ability) = (g.hero, g.ability("GA_Long"));
    if verb != "activate" {
        // It was activated before, by a side that may do so.
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
        return "immediately";
    }
    let name = if by == "another client" { "Ben" } else { "Ana" };
    let before = runs(g.ana().sim(), who, ability);
    let result = g.net.client_mut(name).command(request);
    let at_once = runs(g.ana().sim(), who, ability) != before;
    g.net.run(30);
    let (server, client) = (runs(g.net.server().sim(), who, ability), runs(g.ana().sim(), who, ability));
    let done = verb == "activate";
    match result {
        Ok(CommandStatus::Predicted(..)) => {
            assert!(at_once && server == done && client == done, "{policy:?} {verb} {by}");
            "predicted"
        }
        Ok(CommandStatus::Sent(_)) => {
            assert!(!at_once && server == done && client == done, "{policy:?} {verb} {by}");
            "on the server first"
        }
        Ok(CommandStatus::Local(_)) => {
            assert!(!server && !client, "{policy:?} {verb} {by}: it is not sent");
            "on this client only"
        }
        Ok(CommandStatus::Queued(_)) => panic!("{policy:?} {verb} {by}: the prediction window is open"),
        Err(_) => {
            assert!(!at_once && client == before, "{policy:?} {verb} {by}");
            "rejected"
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

/// Returns one cell of the table of triggers: where and when a triggered ability runs.
fn cell_of_trigger(policy: NetExecution, by: &str) -> &'static str {
    let wait = AbilityTask::new("WaitDelay").param("Duration", 60.0);
    let long = Ability::new("GA_Long").net(policy).task(wait);
    let long = long.trigger(Trigger::event("Event.Go")).trigger(Trigger::tag_added("State.Go"));
    let go = Ability::new("GA_Go").task(AbilityTask::new("SendEvent").param("EventTag", "Event.Go"));
    let rules = builder().add(long).add(go).add(Effect::infinite("GE_Go").grants("State.Go"));
    let mut g = Game::new(Setup { builder: rules, ben: true, ..Setup::default() });
    let (who, ability) = (g.hero, g.ability("GA_Long"));
    g.facts();
    if by == "the server" {
        let go = g.effect("GE_Go");
        g.net.server_mut().sim_mut().apply(&Spec::new(go, who)).unwrap();
    } else {
        g.cast("GA_Go", Target::None).unwrap();
    }
    let at_once = [runs(g.ana().sim(), who, ability), runs(g.net.server().sim(), who, ability)];
    let mut seen = at_once;
    for _ in 0..30 {
        g.net.step();
        let now = [runs(g.ana().sim(), who, ability), runs(g.net.server().sim(), who, ability)];
        assert!(seen[0] <= now[0] && seen[1] <= now[1], "{policy:?} {by}: an active ability stays active");
        seen = now;
    }
    let starts = g.facts();
    let starts = starts.iter().filter(|(f, c)| {
        let mine = matches!(f.kind, FactKind::AbilityActivated { ability: a, .. } if a == ability);
        mine && *c == Certainty::Local
    });
    match (at_once, seen, starts.count()) {
        ([true, false], [true, true], 0) => "predicted",
        ([false, true], [true, true], 0) => "immediately",
        ([false, false], [true, true], 0) => "on the server first",
        ([false, false], [false, false], 1) => "on the owning client only",
        other => panic!("{policy:?} {by}: {other:?}"),
    }
}

fn table_of_triggers() -> String {
    let mut text = String::from("| Policy | by a command of the owning client | by the server |\n|---|---|---|\n");
    for (name, policy) in POLICIES {
        let cells = ["the owning client", "the server"].map(|by| cell_of_trigger(policy, by));
        text += &format!("| `{name}` | {} |\n", cells.join(" | "));
    }
    text
}

// covers: OWN-13, PEER-10
#[test]
fn the_policy_tables_in_the_book_match_the_behaviour() {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/network.md");
    let book = std::fs::read_to_string(book).unwrap();
    for table in [table(), table_of_triggers()] {
        assert!(book.contains(&table), "the book should say:\n{table}");
    }
}
