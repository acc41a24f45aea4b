//! What has to agree after an op: facts, values, tags, cues, grants, clocks, effects and queues.

use super::abilities::MORE_TAGS;
use super::check::Try;
use super::drive::Both;
use super::generate::{CUES, TAGS};
use super::play::State;
use super::world::{Fact, NONE};
use ugas_core as core;
use ugas_core::{ControllerId, EffectId, EffectState, FactKind, Facts};

/// How far numbers may be apart.
const TOLERANCE: f64 = 1e-9;

impl Both {
    pub(crate) fn compare_facts(&mut self) -> Result<(), String> {
        let mut facts = Facts::default();
        self.sim.take_facts(&mut facts);
        let theirs: Vec<Fact> = facts.list.iter().map(|f| self.fact(&facts, f)).filter(matters).collect();
        let ours: Vec<Fact> = self.world.facts.iter().filter(|f| matters(f)).cloned().collect();
        ours.iter().for_each(|f| self.world.count(&super::tally::name_of(&f.text)));
        let handles = facts.list.iter().filter_map(|f| match f.kind {
            FactKind::SetGranted { handle, .. } => Some(handle),
            _ => None,
        });
        self.sets.extend(self.world.handles.iter().copied().zip(handles));
        for i in 0..ours.len().max(theirs.len()) {
            let equal = match (ours.get(i), theirs.get(i)) {
                (Some(a), Some(b)) => {
                    (a.at, a.who, &a.text) == (b.at, b.who, &b.text)
                        && a.numbers.iter().zip(&b.numbers).all(|(x, y)| close(*x, *y))
                }
                _ => false,
            };
            if !equal {
                let list = |l: &[Fact]| l.iter().map(|f| format!("\n    {f:?}")).collect::<String>();
                return Err(format!("fact {i}\n  model:{}\n  runtime:{}", list(&ours), list(&theirs)));
            }
        }
        Ok(())
    }

    /// A derived attribute that has no finite value when its controller is made is reported.
    pub(crate) fn compare_diagnostics(&mut self) -> Result<(), String> {
        let mut diagnostics = Vec::new();
        self.sim.take_diagnostics(&mut diagnostics);
        for (who, name) in std::mem::take(&mut self.world.not_finite) {
            let attribute = self.attribute(&name);
            let kind = core::DiagnosticKind::NonFinite { attribute };
            if !diagnostics.iter().any(|d| d.who.0 == who && d.kind == kind) {
                return Err(format!("no diagnostic for {name} of the new controller {who}, which is not finite"));
            }
        }
        Ok(())
    }

