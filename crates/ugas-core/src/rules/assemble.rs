//! The compiler of task lists: nested documents become one flat program.

use super::client::{ClientAccess, ClientTask};
use super::compile::Compiler;
use super::interner::nearest;
use super::lookup::suggestion;
use super::param::Fields;
use super::program::{Entries, Inst, NO_PC, Program, Test};
use super::scope::Scope;
use super::task::{OnFail, TaskDef, encode_params};
use super::timeline::{AnswerDef, TimelineDef};
use crate::task::{BuiltIn, Custom, TaskKind, TaskType, Ticks, built_in, category_waits};
use crate::{SimTime, TaskKindId};
use std::collections::BTreeMap;
use ugas_doc::{Ability, AbilityTask, NetExecution};

/// Maximum number of instructions of one ability.
const MAX_CODE: usize = 1024;
/// Maximum nesting of composites.
const MAX_NESTING: usize = 16;
/// Maximum number of Repeat tasks of one ability: each has a register.
const MAX_REGS: usize = 255;

/// The default priority of a critical task.
const CRITICAL: i32 = 10;
/// The range of priorities. A deferred task gains one priority level per frame, so a wider range could starve tasks.
const PRIORITY: i32 = 30_000;

struct Assembler<'t> {
    code: Vec<Inst>,
    regs: usize,
    too_long: bool,
    /// The answers of the ability's timeline, and how many answers of each task type were used.
    timeline: Option<&'t TimelineDef>,
    answered: BTreeMap<TaskKindId, usize>,
    /// The net execution policy of the ability.
    net: NetExecution,
}

impl Assembler<'_> {
    fn here(&self) -> u16 {
        self.code.len() as u16
    }

    /// Appends an instruction and returns its address.
    fn put(&mut self, inst: Inst) -> usize {
        if self.code.len() >= MAX_CODE {
            self.too_long = true;
            return self.code.len() - 1;
        }
        self.code.push(inst);
        self.code.len() - 1
    }

    /// Returns the answer to the next task of a type: the first task gets the first answer, and so on; the last answer
    /// is repeated.
    fn answer(&mut self, name: TaskKindId) -> Option<AnswerDef> {
        let count = self.answered.entry(name).or_default();
        let answers = self.timeline?.answers.iter().filter(|a| a.task == name);
        let found = answers.take(*count + 1).last().cloned();
        *count += 1;
        found
    }
}

