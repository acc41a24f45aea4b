//! Expressions as stack code: numbers, attributes, tags, curves, functions and the locals of their scope (`level`,
//! `param.X`, `event.Magnitude` and so on). An expression is compiled once. Its evaluation allocates no memory.

use super::curve::CurveDef;
use super::scope::{Bearer, Local, Scope};
use crate::{AttributeId, KeyId, TagId};
use std::sync::Arc;

/// The controller whose attribute a path reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// The controller that the expression belongs to. For an effect, this is the target.
    Own,
    /// The instigator.
    Source,
    /// The controller that the effect is applied to, or the target of the ability.
    Target,
}

/// The values that an expression reads. If one value is `None`, the result is `None`.
pub(crate) trait Reads {
    /// Returns an attribute's current value.
    fn attribute(&mut self, side: Side, attribute: AttributeId) -> Option<f64>;
    /// Returns whether a tag or a descendant of it is present.
    fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool>;
    /// Returns a local of the scope.
    fn local(&mut self, local: Local) -> Option<f64>;
    /// Returns whether a random number falls below `chance`. Only calculations can draw random numbers.
    fn roll(&mut self, _chance: f64) -> Option<bool> {
        None
    }
}

/// Resolves the names of an expression to ids, or returns an error with a suggestion.
pub(crate) trait Resolve {
    fn attribute(&mut self, name: &str) -> Result<AttributeId, String>;
    fn tag(&mut self, name: &str) -> Result<TagId, String>;
    fn key(&mut self, name: &str) -> Result<KeyId, String>;
    fn curve(&mut self, name: &str) -> Result<Arc<CurveDef>, String>;
    /// Resolves a `Let` name of an earlier expression.
    fn bound(&mut self, _name: &str) -> Option<Local> {
        None
    }
    /// Resolves a parameter of an execution.
    fn given(&mut self, name: &str) -> Result<Local, String> {
        Err(format!("params.{name} can be read only in a calculation"))
    }
}

/// Reads attributes only.
struct AttributeReads<'a>(&'a mut dyn FnMut(Side, AttributeId) -> Option<f64>);

impl Reads for AttributeReads<'_> {
    fn attribute(&mut self, side: Side, attribute: AttributeId) -> Option<f64> {
        (self.0)(side, attribute)
    }
    fn tag(&mut self, _: Bearer, _: TagId) -> Option<bool> {
        None
    }
    fn local(&mut self, _: Local) -> Option<f64> {
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Code {
    Number(f64),
    Read(Side, AttributeId),
    Has(Bearer, TagId),
    Local(Local),
    Neg,
    Not,
    Binary(Binary),
    /// Skips the right operand if the left operand determines the result. Pushes 0 or 1.
    And(u32),
    Or(u32),
    Truth,
    /// Pops the condition and jumps if it is 0.
    Unless(u32),
    Jump(u32),
    /// The operands are the value, the lower bound and the upper bound.
    Clamp,
    Abs,
    Floor,
    Ceil,
    Round,
    Sqrt,
    Roll,
    /// The value of one of the expression's curves.
    Curve(u16),
}

/// An operator or function of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Less,
    LessEq,
    Greater,
    GreaterEq,
    Equal,
    NotEqual,
    Min,
    Max,
    Pow,
}

impl Binary {
    #[inline]
    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Less => truth(a < b),
            Binary::LessEq => truth(a <= b),
            Binary::Greater => truth(a > b),
            Binary::GreaterEq => truth(a >= b),
            Binary::Equal => truth(a == b),
            Binary::NotEqual => truth(a != b),
            Binary::Min => a.min(b),
            Binary::Max => a.max(b),
            Binary::Pow => libm::pow(a, b),
        }
    }
}

#[inline]
fn truth(b: bool) -> f64 {
    if b { 1.0 } else { 0.0 }
}