    fn fact(&self, all: &Facts, f: &core::Fact) -> Fact {
        let rules = self.sim.rules();
        let tag = |t| rules.tag_name(t).unwrap_or("?");
        let attribute = |a| rules.attribute_name(a).unwrap_or("?");
        let ability = |a| rules.ability_name(a).unwrap_or("?");
        let name = |e: EffectId| self.names.get(&e).map_or("?", String::as_str);
        let effect = name(f.effect);
        let mut numbers = Vec::new();
        let text = match f.kind {
            FactKind::AttributeChanged { attribute: a, old, new, old_base, new_base } => {
                numbers = vec![old, new, old_base, new_base];
                format!("AttributeChanged {}", attribute(a))
            }
            FactKind::TagChanged { tag: t, added, exact, presence } => {
                let sign = if added { '+' } else { '-' };
                format!("TagChanged {sign}{} exact {exact} presence {presence}", tag(t))
            }
            FactKind::EffectApplied { level, stacks } => {
                format!("EffectApplied {effect} level {level} stacks {stacks}")
            }
            FactKind::EffectExecuted { execution } => format!("EffectExecuted {effect} {execution}"),
            FactKind::ExecutionRestricted { execution } => format!("ExecutionRestricted {effect} {execution}"),
            FactKind::EffectRemoved { reason } => format!("EffectRemoved {effect} {reason:?}"),
            FactKind::EffectChanged { what, stacks, level } => {
                format!("EffectChanged {effect} {what:?} stacks {stacks} level {level}")
            }
            FactKind::Immune { by, .. } => format!("Immune {effect} by {}", name(by)),
            FactKind::Granted { ability: a, level, grant, input } => {
                let input = rules.input_name(input).unwrap_or("-");
                format!("Granted {} grant {} level {level} input {input}", ability(a), grant.0)
            }
            FactKind::Revoked { ability: a, grant } => format!("Revoked {} grant {}", ability(a), grant.0),
            FactKind::AbilityActivated { ability: a, grant, level, .. } => {
                format!("AbilityActivated {} grant {} level {level}", ability(a), grant.0)
            }
            FactKind::AbilityEnded { ability: a, grant, cancelled, interrupted, .. } => {
                let (name, grant) = (ability(a), grant.0);
                format!("AbilityEnded {name} grant {grant} cancelled {cancelled} interrupted {interrupted}")
            }
            FactKind::TaskEnded { ability: a, task, value, result, .. } => {
                numbers = vec![value];
                let task = rules.task_kind_name(task).unwrap_or("?");
                format!("TaskEnded {task} {result:?} {}", ability(a))
            }
            FactKind::TaskRequest { ability: a, task, .. } => {
                let task = rules.task_kind_name(task).unwrap_or("?");
                let params: String = all.params(f).map(|(name, value)| format!(" {name}={}", param(value))).collect();
                format!("TaskRequest {task} of {}{params}", ability(a))
            }
            FactKind::GameplayEvent { tag: t, magnitude, .. } => {
                numbers = vec![magnitude];
                format!("GameplayEvent {}", tag(t))
            }
            FactKind::Input { input, pressed, held } => {
                format!("Input {} pressed {pressed} held {}", rules.input_name(input).unwrap_or("?"), held.0)
            }
            FactKind::Cast { ability: a, tick, length, step } => {
                format!("Cast {} {step:?} tick {tick} length {}", ability(a), length.0)
            }
            FactKind::GlobalCooldown { group, running, length } => {
                let group = rules.group_name(group).unwrap_or("?");
                format!("GlobalCooldown {group} running {running} length {}", length.0)
            }
            FactKind::Charges { ability: a, grant, have, max, length } => {
                format!("Charges {} grant {} {have} of {max} length {}", ability(a), grant.0, length.0)
            }
            FactKind::Damage { damage, style, credit, amount, raw, absorbed, overkill } => {
                numbers = vec![amount, raw, absorbed, overkill];
                format!("Damage {damage:?} {style:?} credit {}", credit.0)
            }
            FactKind::SetGranted { set, .. } => format!("SetGranted {}", rules.ability_set_name(set).unwrap_or("?")),
            FactKind::SetRevoked { set, .. } => format!("SetRevoked {}", rules.ability_set_name(set).unwrap_or("?")),
            FactKind::Capability { class, set, step } => {
                let class = rules.capability_name(class).unwrap_or("?");
                format!("Capability {class} {} {step:?}", rules.ability_set_name(set).unwrap_or("?"))
            }
            FactKind::Resource { attribute: a, step, old, new } => {
                numbers = vec![old, new];
                format!("Resource {} {step:?}", attribute(a))
            }
            FactKind::Cue { tag: t, cue, .. } => format!("Cue {} {cue:?}", tag(t)),
            FactKind::Died { attribute: a } => format!("Died {}", attribute(a)),
            FactKind::SetAdded { set } => format!("SetAdded {}", rules.set_name(set).unwrap_or("?")),
            FactKind::SetRemoved { set } => format!("SetRemoved {}", rules.set_name(set).unwrap_or("?")),
            _ => f.kind.name().to_owned(),
        };
        Fact { at: f.at.0, who: f.who.0, text, numbers }
    }

