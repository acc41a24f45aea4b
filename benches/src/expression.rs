//! The cost of an expression: a typical damage formula, evaluated in a calculation. The calculation
//! repeats the formula under many names of `Let`. The additional cost divided by the number of names is the cost of one
//! evaluation.

use crate::table::{Table, figure};
use crate::{alloc, clock};
use std::sync::Arc;
use ugas_core::{ControllerId, EffectId, Facts, Rules, Sim, SimConfig, SpawnSpec, Spec};
use ugas_doc::{Attribute, AttributeSet, Calculation, CalculationResult, Effect};

/// The formula: damage after armour, doubled on weak targets, at least zero.
const LINE: &str = "max(0, source.Attack * 1.5 - target.Armor) * if(target.Health < 500, 2, 1)";
/// How often the formula is repeated in one calculation.
const LINES: usize = 32;
/// The number of hits in one repetition.
const HITS: usize = 20_000;

struct Duel {
    sim: Sim,
    spec: Spec,
    facts: Facts,
}

impl Duel {
    /// Creates a world in which a controller hits another with a calculation that repeats the formula this often.
    fn new(lines: usize) -> Result<Duel, String> {
        let mut calculation = Calculation::new("ExecCalc_Hit").result(CalculationResult::add("Health", "-1"));
        for at in 0..lines {
            calculation = calculation.bind(format!("line{at}"), LINE);
        }
        let set = AttributeSet::new("S")
            .with(Attribute::new("Health", 1e9))
            .with(Attribute::new("Attack", 20.0))
            .with(Attribute::new("Armor", 7.0));
        let effect = Effect::instant("GE_Hit").execute("ExecCalc_Hit");
        let rules = Rules::builder().add(set).add(calculation).add(effect).build().map_err(|e| e.to_string())?;
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let (a, b) = (spawn(&mut sim, &rules)?, spawn(&mut sim, &rules)?);
        let effect: EffectId = rules.find_effect("GE_Hit").ok_or("the effect is missing")?;
        let mut duel = Duel { sim, spec: Spec::new(effect, b).from(a), facts: Facts::default() };
        // Buffers grow while they are first used.
        duel.hits(1_000)?;
        Ok(duel)
    }

    fn hits(&mut self, count: usize) -> Result<(), String> {
        for _ in 0..count {
            self.sim.apply(&self.spec).map_err(|refusal| format!("{refusal:?}"))?;
            self.sim.take_facts(&mut self.facts);
        }
        Ok(())
    }

    /// Returns the nanoseconds of one hit in the fastest repetition.
    fn time(&mut self, repetitions: usize) -> Result<f64, String> {
        let mut best = f64::INFINITY;
        for _ in 0..repetitions {
            let start = clock::nanoseconds();
            self.hits(HITS)?;
            best = best.min((clock::nanoseconds() - start) as f64 / HITS as f64);
        }
        Ok(best)
    }
}

fn spawn(sim: &mut Sim, rules: &Arc<Rules>) -> Result<ControllerId, String> {
    let set = rules.find_set("S").ok_or("the set is missing")?;
    sim.spawn(SpawnSpec::sets([set])).map_err(|refusal| format!("{refusal:?}"))
}

/// Returns a table with the nanoseconds of one evaluation.
pub(crate) fn table(repetitions: usize) -> Result<Table, String> {
    let (with, without) = (Duel::new(LINES)?.time(repetitions)?, Duel::new(0)?.time(repetitions)?);
    let mut table = Table::new("Expressions, ns of CPU time", &["expression", "ns"]);
    table.row(vec![format!("`{LINE}`"), figure((with - without) / LINES as f64)]);
    table.row(vec!["a hit by a calculation of one constant".to_owned(), figure(without)]);
    Ok(table)
}

/// Returns the allocations of a thousand hits with the formula and of a thousand hits without it. Both include the
/// occasional growth of a log, which is not caused by the expression.
pub(crate) fn allocations() -> Result<(usize, usize), String> {
    let count = |lines: usize| {
        let mut duel = Duel::new(lines)?;
        let before = alloc::allocations();
        duel.hits(1_000)?;
        Ok::<usize, String>(alloc::allocations() - before)
    };
    Ok((count(LINES)?, count(0)?))
}
