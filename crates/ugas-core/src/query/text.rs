//! Descriptions with numbers from the rules, so that a tooltip always shows the numbers that the game uses. In `Deals
//! {GE_Fireball.Health} damage`, the placeholder names an effect and one of its values. The code that applies the
//! effect also computes this value.
//!
//! A [`FilledText`] also lists each placeholder with its number, so that a translated text can use the same
//! placeholders.

use crate::flow::About;
use crate::rng::SITE_TEXT;
use crate::rules::{EffectDef, Mag, MagnitudeInputs};
use crate::{AttributeId, CalcId, ControllerId, KeyId, Refusal, Rules, Sim, Spec};
use ugas_doc::Operation;

/// A text with its placeholders replaced by numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilledText {
    /// The text.
    pub text: String,
    /// The placeholders and their numbers, in the order in which they appear in the text.
    pub values: Vec<(String, f64)>,
    /// The placeholders without a value. The text contains them unchanged.
    pub missing: Vec<String>,
}

impl Rules {
    /// Replaces the placeholders of a text with the numbers of effects at a level. The placeholders are:
    ///
    /// - `{GE_Fireball.Health}`: the amount that the effect's modifiers add to or subtract from the attribute, without
    ///   its sign. Multiply modifiers give a percentage;
    /// - `{GE_Burn.Duration}` and `{GE_Burn.Period}`: seconds; `{GE_Burn.Chance}`: a percentage;
    /// - `{Level}`: the level.
    ///
    /// For numbers that depend on attributes of the ability's owner, use [`Sim::fill_text`].
    ///
    /// ```
    /// use ugas_core::Rules;
    /// use ugas_doc::{Attribute, AttributeSet, Effect};
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
    ///     .add(Effect::instant("GE_Fireball").add("Health", -40.0))
    ///     .build()
    ///     .unwrap();
    /// let filled = rules.fill_text("Deals {GE_Fireball.Health} damage", 1);
    /// assert_eq!(filled.text, "Deals 40 damage");
    /// assert_eq!(filled.values, [("GE_Fireball.Health".to_owned(), 40.0)]);
    /// ```
    pub fn fill_text(&self, text: &str, level: u32) -> FilledText {
        fill(text, |name| value(self, name, level, None))
    }
}

impl Sim {
    /// Replaces the placeholders of a text with the numbers of effects at a level for one owner. [`Rules::fill_text`]
    /// lists the placeholders. Attribute-based numbers use the current values of the owner's attributes. In addition,
    /// the placeholder `{Health}` is the value of the owner's attribute `Health`. Random parts of a calculation, such
    /// as a critical hit, are not included.
    pub fn fill_text(&self, text: &str, level: u32, owner: ControllerId) -> FilledText {
        fill(text, |name| value(self.rules(), name, level, Some((self, owner))))
    }
}

/// A number and whether it is shown as a percentage.
#[derive(Clone, Copy)]
struct Shown {
    value: f64,
    percent: bool,
}

type Owner<'s> = Option<(&'s Sim, ControllerId)>;

fn fill(text: &str, value: impl Fn(&str) -> Option<Shown>) -> FilledText {
    let mut filled = FilledText::default();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        filled.text.push_str(&rest[..open]);
        let after = &rest[open + 1..];
        let end = after.bytes().position(|b| !is_name_part(b)).filter(|&at| at > 0 && after[at..].starts_with('}'));
        let Some(name) = end.map(|at| &after[..at]) else {
            filled.text.push('{');
            rest = after;
            continue;
        };
        match value(name) {
            Some(shown) => {
                let number = rounded(shown.value);
                filled.text.push_str(&number.to_string());
                if shown.percent {
                    filled.text.push('%');
                }
                filled.values.push((name.to_owned(), number));
            }
            None => {
                filled.text.push_str(&rest[open..open + name.len() + 2]);
                filled.missing.push(name.to_owned());
            }
        }
        rest = &after[name.len() + 1..];
    }
    filled.text.push_str(rest);
    filled
}

fn is_name_part(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"_.:".contains(&b)
}

/// Rounds to two decimals for display.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0 + 0.0
}