    pub(crate) fn compare_row(&mut self, who: u32) -> Result<(), String> {
        let id = ControllerId(who);
        let gone = |r: core::ReadError| format!("refused {r}");
        for attribute in self.world.attributes(who) {
            let shown = self.world.shown[&(who, attribute.clone())];
            let a = self.attribute(&attribute);
            number(&format!("base of {attribute}"), shown.base, self.sim.base(id, a).map_err(gone)?)?;
            number(&format!("current of {attribute}"), shown.current, self.sim.get(id, a).map_err(gone)?)?;
            let (lo, hi) = self.sim.bounds(id, a).map_err(gone)?;
            number(&format!("lower bound of {attribute}"), shown.lo, lo)?;
            number(&format!("upper bound of {attribute}"), shown.hi, hi)?;
        }
        let counts = self.world.tag_counts(who);
        for name in TAGS.iter().chain(MORE_TAGS) {
            let tag = self.tag(name);
            let explicit = counts.get(*name).copied().unwrap_or(0) as u64;
            same(&format!("count of {name}"), &explicit, &self.sim.tag_count(id, tag).map_err(gone)?)?;
            let present = self.world.has_tag(who, name);
            same(&format!("presence of {name}"), &present, &self.sim.has_tag(id, tag).map_err(gone)?)?;
        }
        for name in CUES {
            let ours = self.world.cue_count(who, name);
            same(&format!("count of {name}"), &ours, &self.sim.cue_count(id, self.tag(name)).map_err(gone)?)?;
        }
        let row = &self.world.rows[&who];
        same("rate", &row.rate, &self.sim.rate(id).map_err(gone)?.0)?;
        same("activity", &row.active, &self.sim.is_active(id).map_err(gone)?)?;
        self.compare_effects(who)?;
        self.compare_capabilities(who)?;
        self.compare_play(who)
    }

    /// Grants and their castable status, activations, waiting tasks, held inputs.
    fn compare_play(&mut self, who: u32) -> Result<(), String> {
        let id = ControllerId(who);
        let gone = |r: core::ReadError| format!("refused {r}");
        let (rules, row) = (self.sim.rules(), &self.world.rows[&who]);
        let name = |a| rules.ability_name(a).unwrap_or("?").to_owned();
        let ours: Vec<_> = row.grants.iter().map(|g| (g.id, g.ability.clone(), g.level, g.input.clone())).collect();
        let theirs = self.sim.grants(id).map_err(gone)?;
        let theirs: Vec<_> = theirs
            .iter()
            .map(|g| (g.id.0, name(g.ability), g.level, g.input.and_then(|i| rules.input_name(i)).map(str::to_owned)))
            .collect();
        same("grants", &ours, &theirs)?;
        for g in &row.grants {
            let t = Try { who, grant: g.id, level: g.level, target: None, source: who };
            let ours = self.world.refusal_of_owner(&t, &self.world.abilities[&g.ability], false).map(|r| r.1);
            let theirs = self.sim.castable(id, core::GrantId(g.id)).map_err(gone)?.reason.map(|r| r.kind());
            same(&format!("castable {} grant {}", g.ability, g.id), &ours, &theirs)?;
        }
        // One grant after another: `why_not` must agree with an activation on a clone.
        self.tries += 1;
        if let Some(g) = row.grants.get(self.tries % row.grants.len().max(1)) {
            let (which, mut reasons) = (core::Which::Grant(core::GrantId(g.id)), Vec::new());
            self.sim.why_not(id, which, core::Target::None, &mut reasons).map_err(|r| format!("refused {r}"))?;
            let tried = self.sim.clone().activate_which(id, which, core::Target::None).err();
            let refusal = reasons.first().map(|r| r.refusal);
            same(&format!("why_not {} grant {}", g.ability, g.id), &tried, &refusal)?;
        }
        let now = row.local(self.world.now);
        let ours: Vec<_> = row
            .play
            .acts
            .iter()
            .map(|a| (a.ability.clone(), a.grant, a.state == State::Active, a.level, a.committed, now - a.start))
            .collect();
        let views: Vec<_> = self.sim.activations(id).map_err(gone)?.collect();
        let theirs: Vec<_> = views
            .iter()
            .map(|v| {
                let active = v.state == core::AbilityState::Active;
                (name(v.ability), v.grant.0, active, v.level, v.committed, v.elapsed.0)
            })
            .collect();
        same("activations", &ours, &theirs)?;
        self.acts.extend(row.play.acts.iter().zip(&views).map(|(a, v)| (a.seq, v.key)));
        let waits = |t: &&super::play::Sleep| !matches!(t.task.kind.as_str(), "Parallel" | "Race");
        let sleeping: Vec<_> = row.play.tasks.iter().filter(waits).collect();
        let ours: Vec<_> = sleeping.iter().map(|t| (t.task.kind.clone(), t.due.map(|due| due - now))).collect();
        let views = self.sim.tasks(id).map_err(gone)?;
        let kind = |k| rules.task_kind_name(k).unwrap_or("?").to_owned();
        let theirs: Vec<_> = views.iter().map(|v| (kind(v.kind), v.remaining.map(|t| t.0))).collect();
        same("tasks", &ours, &theirs)?;
        self.tasks.extend(sleeping.iter().zip(&views).map(|(t, v)| (t.seq, v.key)));
        for input in super::abilities::INPUTS {
            let ours = row.play.held.get(*input).map(|h| now - h.since);
            let theirs = self.sim.held(id, rules.input(input).expect("it is used")).map_err(gone)?;
            same(input, &ours, &theirs.map(|t| t.0))?;
        }
        Ok(())
    }

