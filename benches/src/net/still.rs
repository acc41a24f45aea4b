//! The cost of unchanged actors: ticks of a server with many unchanged actors and of a server with none. Both must
//! execute almost the same number of instructions, because a tick may cost time only for changes.

use super::arena::Arena;
use crate::count;
use crate::workload::measured_section;

/// The first argument of the child whose instructions are counted.
pub(crate) const CHILD_WORD: &str = "count-still";

/// Ticks that are counted: one second.
const TICKS: usize = 60;
/// The clients that receive every actor.
const CLIENTS: usize = 8;

/// Counts the instructions of a tick without changes, with no actors and with this many actors.
pub(crate) fn instructions(actors: usize) -> Result<(f64, f64), String> {
    let count = |actors: usize| {
        let (collected, ticks) = count::callgrind(&[CHILD_WORD, &actors.to_string()])?;
        Ok::<f64, String>(collected / ticks)
    };
    Ok((count(0)?, count(actors)?))
}

/// Runs the ticks in the child process and prints their number.
pub(crate) fn child(arguments: &[String]) -> Result<(), String> {
    let [actors] = arguments else { return Err(format!("{CHILD_WORD} takes a number of actors")) };
    let mut arena = Arena::new(actors.parse().map_err(|_| "the number of actors is not a number")?, CLIENTS);
    for _ in 0..TICKS {
        measured_section(std::hint::black_box(&mut arena), Arena::serve);
        arena.answer();
    }
    println!("{TICKS}");
    Ok(())
}