fn value(rules: &Rules, name: &str, level: u32, owner: Owner<'_>) -> Option<Shown> {
    let plain = |value: f64| Some(Shown { value, percent: false }).filter(|s| s.value.is_finite());
    let Some((effect, what)) = name.rsplit_once('.') else {
        return match (name, owner) {
            ("Level", _) => plain(level.into()),
            (name, Some((sim, who))) => plain(sim.get(who, rules.find_attribute(name)?).ok()?),
            _ => None,
        };
    };
    let id = rules.find_effect(effect)?;
    let def = rules.effect_def(id)?;
    let spec = Spec::new(id, owner.map_or(ControllerId::NONE, |(_, who)| who)).level(level);
    let spec = match owner {
        Some((_, who)) => spec.from(who),
        None => spec,
    };
    let evaluate = |m: &Mag| evaluate(rules, m, &spec, owner).ok();
    match what {
        "Duration" => plain(evaluate(def.duration.as_ref()?)?),
        "Period" => plain(def.period?.as_seconds()),
        "Chance" => Some(Shown { value: evaluate(def.chance.as_ref()?)? * 100.0, percent: true }),
        attribute => of_attribute(def, rules.find_attribute(attribute)?, &spec, owner, evaluate),
    }
}

/// Returns the amount by which an effect changes an attribute.
fn of_attribute(
    def: &EffectDef,
    attribute: AttributeId,
    spec: &Spec,
    owner: Owner<'_>,
    evaluate: impl Fn(&Mag) -> Option<f64>,
) -> Option<Shown> {
    let mut parts: Vec<(Operation, f64)> = Vec::new();
    for m in def.modifiers.iter().filter(|m| m.attribute == attribute) {
        parts.push((m.op, evaluate(&m.magnitude)?));
    }
    if let Some((sim, who)) = owner {
        let about = about(sim, spec, who).ok()?;
        for x in &def.executions {
            let mut results = Vec::new();
            sim.view()
                .calculate(x.calculator, about, SITE_TEXT, &x.params, &mut results, &mut Vec::new(), None)
                .ok()?;
            parts.extend(results.iter().filter(|r| r.attribute == attribute).map(|r| (r.op, r.value)));
        }
    }
    let sum = |of: &[Operation]| {
        let mut values = parts.iter().filter(|(op, _)| of.contains(op)).map(|(_, v)| *v).peekable();
        values.peek().is_some().then(|| values.sum::<f64>().abs())
    };
    let plain = sum(&[Operation::Add, Operation::AddPost]).map(|value| Shown { value, percent: false });
    let factor = || sum(&[Operation::Multiply]).map(|value| Shown { value: value * 100.0, percent: true });
    let over = || sum(&[Operation::Override]).map(|value| Shown { value, percent: false });
    plain.or_else(factor).or_else(over)
}

fn about<'s>(sim: &Sim, spec: &'s Spec, who: ControllerId) -> Result<About<'s>, Refusal> {
    Ok(About { spec, target: sim.slot(who)?, origin_id: 0, ordinal: 0, stacks: 1, execution: 0 })
}

fn evaluate(rules: &Rules, m: &Mag, spec: &Spec, owner: Owner<'_>) -> Result<f64, Refusal> {
    if let Some((sim, who)) = owner {
        return sim.view().magnitude(m, about(sim, spec, who)?, SITE_TEXT);
    }
    let value = m.value(&LevelOnly { rules, level: spec.level })?;
    if value.is_finite() { Ok(value) } else { Err(Refusal::Condition) }
}

/// The inputs of a text without an owner. Only the level has a value.
struct LevelOnly<'r> {
    rules: &'r Rules,
    level: u32,
}

impl MagnitudeInputs for LevelOnly<'_> {
    fn rules(&self) -> &Rules {
        self.rules
    }

    fn level(&self) -> u32 {
        self.level
    }

    fn attribute(&self, _: AttributeId, _: bool) -> Result<f64, Refusal> {
        Err(Refusal::Condition)
    }

    fn caller(&self, _: KeyId) -> Result<f64, Refusal> {
        Err(Refusal::Condition)
    }

    fn calculate(&self, _: CalcId) -> Result<f64, Refusal> {
        Err(Refusal::Condition)
    }
}
