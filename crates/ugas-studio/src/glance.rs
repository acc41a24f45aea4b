//! A world in a few lines, for a terminal.

use crate::ask;
use crate::observer::Observer;
use crate::stage::Stage;
use crate::tape::World;
use crate::view;

/// What matters most, on every side.
#[derive(Clone, Debug)]
pub struct Glance {
    /// The tick.
    pub tick: u32,
    /// The hash of what is true.
    pub hash: u64,
    /// Sides by name, and who is there.
    pub sides: Vec<(String, Vec<Someone>)>,
    /// Shots a minute with a cooldown that is played ahead, and with one that the server confirms.
    pub shots: Option<[f64; 2]>,
    /// Ticks that showed a modifier twice.
    pub twice: u32,
    /// Ticks that did not show one although it ran.
    pub missing: u32,
    /// Milliseconds there and back.
    pub round_trip: u32,
    /// Share that is lost.
    pub loss: f64,
    /// Where a number comes from.
    pub why: String,
}

/// Somebody in a line.
#[derive(Clone, Debug)]
pub struct Someone {
    /// The name.
    pub name: String,
    /// The health, or the first resource with an upper bound; none if this side does not know it.
    pub health: Option<f64>,
    /// The upper bound.
    pub most: Option<f64>,
    /// What is being cast.
    pub cast: Option<String>,
}

impl Glance {
    /// A stage at a glance.
    ///
    /// ```
    /// use ugas_studio::{Glance, stage::Stage};
    /// let mut duel = Stage::duel(7)?;
    /// assert_eq!(Glance::of(&mut duel).sides[0].0, "the server");
    /// # Ok::<(), String>(())
    /// ```
    pub fn of(stage: &mut Stage) -> Glance {
        let hash = stage.hash();
        let stage = &*stage;
        let side = |s: view::Side| {
            let someone = |a: view::Actor| {
                let bar = a.bars.iter().find(|b| b.name == "Health").or(a.bars.first());
                let (health, most) = bar.map_or((None, None), |b| (b.value, b.most));
                let cast = a.cast.map(|c| format!("{} {:.0} %", c.name, c.share * 100.0));
                Someone { name: a.name, health, most, cast }
            };
            (s.client.unwrap_or_else(|| "the server".to_owned()), s.actors.into_iter().map(someone).collect())
        };
        let (round_trip, loss) = stage.link();
        let modified = stage.sim().controllers().find_map(|who| {
            let all = stage.sim().attributes(who).ok()?;
            let names = all.into_iter().filter_map(|a| stage.sim().rules().attribute_name(a));
            names
                .filter_map(|name| {
                    Some((name, ask::why(stage.names(), Observer::Server(stage.sim()), who, name).ok()?))
                })
                .find_map(|(name, why)| {
                    (why.lines.as_ref().is_some_and(|l| l.len() > 1))
                        .then(|| format!("{}.{name} {}", stage.names().name(who), why.text))
                })
        });
        Glance {
            tick: stage.tick(),
            hash,
            sides: view::sides(stage, None).into_iter().map(side).collect(),
            shots: stage.range().map(|r| r.shots_a_minute()),
            twice: stage.range().map_or(0, |r| r.wrong_frames().twice),
            missing: stage.range().map_or(0, |r| r.wrong_frames().missing),
            round_trip,
            loss,
            why: modified.unwrap_or_default(),
        }
    }
}
