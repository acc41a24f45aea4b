//! A summary of a session for a terminal.

use crate::explain;
use crate::observer::Observer;
use crate::recording::World;
use crate::session::Session;
use crate::view;

/// The state of a session in a few lines.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The current tick.
    pub tick: u32,
    /// The state hash of the server.
    pub hash: u64,
    /// The server and each client: its name, and the actors that it knows.
    pub sides: Vec<(String, Vec<ActorSummary>)>,
    /// Shots per minute of the shooter that predicts its cooldown, and of the shooter that waits for the server.
    pub shots: Option<[f64; 2]>,
    /// The number of ticks in which the cooldown was shown twice.
    pub twice: u32,
    /// The number of ticks in which the active cooldown was not shown.
    pub missing: u32,
    /// The round trip time in milliseconds.
    pub round_trip: u32,
    /// The packet loss, from 0 to 1.
    pub loss: f64,
    /// The explanation of one attribute value with several modifiers; empty if no value has several modifiers.
    pub why: String,
}

/// The state of an actor in one line.
#[derive(Clone, Debug)]
pub struct ActorSummary {
    /// The name of the actor.
    pub name: String,
    /// The value of `Health`, or of the first resource with an upper bound if the actor has no `Health`. `None` if the
    /// actor has no such resource, or if its value is not replicated to this client.
    pub health: Option<f64>,
    /// The upper bound of `health`.
    pub most: Option<f64>,
    /// The ability that is being cast, with its progress in percent.
    pub cast: Option<String>,
}

impl Summary {
    /// Summarises a session.
    ///
    /// ```
    /// use ugas_studio::{Summary, session::Session};
    /// let mut duel = Session::duel(7)?;
    /// assert_eq!(Summary::of(&mut duel).sides[0].0, "the server");
    /// # Ok::<(), String>(())
    /// ```
    pub fn of(session: &mut Session) -> Summary {
        let hash = session.hash();
        let session = &*session;
        let side = |s: view::Side| {
            let someone = |a: view::Actor| {
                let bar = a.bars.iter().find(|b| b.name == "Health").or(a.bars.first());
                let (health, most) = bar.map_or((None, None), |b| (b.value, b.most));
                let cast = a.cast.map(|c| format!("{} {:.0} %", c.name, c.share * 100.0));
                ActorSummary { name: a.name, health, most, cast }
            };
            (s.client.unwrap_or_else(|| "the server".to_owned()), s.actors.into_iter().map(someone).collect())
        };
        let (round_trip, loss) = session.link();
        let modified = session.sim().controllers().find_map(|who| {
            let all = session.sim().attributes(who).ok()?;
            let names = all.into_iter().filter_map(|a| session.sim().rules().attribute_name(a));
            names
                .filter_map(|name| {
                    Some((
                        name,
                        explain::explain_value(session.names(), Observer::Server(session.net().server()), who, name)
                            .ok()?,
                    ))
                })
                .find_map(|(name, why)| {
                    (why.lines.as_ref().is_some_and(|l| l.len() > 1))
                        .then(|| format!("{}.{name} {}", session.names().name(who), why.text))
                })
        });
        Summary {
            tick: session.tick(),
            hash,
            sides: view::sides(session, None).into_iter().map(side).collect(),
            shots: session.range().map(|r| r.shots_per_minute()),
            twice: session.range().map_or(0, |r| r.wrong_frames().twice),
            missing: session.range().map_or(0, |r| r.wrong_frames().missing),
            round_trip,
            loss,
            why: modified.unwrap_or_default(),
        }
    }
}