impl Compiler<'_> {
    /// Compiles all task lists of an ability.
    pub(crate) fn program(&mut self, doc: &Ability, timeline: Option<&TimelineDef>) -> Program {
        let answered = BTreeMap::new();
        let net = doc.net_execution;
        let mut asm = Assembler { code: Vec::new(), regs: 0, too_long: false, timeline, answered, net };
        let mut entry = Entries::default();
        let mut list = |c: &mut Self, name: &str, tasks: &[AbilityTask], waits: bool| {
            if tasks.is_empty() {
                return NO_PC;
            }
            let start = asm.here();
            c.task_list(&mut asm, tasks, name, 0, if waits { None } else { Some(name) });
            asm.put(Inst::End);
            start
        };
        entry.main = list(self, "Tasks", &doc.tasks, true);
        entry.tick = [
            list(self, "OnTick", &doc.on_tick, false),
            list(self, "OnPredictedTick", &doc.on_predicted_tick, false),
            list(self, "OnServerTick", &doc.on_server_tick, false),
            list(self, "OnSimulatedTick", &doc.on_simulated_tick, false),
        ];
        entry.cancel = [
            list(self, "OnCancel", &doc.on_cancel, false),
            list(self, "OnPredictedCancel", &doc.on_predicted_cancel, false),
            list(self, "OnServerCancel", &doc.on_server_cancel, false),
            list(self, "OnSimulatedCancel", &doc.on_simulated_cancel, false),
        ];
        entry.interrupt = [
            list(self, "OnInterrupt", &doc.on_interrupt, false),
            list(self, "OnServerInterrupt", &doc.on_server_interrupt, false),
            list(self, "OnSimulatedInterrupt", &doc.on_simulated_interrupt, false),
        ];
        entry.mispredicted = list(self, "OnMispredicted", &doc.on_mispredicted, false);
        if asm.too_long {
            self.error("too-long", format!("the task lists have more than {MAX_CODE} steps; split the ability"));
        }
        if asm.regs > MAX_REGS {
            self.error("too-long", format!("the task lists have {} Repeats; the limit is {MAX_REGS}", asm.regs));
        }
        Program { code: asm.code.into(), entry, regs: asm.regs.min(MAX_REGS) as u8 }
    }

    /// Compiles one list. If `quick` is set, the tasks of the list must not wait.
    fn task_list(
        &mut self,
        asm: &mut Assembler<'_>,
        tasks: &[AbilityTask],
        path: &str,
        depth: usize,
        quick: Option<&str>,
    ) {
        for (i, task) in tasks.iter().enumerate() {
            // Stop after the first error about the length, because more errors about this list do not help.
            if asm.too_long {
                return;
            }
            self.task(asm, task, &format!("{path}[{i}]"), depth, quick);
        }
    }

    fn task(&mut self, asm: &mut Assembler<'_>, doc: &AbilityTask, path: &str, depth: usize, quick: Option<&str>) {
        if depth > MAX_NESTING {
            self.error("too-long", format!("{path}: tasks nest deeper than {MAX_NESTING}"));
            return;
        }
        let Some((id, kind)) = built_in(&doc.kind) else {
            let id = self.rules.task_names.find(&doc.kind).map(TaskKindId);
            if let Some(id) = id.filter(|id| self.rules.task_code.contains_key(id)) {
                return self.custom(asm, doc, id, path, quick);
            }
            let message = match doc.kind.as_str() {
                "" => format!("{path}: the field Type is missing"),
                name => {
                    let known = || self.rules.task_kinds().map(|(_, name, _)| name);
                    let near = nearest(name, known()).map(|n| suggestion(Some(n)));
                    // Without a similar name, the message lists all types.
                    let near =
                        near.unwrap_or_else(|| format!("; the types are {}", known().collect::<Vec<_>>().join(", ")));
                    format!("{path}: unknown task type {name}{near}")
                }
            };
            self.error("unknown-task", message);
            return;
        };
        self.report_misplaced_fields(doc, kind, path);
        match kind.parse {
            Some(_) => self.leaf(asm, doc, (id, kind), path, depth, quick),
            None => {
                Fields::new(self, doc, path).finish();
                self.composite(asm, doc, path, depth, quick);
            }
        }
    }

    /// Compiles a task of a host type. The parameters of the task are not validated.
    fn custom(&mut self, asm: &mut Assembler<'_>, doc: &AbilityTask, id: TaskKindId, path: &str, quick: Option<&str>) {
        if let Some(list) = quick {
            self.error("waits-in-list", format!("{path}: {} waits, but {list} must not wait", doc.kind));
        }
        let mut f = Fields::new(self, doc, path);
        let custom = Custom::parse(&mut f);
        let time_out = f.time("TimeOut");
        let words = [("Continue", OnFail::Continue), ("End", OnFail::End), ("Cancel", OnFail::Cancel)];
        let on_fail = f.word("OnFail", &words).unwrap_or_default();
        let task = ClientTask { net: asm.net, answers: false, is_host_answered: false, ticks: true };
        let client = ClientAccess::parse(&mut f, task);
        f.finish();
        let Some(custom) = custom else { return };
        let written = doc.tick_interval.and_then(SimTime::try_seconds).filter(|t| *t >= SimTime::ZERO);
        let interval = custom.code.interval().map(|own| written.unwrap_or(own));
        let priority = self.priority(path, doc.priority.unwrap_or(custom.code.priority()));
        asm.put(Inst::Task(Box::new(TaskDef {
            answer: None,
            kind: TaskKind::Custom(custom),
            name: id,
            interval,
            priority,
            time_out,
            on_fail,
            client,
            request: encode_params(&doc.params),
            path: path.into(),
        })));
    }

    fn priority(&mut self, path: &str, found: i32) -> i32 {
        if !(-PRIORITY..=PRIORITY).contains(&found) {
            let message = format!("{path}.Priority: expected {} to {PRIORITY}, found {found}", -PRIORITY);
            self.error("bad-param", message);
        }
        found
    }

    /// Reports fields that this task type does not have.
    fn report_misplaced_fields(&mut self, doc: &AbilityTask, kind: &BuiltIn, path: &str) {
        let ticks = kind.ticks != Ticks::Never;
        let is = |name: &str| kind.name == name;
        let fields = [
            ("Tasks", !doc.tasks.is_empty(), kind.accepts_tasks),
            ("Query", doc.query.is_some(), is("Branch")),
            ("When", doc.when.is_some(), is("Branch")),
            ("Then", !doc.then.is_empty(), is("Branch")),
            ("Else", !doc.r#else.is_empty(), is("Branch")),
            ("Count", doc.count.is_some(), is("Repeat")),
            ("TickInterval", doc.tick_interval.is_some(), ticks),
            ("Priority", doc.priority.is_some(), ticks),
        ];
        for (field, _, _) in fields.into_iter().filter(|&(_, there, fits)| there && !fits) {
            let why = match field {
                "TickInterval" | "Priority" => format!("{} does not tick; remove {field}", kind.name),
                _ => format!("{} has no {field}", kind.name),
            };
            self.error("bad-task", format!("{path}.{field}: {why}"));
        }
    }

    fn leaf(
        &mut self,
        asm: &mut Assembler<'_>,
        doc: &AbilityTask,
        (id, built): (TaskKindId, &BuiltIn),
        path: &str,
        depth: usize,
        quick: Option<&str>,
    ) {
        let waits = category_waits(built.category);
        let mut f = Fields::new(self, doc, path);
        let kind = built.parse.and_then(|parse| parse(&mut f));
        let (mut time_out, mut on_fail, mut client) = (None, OnFail::default(), ClientAccess::default());
        if waits {
            time_out = f.time("TimeOut");
            let words = [("Continue", OnFail::Continue), ("End", OnFail::End), ("Cancel", OnFail::Cancel)];
            on_fail = f.word("OnFail", &words).unwrap_or_default();
            let BuiltIn { client_answers: answers, is_host_answered, .. } = *built;
            let ticks = built.ticks != Ticks::Never;
            client = ClientAccess::parse(&mut f, ClientTask { net: asm.net, answers, is_host_answered, ticks });
        }
        f.finish();
        if let Some(list) = quick.filter(|_| waits) {
            self.error("waits-in-list", format!("{path}: {} waits, but {list} must not wait", built.name));
        }
        let interval = match doc.tick_interval.map(|s| (s, SimTime::try_seconds(s))) {
            Some((_, Some(t))) if t >= SimTime::ZERO => Some(t),
            Some((found, _)) => {
                self.error("bad-param", format!("{path}.TickInterval: expected seconds from 0, found {found}"));
                return;
            }
            None => built.category.interval(built.ticks == Ticks::Critical),
        };
        let Some(kind) = kind else { return };
        let usual = if built.ticks == Ticks::Critical { CRITICAL } else { 0 };
        let priority = self.priority(path, doc.priority.unwrap_or(usual));
        let answer = if kind.is_host_answered() { asm.answer(id) } else { None };
        let at = asm.put(Inst::Task(Box::new(TaskDef {
            answer,
            kind,
            name: id,
            interval: interval.filter(|_| built.ticks != Ticks::Never),
            priority,
            time_out,
            on_fail,
            client,
            request: encode_params(&doc.params),
            path: path.into(),
        })));
        if !doc.tasks.is_empty() {
            let over = asm.put(Inst::Jump(0));
            let start = asm.here();
            self.task_list(asm, &doc.tasks, &format!("{path}.Tasks"), depth + 1, quick);
            asm.put(Inst::End);
            if let Some(Inst::Task(task)) = asm.code.get_mut(at) {
                task.kind.set_body(start);
            }
            let end = asm.here();
            asm.code[over] = Inst::Jump(end);
        }
    }

    fn composite(&mut self, asm: &mut Assembler<'_>, doc: &AbilityTask, path: &str, depth: usize, quick: Option<&str>) {
        let inner = format!("{path}.Tasks");
        match doc.kind.as_str() {
            "Branch" => self.branch(asm, doc, path, depth, quick),
            "Repeat" => {
                let Some(count) = doc.count else {
                    self.error("bad-task", format!("{path}.Count: missing; Repeat needs a number of repetitions"));
                    return;
                };
                let reg = asm.regs.min(MAX_REGS - 1) as u8;
                asm.regs += 1;
                let start = asm.put(Inst::Loop { reg, count, end: 0 });
                let back = asm.here();
                self.task_list(asm, &doc.tasks, &inner, depth + 1, quick);
                asm.put(Inst::Repeat { reg, back });
                let end = asm.here();
                asm.code[start] = Inst::Loop { reg, count, end };
            }
            "Parallel" | "Race" => {
                let race = doc.kind == "Race";
                if doc.tasks.is_empty() {
                    self.warn("empty-list", format!("{path}: {} has no Tasks", doc.kind));
                    return;
                }
                let fork = asm.put(Inst::End);
                let mut starts = Vec::with_capacity(doc.tasks.len());
                for (i, task) in doc.tasks.iter().enumerate() {
                    if asm.too_long {
                        return;
                    }
                    starts.push(asm.here());
                    self.task(asm, task, &format!("{inner}[{i}]"), depth + 1, quick);
                    asm.put(Inst::End);
                }
                let join = asm.here();
                asm.code[fork] = Inst::Fork { race, starts: starts.into(), join };
            }
            _ => self.task_list(asm, &doc.tasks, &inner, depth + 1, quick),
        }
    }

    fn branch(&mut self, asm: &mut Assembler<'_>, doc: &AbilityTask, path: &str, depth: usize, quick: Option<&str>) {
        let test = match (&doc.query, &doc.when) {
            (Some(query), None) => self.query(&format!("{path}.Query"), query).map(Test::Query),
            (None, Some(when)) => self.expression_in(&format!("{path}.When"), when, Scope::TASK).map(Test::When),
            _ => {
                self.error("bad-task", format!("{path}: Branch takes either Query or When"));
                None
            }
        };
        if doc.then.is_empty() && doc.r#else.is_empty() {
            self.warn("empty-list", format!("{path}: Branch has neither Then nor Else"));
        }
        let at = asm.put(Inst::End);
        self.task_list(asm, &doc.then, &format!("{path}.Then"), depth + 1, quick);
        let over = (!doc.r#else.is_empty()).then(|| asm.put(Inst::Jump(0)));
        let otherwise = asm.here();
        self.task_list(asm, &doc.r#else, &format!("{path}.Else"), depth + 1, quick);
        let end = asm.here();
        if let Some(over) = over {
            asm.code[over] = Inst::Jump(end);
        }
        if let Some(test) = test {
            asm.code[at] = Inst::Branch { test, otherwise };
        }
    }
}