impl Code {
    /// Returns the change of the stack depth.
    pub(super) fn effect(self) -> isize {
        match self {
            Code::Number(_) | Code::Read(..) | Code::Has(..) | Code::Local(_) => 1,
            Code::Neg | Code::Not | Code::Truth | Code::Jump(_) => 0,
            Code::Abs | Code::Floor | Code::Ceil | Code::Round | Code::Sqrt | Code::Roll | Code::Curve(_) => 0,
            Code::Binary(_) | Code::And(_) | Code::Or(_) | Code::Unless(_) => -1,
            Code::Clamp => -2,
        }
    }
}

/// The error of a condition in which an evaluated part is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotFinite;

/// A compiled expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(super) text: Box<str>,
    pub(super) code: Box<[Code]>,
    pub(super) curves: Box<[Arc<CurveDef>]>,
    pub(super) depth: usize,
}

/// Maximum depth of the stack.
pub(super) const STACK: usize = 64;
/// The stack size of most expressions; a small stack is cheap to initialize.
const SMALL_STACK: usize = 8;

impl Expr {
    /// Compiles `text`, which may read the locals of `scope`.
    pub(crate) fn parse(text: &str, scope: Scope, names: &mut dyn Resolve) -> Result<Expr, String> {
        super::expr_parse::parse(text, scope, names)
    }

    /// Returns an expression that is one number.
    pub(crate) fn constant(value: f64) -> Expr {
        let code = Box::new([Code::Number(value)]);
        Expr { text: value.to_string().into(), code, curves: Box::default(), depth: 1 }
    }

