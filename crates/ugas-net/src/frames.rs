//! The frames of a tick. A tick may be longer than a frame, and the capabilities that run on one machine only read the
//! state of the sim at each frame.

use ugas_core::{Host, LocalRunner, Sim, SimTime};

/// Advances the sim to the end of a tick, and runs the frames of local capabilities before that time. The caller runs
/// the one at that time, if there is one.
pub(crate) fn advance_frames(sim: &mut Sim, runner: &mut LocalRunner, end: SimTime, host: &mut dyn Host) {
    while let Some(frame) = runner.next_frame(sim, end) {
        if !sim.advance_with(frame, host).finished {
            // Too much work is due; the next tick continues with it.
            return;
        }
        runner.run(sim);
    }
    sim.advance_with(end, host);
}
