//! Explanations: how the value of an attribute is computed, line by line. The lines are the modifiers that the
//! aggregation used. An evaluation of the lines therefore gives exactly the attribute's current value, bit for bit.

use crate::flow::{Sums, sums};
use crate::state::{FILTERED, Mod, NOT_FINITE, OFF};
use crate::{AttributeId, ControllerId, EffectId, EffectKey, ReadError, Sim};
use std::fmt;
use ugas_doc::{Aggregation, Operation, Origin, Patched};

/// The state of a modifier: whether it contributes to the value, and the reason if it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModifierState {
    /// The modifier contributes.
    Counts,
    /// The modifier does not contribute, because another Override has precedence, or because the attribute uses
    /// strongest-wins and another bonus or penalty is stronger.
    Hidden,
    /// The modifier's effect is inhibited.
    Inhibited,
    /// The modifier's tag filter does not match.
    Filtered,
    /// The modifier's live magnitude is not a finite number.
    NotFinite,
}

/// One line of an explanation: a modifier and its contribution.
#[derive(Clone, Debug, PartialEq)]
pub struct ModifierLine {
    /// The operation.
    pub operation: Operation,
    /// The channel's name; `None` if the modifier names no channel and is multiplied separately.
    pub channel: Option<String>,
    /// The magnitude, including all stacks.
    pub magnitude: f64,
    /// The application.
    pub key: EffectKey,
    /// The sequence number of the application. A later application on the same controller has a higher number.
    pub applied: u64,
    /// The definition.
    pub effect: EffectId,
    /// The name of the definition.
    pub effect_name: String,
    /// The source.
    pub source: ControllerId,
    /// The level.
    pub level: u32,
    /// The stacks.
    pub stacks: u32,
    /// The attribute that an attribute-based magnitude follows, and the current value of that attribute.
    pub follows: Option<(String, f64)>,
    /// The file and line of the modifier, if its document was read from a file.
    pub origin: Option<Origin>,
    /// Whether the modifier contributes to the value.
    pub state: ModifierState,
}

/// The factor of one channel and the lines that contribute to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelShare {
    /// The channel's name; `None` for a modifier that is multiplied separately.
    pub name: Option<String>,
    /// 1 plus the sum of the bonuses in the channel; not below 0 with `NonNegative`.
    pub factor: f64,
    /// The indices in [`Explanation::lines`] of the channel's modifiers.
    pub lines: Vec<usize>,
}

/// The computation of an attribute's value, step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The controller.
    pub who: ControllerId,
    /// The attribute.
    pub attribute: AttributeId,
    /// The name of the attribute.
    pub name: String,
    /// The base value.
    pub base: f64,
    /// The authored expression that computes the base value; `None` if the attribute is not derived.
    pub derived: Option<String>,
    /// The changes that patches made to the attribute's definition.
    pub patches: Vec<Patched>,
    /// How modifiers are combined. With `StrongestMultiply`, only the largest bonus and the largest penalty of all
    /// Multiply modifiers count, regardless of channels. With `NonNegative`, the sum of base and Add modifiers, each
    /// factor and the value are 0 if they would be below 0.
    pub aggregation: Aggregation,
    /// The sum of the Add modifiers.
    pub add: f64,
    /// The product of the channel factors.
    pub product: f64,
    /// The channels in multiplication order. Under strongest-wins, each contributing line has its own entry.
    pub channels: Vec<ChannelShare>,
    /// The sum of the AddPost modifiers.
    pub post: f64,
    /// The value of the Override that applies, if any.
    pub over: Option<f64>,
    /// The current bounds.
    pub bounds: (f64, f64),
    /// The current value.
    pub value: f64,
    /// Every modifier, in aggregation order.
    pub lines: Vec<ModifierLine>,
}

impl Sim {
    /// Returns an explanation of an attribute's current value.
    pub fn explain(&self, who: ControllerId, attribute: AttributeId) -> Result<Explanation, ReadError> {
        let row = self.row(who)?;
        let layout = self.layout(row);
        let slot = layout.slot(attribute).ok_or(ReadError::UnknownAttribute { who, attribute })?;
        let def = &layout.slots[slot];
        let bounds = def.bounds(&row.attrs);
        let defs = &self.state().definitions;
        let priority = |seq: u64| {
            let e = row.effect_at(seq).and_then(|i| defs.effect(self.rules(), row.effects[i].def));
            e.map_or(0, |d| d.priority)
        };
        let mods = row.mods_of(slot);
        let strongest = def.aggregation == Aggregation::StrongestMultiply;
        let parts: Sums = sums(mods, def.aggregation, priority);
        let base = row.attrs[slot].base;
        let mut lines: Vec<ModifierLine> = mods.iter().filter_map(|m| self.line(who, m)).collect();
        hide_losers(&mut lines, mods, &parts, strongest, priority);
        Ok(Explanation {
            who,
            attribute: def.attribute,
            name: self.rules().attribute_name(def.attribute).unwrap_or("?").to_owned(),
            base,
            derived: def.derived.as_ref().map(|e| e.text().to_owned()),
            patches: self.rules().attribute_patches(def.attribute).to_vec(),
            aggregation: def.aggregation,
            add: parts.add,
            product: parts.product,
            channels: channels(&lines, def.aggregation),
            post: parts.post,
            over: parts.over,
            bounds,
            value: parts.value(base, bounds.0, bounds.1),
            lines,
        })
    }