    /// Returns the authored expression.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Iterates over the attributes that the expression reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (Side, AttributeId)> {
        self.code.iter().filter_map(|c| if let Code::Read(side, a) = c { Some((*side, *a)) } else { None })
    }

    /// Calls `visit` with each tag that the expression tests.
    pub(crate) fn each_tag(&self, visit: &mut dyn FnMut(TagId)) {
        self.code.iter().filter_map(|c| if let Code::Has(_, tag) = c { Some(*tag) } else { None }).for_each(visit);
    }

    /// Returns whether the expression draws random numbers.
    pub(crate) fn rolls(&self) -> bool {
        self.code.contains(&Code::Roll)
    }

    /// Returns whether the expression reads a controller other than its own.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other instruction reads another controller")]
    pub(crate) fn is_foreign(&self) -> bool {
        self.code.iter().any(|c| match c {
            Code::Read(side, _) => *side != Side::Own,
            Code::Has(bearer, _) => *bearer != Bearer::Own,
            Code::Local(local) => *local == Local::TargetDistance,
            _ => false,
        })
    }

    /// Evaluates an expression that reads only attributes.
    pub(crate) fn eval(&self, read: &mut dyn FnMut(Side, AttributeId) -> Option<f64>) -> Option<f64> {
        self.eval_with(&mut AttributeReads(read))
    }

    /// Evaluates a condition. A condition is true if its value is not 0. Returns `None` if a value is missing, and an
    /// error if an evaluated part is not finite.
    pub(crate) fn condition(&self, reads: &mut dyn Reads) -> Result<Option<bool>, NotFinite> {
        let mut finite = true;
        let value = if self.depth <= SMALL_STACK {
            self.run::<SMALL_STACK, true>(reads, &mut finite)
        } else {
            self.run::<STACK, true>(reads, &mut finite)
        };
        if finite { Ok(value.map(|v| v != 0.0)) } else { Err(NotFinite) }
    }

    /// Evaluates the expression. Returns `None` if a value that the expression reads is missing.
    pub(crate) fn eval_with(&self, reads: &mut dyn Reads) -> Option<f64> {
        debug_assert!(self.depth <= STACK);
        let any = &mut true;
        if self.depth <= SMALL_STACK {
            self.run::<SMALL_STACK, false>(reads, any)
        } else {
            self.run::<STACK, false>(reads, any)
        }
    }

    /// Runs the code. If `TEST` is set, `finite` becomes false when an intermediate value is not finite.
    fn run<const N: usize, const TEST: bool>(&self, reads: &mut dyn Reads, finite: &mut bool) -> Option<f64> {
        let mut stack = [0.0f64; N];
        let (mut top, mut pc) = (0usize, 0usize);
        while let Some(code) = self.code.get(pc) {
            pc += 1;
            match *code {
                Code::Number(n) => {
                    stack[top] = n;
                    top += 1;
                }
                Code::Read(side, a) => {
                    stack[top] = reads.attribute(side, a)?;
                    top += 1;
                }
                Code::Has(bearer, tag) => {
                    stack[top] = truth(reads.tag(bearer, tag)?);
                    top += 1;
                }
                Code::Local(local) => {
                    stack[top] = reads.local(local)?;
                    top += 1;
                }
                Code::Neg => stack[top - 1] = -stack[top - 1],
                Code::Not => stack[top - 1] = truth(stack[top - 1] == 0.0),
                Code::Truth => stack[top - 1] = truth(stack[top - 1] != 0.0),
                Code::And(over) | Code::Or(over) => {
                    let decided = (stack[top - 1] != 0.0) == matches!(code, Code::Or(_));
                    if decided {
                        stack[top - 1] = truth(stack[top - 1] != 0.0);
                        pc = over as usize;
                    } else {
                        top -= 1;
                    }
                }
                Code::Unless(elsewhere) => {
                    top -= 1;
                    if stack[top] == 0.0 {
                        pc = elsewhere as usize;
                    }
                }
                Code::Jump(to) => pc = to as usize,
                Code::Clamp => {
                    top -= 2;
                    stack[top - 1] = super::clamp(stack[top - 1], stack[top], stack[top + 1]);
                }
                Code::Abs => stack[top - 1] = stack[top - 1].abs(),
                Code::Floor => stack[top - 1] = libm::floor(stack[top - 1]),
                Code::Ceil => stack[top - 1] = libm::ceil(stack[top - 1]),
                Code::Round => stack[top - 1] = libm::round(stack[top - 1]),
                Code::Sqrt => stack[top - 1] = libm::sqrt(stack[top - 1]),
                Code::Roll => stack[top - 1] = truth(reads.roll(stack[top - 1])?),
                Code::Curve(i) => stack[top - 1] = self.curves[i as usize].at(stack[top - 1]),
                Code::Binary(op) => {
                    top -= 1;
                    stack[top - 1] = op.apply(stack[top - 1], stack[top]);
                }
            }
            if TEST && top > 0 && !stack[top - 1].is_finite() {
                *finite = false;
            }
        }
        Some(stack[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct KnownNames;
    impl Resolve for KnownNames {
        fn attribute(&mut self, name: &str) -> Result<AttributeId, String> {
            let at = ["Health", "Defense", "Zero"].iter().position(|x| *x == name);
            at.map(|i| AttributeId(i as u32)).ok_or(format!("unknown {name}"))
        }
        fn tag(&mut self, name: &str) -> Result<TagId, String> {
            let at = ["State.Dead", "State.Alive"].iter().position(|x| *x == name);
            at.map(|i| TagId(i as u32)).ok_or(format!("unknown tag {name}"))
        }
        fn key(&mut self, name: &str) -> Result<KeyId, String> {
            if name == "Data.Power" { Ok(KeyId(7)) } else { Err(format!("unknown key {name}")) }
        }
        fn curve(&mut self, name: &str) -> Result<Arc<CurveDef>, String> {
            let falloff = CurveDef::new(&ugas_doc::Curve::new("C_Falloff", [(0.0, 1.0), (10.0, 0.5)])).unwrap();
            if name == "C_Falloff" { Ok(Arc::new(falloff)) } else { Err(format!("unknown curve {name}")) }
        }
    }

    fn eval(text: &str) -> Result<f64, String> {
        let expr = Expr::parse(text, Scope::VALUES, &mut KnownNames)?;
        Ok(expr.eval(&mut |_, a| Some([100.0, 5.0, 0.0][a.index()])).unwrap())
    }

    /// Health is 100 for all controllers, the expression's own controller is alive, the event is a death.
    struct World;
    impl Reads for World {
        fn attribute(&mut self, _: Side, a: AttributeId) -> Option<f64> {
            Some([100.0, 5.0, 0.0][a.index()])
        }
        fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool> {
            match bearer {
                Bearer::Own => Some(tag == TagId(1)),
                Bearer::Event => Some(tag == TagId(0)),
                Bearer::Source | Bearer::Target | Bearer::Hit => None,
            }
        }
        fn local(&mut self, local: Local) -> Option<f64> {
            match local {
                Local::Level => Some(3.0),
                Local::Magnitude => Some(40.0),
                Local::Tick => Some(2.0),
                Local::Caller(KeyId(7)) => Some(0.5),
                Local::TargetDistance => Some(8.0),
                Local::Param(p) => (p == crate::ParamId::named("Charge")).then_some(0.7),
                _ => None,
            }
        }
    }

    fn task(text: &str) -> Result<Option<f64>, String> {
        Ok(Expr::parse(text, Scope::TASK, &mut KnownNames)?.eval_with(&mut World))
    }

    fn rule(text: &str) -> Result<Option<f64>, String> {
        Ok(Expr::parse(text, Scope::RULE, &mut KnownNames)?.eval_with(&mut World))
    }

    #[test]
    fn arithmetic_follows_precedence() {
        assert_eq!(eval("Health * (1 + Defense / 100)").unwrap(), 105.0);
        assert_eq!(eval("1 + 2 * 3 - 4 / 2").unwrap(), 5.0);
        assert_eq!(eval("-2 * -3 - -1").unwrap(), 7.0);
        assert_eq!(eval("8 / 4 / 2").unwrap(), 1.0);
        assert_eq!(eval("2.5e2 + .5").unwrap(), 250.5);
    }

    #[test]
    fn comparisons_and_logic_give_zero_or_one() {
        assert_eq!(eval("Health > 50 && Defense <= 5").unwrap(), 1.0);
        assert_eq!(eval("Health < 50 || !Zero").unwrap(), 1.0);
        assert_eq!(eval("Zero && Health / Zero > 1").unwrap(), 0.0);
        assert_eq!(eval("1 == 1 && 2 != 2").unwrap(), 0.0);
        assert_eq!(eval("5 && 7").unwrap(), 1.0);
    }

    #[test]
    fn functions_compute_without_the_platform() {
        for (text, value) in [
            ("min(3, 1, 2)", 1.0),
            ("max(3, Health, 2)", 100.0),
            ("clamp(Health, 0, 60)", 60.0),
            ("clamp(-5, 0, 60)", 0.0),
            ("clamp(5, 8, 2)", 8.0),
            ("abs(-2.5) + floor(-2.5) + ceil(2.1) + round(2.5)", 2.5 - 3.0 + 3.0 + 3.0),
            ("pow(2, 10) + sqrt(81)", 1033.0),
            ("if(Health > 50, 1, Health / Zero)", 1.0),
            ("if (Zero, 1, if(1, 2, 3)) * 10", 20.0),
            ("curve(C_Falloff, 5) * 8", 6.0),
            ("curve(C_Falloff, Health)", 0.5),
        ] {
            assert_eq!(eval(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_wrong_call_is_an_error_with_its_reason() {
        assert_eq!(eval("maxx(1, 2)").unwrap_err(), "column 1: unknown function maxx; did you mean max?");
        assert_eq!(eval("min(1)").unwrap_err(), "column 6: expected , and another argument of min, found \")\"");
        assert_eq!(eval("abs(1, 2)").unwrap_err(), "column 6: expected ) after 1 arguments of abs, found \", 2)\"");
        assert_eq!(eval("curve(C_Fallof, 1)").unwrap_err(), "column 7: unknown curve C_Fallof");
        assert_eq!(eval("roll(0.5)").unwrap_err(), "column 1: roll can be used only in a calculation");
        assert_eq!(eval("params.Scale").unwrap_err(), "column 1: params.Scale can be read only in a calculation");
        assert!(eval("if(1, 2)").unwrap_err().contains("expected ,"));
        assert!(eval(&format!("{}1{}", "abs(".repeat(700), ")".repeat(700))).unwrap_err().contains("nest"));
    }

    #[test]
    fn errors_name_their_column() {
        assert_eq!(eval("1 + ").unwrap_err(), "column 5: expected a number, a name or (, found the end");
        assert_eq!(eval("1 + Helth").unwrap_err(), "column 5: unknown Helth");
        assert!(eval("(1 + 2").unwrap_err().contains("expected )"));
        assert!(eval("1 2").unwrap_err().contains("operator"));
        assert!(eval(&"(".repeat(3000)).unwrap_err().contains("nest"));
        assert!(eval(&"1+(".repeat(1000)).unwrap_err().contains("nest"));
        assert!(eval(&"-".repeat(4000)).is_err());
        assert!(eval("1e999").is_err());
    }

    #[test]
    fn tags_and_locals_are_read_in_their_scope() {
        assert_eq!(task("has_tag(self, State.Alive) && !has_tag( event , State.Alive )"), Ok(Some(1.0)));
        assert_eq!(task("level * 10 + cast.Tick + event.Magnitude / 4"), Ok(Some(42.0)));
        assert_eq!(task("param.Charge + 1"), Ok(Some(1.7)));
        assert_eq!(rule("sbc.Data.Power * level"), Ok(Some(1.5)));
        assert_eq!(rule("event.Direct"), Ok(None));
        assert_eq!(task("param.Other"), Ok(None));
        assert_eq!(task("has_tag(target, State.Dead)"), Ok(None));
        assert!(Expr::parse("target.Health > 1", Scope::TASK, &mut KnownNames).unwrap().is_foreign());
        assert!(!Expr::parse("Health > level", Scope::TASK, &mut KnownNames).unwrap().is_foreign());
        assert_eq!(task("distance( ) * 2 + 1"), Ok(Some(17.0)));
        assert!(Expr::parse("distance() < 5", Scope::ACTIVATION, &mut KnownNames).unwrap().is_foreign());
        assert_eq!(eval("distance()").unwrap_err(), "column 1: distance() is not available here; remove it");
        assert!(task("distance(1)").unwrap_err().contains("expected )"));
    }

    #[test]
    fn locals_outside_their_scope_are_errors_with_a_column() {
        assert_eq!(eval("1 + level").unwrap_err(), "column 5: unknown level");
        assert_eq!(
            eval("has_tag(self, State.Dead)").unwrap_err(),
            "column 1: has_tag is not available here; remove it"
        );
        assert!(task("has_tag(who, State.Dead)").unwrap_err().contains("self, source, target, event, hit"));
        assert_eq!(task("has_tag(self, State.Ded)").unwrap_err(), "column 15: unknown tag State.Ded");
        assert!(task("has_tag(self State.Dead)").unwrap_err().contains("expected ,"));
        assert_eq!(
            task("event.Magnitud").unwrap_err(),
            "column 1: event has no Magnitud; did you mean event.Magnitude?"
        );
        assert_eq!(task("event.Direct").unwrap_err(), "column 1: event.Direct is not available here; remove it");
        assert_eq!(task("sbc.Data.Power").unwrap_err(), "column 1: sbc.Data.Power is not available here; remove it");
        assert_eq!(rule("param.Charge").unwrap_err(), "column 1: param.Charge is not available here; remove it");
        assert_eq!(rule("sbc.Power").unwrap_err(), "column 1: unknown key Power");
    }
}
