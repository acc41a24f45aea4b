//! SetTarget: changes the target of the ability.

use super::{TargetUse, TaskType};
use crate::flow::{Flow, Step, TaskAt, TaskPlace};
use crate::rules::{Fields, Num, TaskCategory};
use crate::{ControllerId, PredictedAim, Role, TagId, Target};

/// The new target of an ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetPick {
    /// The nearest other controller.
    Nearest,
    Owner,
    /// The controller that caused the activation.
    Instigator,
    Nobody,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SetTarget {
    pick: TargetPick,
    /// The maximum distance of the target. Default: no limit.
    radius: Option<Num>,
    ignore: Box<[TagId]>,
}

impl TaskType for SetTarget {
    const CATEGORY: TaskCategory = TaskCategory::Action;
    const TARGET_USE: TargetUse = TargetUse::Sets;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let words = [
            ("Nearest", TargetPick::Nearest),
            ("Owner", TargetPick::Owner),
            ("Instigator", TargetPick::Instigator),
            ("Nobody", TargetPick::Nobody),
        ];
        let pick = f.need_word("Target", &words);
        let (radius, ignore) = (f.num("Radius"), f.tags("IgnoreTargetsWithTag"));
        Some(Self { pick: pick?, radius, ignore })
    }

    /// Changes the target. A target that the list of a predicted tick chooses on a client is sent to the authoritative
    /// sim, because that sim does not run the list for the controllers of clients.
    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let (slot, of) = (at.slot, at.thread.of);
        let who = flow.row(slot).id;
        let Some(a) = flow.row(slot).play().activation(of) else { return Step::Next };
        let key = a.key(who);
        let source = a.source;
        let target = self.find(flow, at, source).map_or(Target::None, Target::Controller);
        let is_predicted = flow.work.role == Role::Client && flow.sc.predicted_targets.ticking == Some(key);
        if is_predicted && !flow.may_report_target(slot, of, target) {
            return Step::Next;
        }
        flow.put_aim(slot, key, target);
        // The targets of ticks that the server waits for are sent with their numbers, by the cast.
        if is_predicted && flow.replay.is_none() && !flow.is_data_awaited(slot, of) {
            flow.log.report_aim(PredictedAim { activation: key, tick: None, target });
        }
        Step::Next
    }
}

impl SetTarget {
    fn find(&self, flow: &mut Flow<'_>, at: TaskAt<'_>, source: ControllerId) -> Option<ControllerId> {
        let (slot, of) = (at.slot, at.thread.of);
        match self.pick {
            TargetPick::Nearest => {
                let radius = self.radius.as_ref().map_or(Some(f64::INFINITY), |r| flow.value_of(slot, of, r))?;
                let place = TaskPlace { ability: at.ability.id, pc: at.thread.pc };
                let found = flow.search(slot, place, radius, &self.ignore);
                found.into_iter().find(|&f| flow.may_choose(f, &self.ignore)).map(|f| f.who)
            }
            TargetPick::Owner => Some(flow.row(slot).id),
            TargetPick::Instigator => {
                flow.journal_source(flow.row(slot).id, source);
                let tags = flow.tags_of(source)?;
                let is_ignored = self.ignore.iter().any(|&tag| tags.has(&flow.rules.tags, tag));
                (!is_ignored).then_some(source)
            }
            TargetPick::Nobody => None,
        }
    }
}