    fn line(&self, who: ControllerId, m: &Mod) -> Option<ModifierLine> {
        let row = self.row(who).ok()?;
        let e = &row.effects[row.effect_at(m.seq())?];
        let def = self.state().definitions.effect(self.rules(), e.def)?;
        let d = &def.modifiers[m.index() as usize];
        let follows = d.magnitude.live_on().and_then(|(attribute, of_target)| {
            let from = if of_target { who } else { e.source };
            Some((self.rules().attribute_name(attribute)?.to_owned(), self.get(from, attribute).ok()?))
        });
        let index = m.index() as usize;
        let origin = def.origin.as_ref().map(|o| {
            let way = format!("Modifiers[{index}]");
            let patches = o.patches.iter().filter(|p| p.touches(&way)).cloned().collect();
            Origin { patches, ..Origin::new(o.file.clone(), o.modifier_line(index)) }
        });
        let state = match m.off {
            0 => ModifierState::Counts,
            off if off & OFF != 0 => ModifierState::Inhibited,
            off if off & FILTERED != 0 => ModifierState::Filtered,
            off => {
                debug_assert!(off & NOT_FINITE != 0);
                ModifierState::NotFinite
            }
        };
        Some(ModifierLine {
            operation: d.op,
            channel: d.channel_name.as_ref().map(|n| n.to_string()),
            magnitude: m.magnitude,
            key: e.key(who),
            applied: e.seq(),
            effect: e.def,
            effect_name: def.name.to_string(),
            source: e.source,
            level: e.level(),
            stacks: e.stacks(),
            follows,
            origin,
            state,
        })
    }
}

fn hide_losers(lines: &mut [ModifierLine], mods: &[Mod], parts: &Sums, strongest: bool, priority: impl Fn(u64) -> i32) {
    let counts = |l: &ModifierLine| l.state == ModifierState::Counts;
    let best = mods
        .iter()
        .enumerate()
        .filter(|(i, _)| counts(&lines[*i]) && lines[*i].operation == Operation::Override)
        .max_by_key(|(_, m)| (priority(m.seq()), m.seq(), m.index()))
        .map(|(i, _)| i);
    debug_assert_eq!(best.is_some(), parts.over.is_some());
    let extreme = |bonus: bool| {
        let of = |l: &ModifierLine| counts(l) && l.operation == Operation::Multiply && (l.magnitude > 0.0) == bonus;
        let mut at: Option<usize> = None;
        for (i, l) in lines.iter().enumerate().filter(|(_, l)| of(l)) {
            if at.is_none_or(|a| l.magnitude.abs() > lines[a].magnitude.abs()) {
                at = Some(i);
            }
        }
        at
    };
    let strongest_pair = [extreme(true), extreme(false)];
    for (i, line) in lines.iter_mut().enumerate() {
        let loses = match line.operation {
            Operation::Override => best != Some(i),
            Operation::Multiply => strongest && !strongest_pair.contains(&Some(i)),
            Operation::Add | Operation::AddPost => false,
        };
        if loses && line.state == ModifierState::Counts {
            line.state = ModifierState::Hidden;
        }
    }
}

/// Returns the factors in multiplication order. Under strongest-wins, a bonus and a penalty are separate factors even
/// in the same channel.
fn channels(lines: &[ModifierLine], aggregation: Aggregation) -> Vec<ChannelShare> {
    let strongest = aggregation == Aggregation::StrongestMultiply;
    let mut out: Vec<ChannelShare> = Vec::new();
    for (i, l) in lines.iter().enumerate() {
        if l.operation != Operation::Multiply || l.state != ModifierState::Counts {
            continue;
        }
        let name = l.channel.clone().filter(|_| !strongest);
        match out.last_mut() {
            Some(c) if name.is_some() && c.name == name => {
                c.factor += l.magnitude;
                c.lines.push(i);
            }
            _ => out.push(ChannelShare { name, factor: 1.0 + l.magnitude, lines: vec![i] }),
        }
    }
    if aggregation == Aggregation::NonNegative {
        out.iter_mut().for_each(|share| share.factor = share.factor.max(0.0));
    }
    out
}

