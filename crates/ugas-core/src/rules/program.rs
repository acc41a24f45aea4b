//! Task lists as code: one flat program per ability. An active ability stores the address of its current instruction,
//! so a captured ability takes a few bytes.
//!
//! Layout of the composites (`a` and `b` are children; addresses increase to the right):
//! - Sequence: `a b`
//! - Branch: `Branch{otherwise: E} then… Jump(J) E: else… J:`
//! - Repeat: `Loop{reg, count, end: J} body… Repeat{reg, back: body} J:`
//! - Parallel and Race: `Fork{starts: [A, B], join: J} A: a… End B: b… End J:`
//! - A wait with a body: `Task(wait{body: B}) Jump(J) B: body… End J:`

use super::expr::Expr;
use super::tag::TagQuery;
use super::task::TaskDef;

/// The address that means "no entry" or "no body".
pub(crate) const NO_PC: u16 = u16::MAX;

/// All task lists of an ability.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Program {
    pub(crate) code: Box<[Inst]>,
    pub(crate) entry: Entries,
    /// The number of registers, one per Repeat.
    pub(crate) regs: u8,
}

/// The address of each list, or [`NO_PC`] if the document does not have the list. Every list ends with [`Inst::End`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entries {
    pub(crate) main: u16,
    /// The lists for all sides, the predicting client, the server and simulated proxies.
    pub(crate) tick: [u16; 4],
    /// The lists for all sides, the predicting client, the server and simulated proxies.
    pub(crate) cancel: [u16; 4],
    /// The lists for all sides, the server and simulated proxies.
    pub(crate) interrupt: [u16; 3],
    pub(crate) mispredicted: u16,
}

impl Default for Entries {
    fn default() -> Entries {
        Entries { main: NO_PC, tick: [NO_PC; 4], cancel: [NO_PC; 4], interrupt: [NO_PC; 3], mispredicted: NO_PC }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Inst {
    Task(Box<TaskDef>),
    Jump(u16),
    /// Continues with the next instruction if the test is true; jumps to `otherwise` if it is false.
    Branch {
        test: Test,
        otherwise: u16,
    },
    /// Sets the register to `count` and continues with the next instruction, or at `end` if the count is 0.
    Loop {
        reg: u8,
        count: u32,
        end: u16,
    },
    /// Decrements the register, and jumps to `back` unless the register is then 0.
    Repeat {
        reg: u8,
        back: u16,
    },
    /// Starts one thread per child. The forking thread continues at `join` when all children have ended, or in a race
    /// when the first child has ended.
    Fork {
        race: bool,
        starts: Box<[u16]>,
        join: u16,
    },
    /// The end of a thread.
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    Query(TagQuery),
    When(Expr),
}

impl Program {
    /// Returns the instruction at `pc`, or [`Inst::End`] if `pc` is past the end.
    #[inline]
    pub(crate) fn at(&self, pc: u16) -> &Inst {
        self.code.get(pc as usize).unwrap_or(&Inst::End)
    }

    /// Returns the tasks of all OnCancel lists. The lists are assembled in the order of the fields of [`Entries`].
    pub(crate) fn cancel_tasks(&self) -> impl Iterator<Item = &TaskDef> {
        let Entries { main: _, tick: _, cancel, interrupt, mispredicted } = self.entry;
        // `NO_PC` is larger than every address.
        let first = |list: &mut dyn Iterator<Item = u16>| list.map(usize::from).fold(self.code.len(), usize::min);
        let start = first(&mut cancel.into_iter());
        let end = first(&mut interrupt.into_iter().chain([mispredicted]));
        let code = self.code.get(start..end).unwrap_or(&[]);
        code.iter().filter_map(|inst| if let Inst::Task(task) = inst { Some(&**task) } else { None })
    }

    /// Returns the tasks of all lists.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = &TaskDef> {
        self.code.iter().filter_map(|inst| if let Inst::Task(task) = inst { Some(&**task) } else { None })
    }

    /// Returns the task at `pc`, if there is one.
    #[inline]
    pub(crate) fn task(&self, pc: u16) -> Option<&TaskDef> {
        let Inst::Task(task) = self.code.get(pc as usize)? else { return None };
        Some(task)
    }
}