    fn compare_effects(&mut self, who: u32) -> Result<(), String> {
        let theirs = self.sim.effects(ControllerId(who)).map_err(|r| format!("refused {r}"))?;
        let row = &self.world.rows[&who];
        let now = row.local(self.world.now);
        let mut ours = Vec::new();
        for e in &row.effects {
            let state = if e.inhibited { EffectState::Inhibited } else { EffectState::Active };
            let text = effect_text(&e.def, e.source, e.level, e.stacks, state);
            let times = (e.end.map(|end| end - now), e.next_execution(now));
            ours.push((e.key, text, times));
        }
        for (key, q) in &row.queue {
            ours.push((*key, effect_text(&q.def, q.source, q.level, q.stacks, EffectState::Queued), (None, None)));
        }
        let shown: Vec<_> = theirs
            .iter()
            .map(|v| {
                let name = self.names.get(&v.effect).map_or("?", String::as_str);
                let text = effect_text(name, v.source.unwrap_or(ControllerId::NONE).0, v.level, v.stacks, v.state);
                let remaining = v.remaining.map(|t| t.0).filter(|_| v.state != EffectState::Queued);
                (text, (remaining, v.next_execution.map(|t| (v.executed, t.0))))
            })
            .collect();
        let expected: Vec<_> = ours.iter().map(|(_, text, times)| (text.clone(), *times)).collect();
        same("effects", &expected, &shown)?;
        self.keys.extend(ours.iter().zip(&theirs).map(|((key, ..), view)| (*key, view.key)));
        Ok(())
    }
}

/// A parameter as the model shows it.
fn param(value: core::ParamValue<'_>) -> String {
    match value {
        core::ParamValue::Number(n) => n.to_string(),
        core::ParamValue::Text(t) => t.to_owned(),
        core::ParamValue::Bool(b) => b.to_string(),
        _ => "?".to_owned(),
    }
}

fn effect_text(name: &str, source: u32, level: u32, stacks: u32, state: EffectState) -> String {
    let from = if source == NONE { "nobody".to_owned() } else { source.to_string() };
    format!("{name} from {from} level {level} stacks {stacks} {state:?}")
}

/// A change within the tolerance may be emitted by one side only.
fn matters(f: &Fact) -> bool {
    let small = || close(f.numbers[0], f.numbers[1]) && close(f.numbers[2], f.numbers[3]);
    !(f.text.starts_with("AttributeChanged") && small())
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1e-3)
}

fn number(what: &str, ours: f64, theirs: f64) -> Result<(), String> {
    if close(ours, theirs) { Ok(()) } else { Err(format!("{what}: model {ours}, runtime {theirs}")) }
}

pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}\n  model:   {ours:?}\n  runtime: {theirs:?}")) }
}