impl Explanation {
    /// Formats the explanation as one line: `WeaponDamage 18 = 10 × 1.5 (MainStat: GE_MainStat_Strength) × 1.2
    /// (DamageBonuses: …)`.
    pub fn short(&self) -> String {
        use std::fmt::Write;
        let mut s = format!("{} {} = ", self.name, self.value);
        let names = |lines: &[usize]| {
            let list: Vec<&str> = lines.iter().map(|&i| self.lines[i].effect_name.as_str()).collect();
            list.join(", ")
        };
        if let Some(over) = self.over {
            let by = self.lines.iter().find(|l| l.operation == Operation::Override && l.state == ModifierState::Counts);
            let _ = write!(s, "{over} (override: {})", by.map_or("?", |l| l.effect_name.as_str()));
        } else {
            let _ = match self.add {
                _ if self.is_sum_clamped() => write!(s, "0 ({} + {} is below 0)", self.base, self.add),
                0.0 => write!(s, "{}", self.base),
                add => write!(s, "({} + {add})", self.base),
            };
            // The factors are shown in order of application. In this order, the product differs from the aggregated
            // product at most in the last bit.
            let mut shares: Vec<&ChannelShare> = self.channels.iter().collect();
            shares.sort_by_key(|c| c.lines.iter().map(|&i| self.lines[i].applied).min());
            for c in shares {
                let who = names(&c.lines);
                let _ = match &c.name {
                    Some(name) => write!(s, " × {} ({name}: {who})", round_for_display(c.factor)),
                    None => write!(s, " × {} ({who})", round_for_display(c.factor)),
                };
            }
            if self.post != 0.0 {
                let _ = write!(s, " + {} after multiplying", self.post);
            }
        }
        let sum = if self.is_sum_clamped() { 0.0 } else { self.base + self.add };
        let unclamped = self.over.unwrap_or(sum * self.product + self.post);
        if unclamped != self.value {
            let _ = write!(s, ", clamped between {} and {}", self.bounds.0, self.bounds.1);
        }
        s
    }

    /// Returns whether the base value plus the Add modifiers is below 0 and counts as 0.
    fn is_sum_clamped(&self) -> bool {
        self.aggregation == Aggregation::NonNegative && self.base + self.add < 0.0
    }
}

/// Rounds a factor for display: `1.2000000000000002` becomes `1.2`.
fn round_for_display(v: f64) -> f64 {
    let rounded = (v * 1e12).round() / 1e12;
    if (rounded - v).abs() <= 1e-12 * v.abs() { rounded } else { v }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.short())?;
        write!(f, "  base {}", self.base)?;
        if let Some(expression) = &self.derived {
            write!(f, " = {expression} (derived)")?;
        }
        self.patches.iter().try_for_each(|p| write!(f, ", {p}"))?;
        match self.aggregation {
            Aggregation::All => {}
            Aggregation::StrongestMultiply => {
                write!(f, "\n  strongest only: of the Multiply modifiers, only the largest bonus and penalty apply")?;
            }
            Aggregation::NonNegative => {
                write!(
                    f,
                    "\n  not negative: the sum of base and added values, each factor and the value are at least 0"
                )?;
            }
        }
        for l in &self.lines {
            let sign = match l.operation {
                Operation::Add => "add",
                Operation::Multiply => "multiply",
                Operation::AddPost => "add after",
                Operation::Override => "override",
            };
            write!(f, "\n  {sign} {} by {}", l.magnitude, l.effect_name)?;
            if let Some(c) = &l.channel {
                write!(f, " in channel {c}")?;
            }
            write!(f, ", level {}", l.level)?;
            if l.stacks != 1 {
                write!(f, ", {} stacks", l.stacks)?;
            }
            if let Some(source) = l.source.some() {
                write!(f, ", from controller {}", source.0)?;
            }
            if let Some((name, value)) = &l.follows {
                write!(f, ", reads {name} {value}")?;
            }
            if let Some(o) = &l.origin {
                write!(f, ", {o}")?;
                o.patches.iter().try_for_each(|p| write!(f, ", {p}"))?;
            }
            match l.state {
                ModifierState::Counts => {}
                ModifierState::Hidden => write!(f, " (overridden by a stronger modifier)")?,
                ModifierState::Inhibited => write!(f, " (inhibited)")?,
                ModifierState::Filtered => write!(f, " (its tag filter does not match)")?,
                ModifierState::NotFinite => write!(f, " (ignored: not a finite number)")?,
            }
        }
        let (lo, hi) = self.bounds;
        if lo.is_finite() || hi.is_finite() {
            write!(f, "\n  bounds {lo} to {hi}")?;
        }
        Ok(())
    }
}
