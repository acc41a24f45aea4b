//! What has to agree after an op: facts, values, tags, cues, grants, clocks, effects and queues.

use super::drive::Both;
use super::generate::{CUES, TAGS};
use super::world::{Fact, NONE};
use ugas_core as core;
use ugas_core::{ControllerId, EffectId, EffectState, FactKind, Facts};

/// How far numbers may be apart.
const TOLERANCE: f64 = 1e-9;

impl Both {
    pub(crate) fn compare_facts(&mut self) -> Result<(), String> {
        let mut facts = Facts::default();
        self.sim.take_facts(&mut facts);
        let theirs: Vec<Fact> = facts.list.iter().map(|f| self.fact(f)).filter(matters).collect();
        let ours: Vec<Fact> = self.world.facts.iter().filter(|f| matters(f)).cloned().collect();
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

    fn fact(&self, f: &core::Fact) -> Fact {
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
            FactKind::EffectRemoved { reason } => format!("EffectRemoved {effect} {reason:?}"),
            FactKind::EffectChanged { what, stacks, level } => {
                format!("EffectChanged {effect} {what:?} stacks {stacks} level {level}")
            }
            FactKind::Immune { by, .. } => format!("Immune {effect} by {}", name(by)),
            FactKind::Granted { ability: a, level, .. } => format!("Granted {} {level}", ability(a)),
            FactKind::Revoked { ability: a, .. } => format!("Revoked {}", ability(a)),
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
        let gone = |r: core::Refusal| format!("refused {r}");
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
        for name in TAGS {
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
        let grants = |list: Vec<(String, u32)>| list;
        let ours = grants(self.world.rows[&who].grants.iter().map(|g| (g.ability.clone(), g.level)).collect());
        let theirs = self.sim.grants(id).map_err(gone)?;
        let rules = self.sim.rules();
        let theirs =
            grants(theirs.iter().map(|g| (rules.ability_name(g.ability).unwrap_or("?").to_owned(), g.level)).collect());
        same("grants", &ours, &theirs)?;
        let row = &self.world.rows[&who];
        same("rate", &row.rate, &self.sim.rate(id).map_err(gone)?.0)?;
        same("activity", &row.active, &self.sim.is_active(id).map_err(gone)?)?;
        self.compare_effects(who)
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
                let text = effect_text(name, v.source.0, v.level, v.stacks, v.state);
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

fn effect_text(name: &str, source: u32, level: u32, stacks: u32, state: EffectState) -> String {
    let from = if source == NONE { "nobody".to_owned() } else { source.to_string() };
    format!("{name} from {from} level {level} stacks {stacks} {state:?}")
}

/// A change within the tolerance may be told by one side and not by the other.
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
