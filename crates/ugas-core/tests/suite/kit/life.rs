//! The events of the life table and the steps that each of them causes. The tests of `ugas-core` check the machines that
//! a sim can be, and those of `ugas-net` the machines of a session.

/// What happens to the controller. All but `Add` happen some frames after its set was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Add,
    Remove,
    RemovedByItself,
    Possess,
    /// The player leaves the controller.
    Lose,
    /// The player returns to the controller.
    Regain,
    Block,
    Unblock,
    Disable,
    Enable,
    Interval,
    Despawn,
    /// A reload with the entries in another order.
    ReloadReordered,
    /// A reload with the entry B removed.
    ReloadShorter,
}

impl Event {
    pub(crate) const ALL: [Event; 14] = [
        Event::Add,
        Event::Remove,
        Event::RemovedByItself,
        Event::Possess,
        Event::Lose,
        Event::Regain,
        Event::Block,
        Event::Unblock,
        Event::Disable,
        Event::Enable,
        Event::Interval,
        Event::Despawn,
        Event::ReloadReordered,
        Event::ReloadShorter,
    ];
}

/// A cell of the table: a side on a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    /// Whether the machine runs the capabilities of the side.
    pub(crate) runs: bool,
    /// Whether they run only while the player of this machine plays the controller.
    pub(crate) follows_player: bool,
    /// Whether the machine learns about blocks.
    pub(crate) knows_blocks: bool,
    /// Whether a capability of the side can remove its own set.
    pub(crate) removes_itself: bool,
}

/// Returns the expected facts of an event for a set with the capabilities A and B.
pub(crate) fn expected_steps(event: Event, cell: Cell) -> Vec<&'static str> {
    let starts = ["A StartLife", "A Setup", "A Activated", "B StartLife", "B Setup", "B Activated"];
    let ends = ["B Deactivated", "B EndCapability", "B EndLife", "A Deactivated", "A EndCapability", "A EndLife"];
    let without_life = |steps: [&'static str; 6]| steps.into_iter().filter(|step| !step.ends_with("Life")).collect();
    match (event, cell.runs) {
        (Event::Add, true) => starts.to_vec(),
        (Event::Add, false) => vec!["A StartLife", "B StartLife"],
        (Event::RemovedByItself, _) if !cell.removes_itself => vec![],
        (Event::Remove | Event::Despawn | Event::RemovedByItself, true) => ends.to_vec(),
        (Event::Remove | Event::Despawn | Event::RemovedByItself, false) => vec!["B EndLife", "A EndLife"],
        (Event::Lose, true) if cell.follows_player => without_life(ends),
        (Event::Regain, true) if cell.follows_player => without_life(starts),
        (Event::Block, true) if cell.knows_blocks => vec!["A Deactivated", "B Deactivated"],
        (Event::Unblock, true) if cell.knows_blocks => vec!["A Activated", "B Activated"],
        (Event::ReloadShorter, true) => vec!["B Deactivated", "B EndCapability", "B EndLife"],
        (Event::ReloadShorter, false) => vec!["B EndLife"],
        (
            Event::Possess
            | Event::Lose
            | Event::Regain
            | Event::Block
            | Event::Unblock
            | Event::Disable
            | Event::Enable
            | Event::Interval
            | Event::ReloadReordered,
            true | false,
        ) => vec![],
    }
}
