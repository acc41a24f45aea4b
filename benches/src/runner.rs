//! A subject's measurements as plain function pointers, so that the tables can go over all subjects in one loop.

use crate::check;
use crate::count::{self, ControllerBytes, Steady};
use crate::plan::Plan;
use crate::subject::Subject;
use crate::workload::{self, Run, Workload};

/// Everything that can be asked of one subject.
pub(crate) struct Runner {
    pub(crate) name: &'static str,
    pub(crate) run: fn(Workload, &Plan) -> Run,
    pub(crate) bytes: fn(&Plan) -> ControllerBytes,
    pub(crate) steady: fn(&Plan) -> Steady,
    pub(crate) check: fn(&Plan) -> check::Results,
}

impl Runner {
    pub(crate) fn of<S: Subject>() -> Runner {
        Runner {
            name: S::NAME,
            run: workload::run::<S>,
            bytes: count::bytes::<S>,
            steady: count::steady::<S>,
            check: check::results::<S>,
        }
    }
}
