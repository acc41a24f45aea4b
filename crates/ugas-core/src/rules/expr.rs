//! Expressions: numbers, + − * / ( ), comparisons, && || !, paths `Name`, `self.Name`, `source.Name`, `target.Name`,
//! `has_tag(self, Tag.Name)`, and what the place lends: `level`, `param.X`, `event.Magnitude` and the like. Parsed
//! once by precedence climbing into stack code; evaluation allocates nothing.
//!
//! The data issue extends this parser with functions; the shape stays.

use super::scope::{Bearer, Local, Scope};
use crate::{AttributeId, KeyId, TagId};

/// Whose attribute a path reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// The controller the expression belongs to; for an effect the target.
    Own,
    /// The instigator.
    Source,
    /// The controller the effect acts on.
    Target,
}

/// What an expression reads while it is evaluated. `None` makes the whole value `None`.
pub(crate) trait Reads {
    /// An attribute's current value.
    fn attribute(&mut self, side: Side, attribute: AttributeId) -> Option<f64>;
    /// Whether a tag or a descendant of it is there.
    fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool>;
    /// What the place lends.
    fn local(&mut self, local: Local) -> Option<f64>;
}

/// Turns the names of an expression into ids, or says what was meant.
pub(crate) trait Resolve {
    fn attribute(&mut self, name: &str) -> Result<AttributeId, String>;
    fn tag(&mut self, name: &str) -> Result<TagId, String>;
    fn key(&mut self, name: &str) -> Result<KeyId, String>;
}

/// Reads attributes only.
struct Values<'a>(&'a mut dyn FnMut(Side, AttributeId) -> Option<f64>);

impl Reads for Values<'_> {
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
enum Code {
    Number(f64),
    Read(Side, AttributeId),
    Has(Bearer, TagId),
    Local(Local),
    Neg,
    Not,
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
    /// Jumps over the right side if the left decides; leaves 0 or 1.
    And(u32),
    Or(u32),
    Truth,
}

/// A compiled expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    code: Box<[Code]>,
    depth: usize,
}

/// Values nest at most this deep on the stack.
const STACK: usize = 64;
/// Longest accepted text.
const MAX_TEXT: usize = 4096;

impl Expr {
    /// Compiles `text`, which may read what `scope` lends.
    pub(crate) fn parse(text: &str, scope: Scope, names: &mut dyn Resolve) -> Result<Expr, String> {
        if text.len() > MAX_TEXT {
            return Err(format!("longer than {MAX_TEXT} characters"));
        }
        let mut p = Parser { text, at: 0, scope, names, code: Vec::new(), live: 0, deepest: 0, nesting: 0 };
        p.binary(0)?;
        p.space();
        if p.at < text.len() {
            return Err(p.expected("an operator or the end"));
        }
        Ok(Expr { code: p.code.into(), depth: p.deepest })
    }

    /// Every attribute it reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (Side, AttributeId)> {
        self.code.iter().filter_map(|c| match c {
            Code::Read(side, a) => Some((*side, *a)),
            _ => None,
        })
    }

    /// Whether it looks at anybody but its own controller.
    pub(crate) fn is_foreign(&self) -> bool {
        self.code.iter().any(|c| match c {
            Code::Read(side, _) => *side != Side::Own,
            Code::Has(bearer, _) => *bearer != Bearer::Own,
            _ => false,
        })
    }

    /// The value of an expression that reads nothing but attributes.
    pub(crate) fn eval(&self, read: &mut dyn FnMut(Side, AttributeId) -> Option<f64>) -> Option<f64> {
        self.eval_with(&mut Values(read))
    }

    /// Whether it holds: its value is there, finite and not 0.
    pub(crate) fn holds(&self, reads: &mut dyn Reads) -> bool {
        self.eval_with(reads).is_some_and(|v| v.is_finite() && v != 0.0)
    }

    /// Its value; `None` from `reads` makes the whole `None`.
    pub(crate) fn eval_with(&self, reads: &mut dyn Reads) -> Option<f64> {
        debug_assert!(self.depth <= STACK);
        let mut stack = [0.0f64; STACK];
        let (mut top, mut pc) = (0usize, 0usize);
        let truth = |b: bool| if b { 1.0 } else { 0.0 };
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
                _ => {
                    let (a, b) = (stack[top - 2], stack[top - 1]);
                    top -= 1;
                    stack[top - 1] = match *code {
                        Code::Add => a + b,
                        Code::Sub => a - b,
                        Code::Mul => a * b,
                        Code::Div => a / b,
                        Code::Less => truth(a < b),
                        Code::LessEq => truth(a <= b),
                        Code::Greater => truth(a > b),
                        Code::GreaterEq => truth(a >= b),
                        Code::Equal => truth(a == b),
                        _ => truth(a != b),
                    };
                }
            }
        }
        Some(stack[0])
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    scope: Scope,
    names: &'a mut dyn Resolve,
    code: Vec<Code>,
    live: usize,
    deepest: usize,
    nesting: usize,
}

/// Operators from loose to tight; longer spellings first.
const LEVELS: [&[(&str, Option<Code>)]; 5] = [
    &[("||", None)],
    &[("&&", None)],
    &[
        ("<=", Some(Code::LessEq)),
        (">=", Some(Code::GreaterEq)),
        ("==", Some(Code::Equal)),
        ("!=", Some(Code::NotEqual)),
        ("<", Some(Code::Less)),
        (">", Some(Code::Greater)),
    ],
    &[("+", Some(Code::Add)), ("-", Some(Code::Sub)), ("−", Some(Code::Sub))],
    &[("*", Some(Code::Mul)), ("/", Some(Code::Div))],
];

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn expected(&self, what: &str) -> String {
        let found = self.rest().chars().take(12).collect::<String>();
        let found = if found.is_empty() { "the end".to_owned() } else { format!("{found:?}") };
        format!("column {}: expected {what}, found {found}", self.text[..self.at].chars().count() + 1)
    }

    fn push(&mut self, code: Code) -> Result<(), String> {
        match code {
            Code::Number(_) | Code::Read(..) | Code::Has(..) | Code::Local(_) => self.live += 1,
            Code::Neg | Code::Not | Code::Truth => {}
            _ => self.live -= 1,
        }
        self.deepest = self.deepest.max(self.live);
        if self.deepest > STACK {
            return Err(format!("nests deeper than {STACK} values"));
        }
        self.code.push(code);
        Ok(())
    }

    fn operator(&mut self, level: usize) -> Option<(&'static str, Option<Code>)> {
        self.space();
        let found = LEVELS[level].iter().find(|(s, _)| self.rest().starts_with(s)).copied()?;
        self.at += found.0.len();
        Some(found)
    }

    fn binary(&mut self, level: usize) -> Result<(), String> {
        if level == LEVELS.len() {
            return self.unary();
        }
        self.nesting += 1;
        if self.nesting > STACK * LEVELS.len() {
            return Err(format!("brackets nest deeper than {STACK}"));
        }
        self.binary(level + 1)?;
        while let Some((sign, code)) = self.operator(level) {
            match code {
                Some(code) => {
                    self.binary(level + 1)?;
                    self.push(code)?;
                }
                None => {
                    let at = self.code.len();
                    self.push(if sign == "&&" { Code::And(0) } else { Code::Or(0) })?;
                    self.binary(level + 1)?;
                    self.push(Code::Truth)?;
                    let end = self.code.len() as u32;
                    self.code[at] = if sign == "&&" { Code::And(end) } else { Code::Or(end) };
                }
            }
        }
        self.nesting -= 1;
        Ok(())
    }

    fn unary(&mut self) -> Result<(), String> {
        let mut signs = Vec::new();
        loop {
            self.space();
            let Some(c) = self.rest().chars().next() else {
                return Err(self.expected("a number, a name or ("));
            };
            match c {
                '-' | '−' => signs.push(Code::Neg),
                '!' => signs.push(Code::Not),
                _ => break,
            }
            self.at += c.len_utf8();
        }
        self.primary()?;
        while let Some(sign) = signs.pop() {
            self.push(sign)?;
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<(), String> {
        let c = self.rest().chars().next().unwrap_or(' ');
        if c == '(' {
            self.at += 1;
            self.binary(0)?;
            self.space();
            if !self.rest().starts_with(')') {
                return Err(self.expected(")"));
            }
            self.at += 1;
            return Ok(());
        }
        if c.is_ascii_digit() || c == '.' {
            let mut len = self.rest().find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(self.rest().len());
            if self.rest()[len..].starts_with(['e', 'E']) {
                let tail = &self.rest()[len + 1..];
                let sign = tail.starts_with(['+', '-']) as usize;
                let digits = tail[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len() - sign);
                if digits > 0 {
                    len += 1 + sign + digits;
                }
            }
            let number: f64 = self.rest()[..len].parse().map_err(|_| self.expected("a number"))?;
            if !number.is_finite() {
                return Err(self.expected("a finite number"));
            }
            self.at += len;
            return self.push(Code::Number(number));
        }
        if !(c.is_ascii_alphabetic() || c == '_') {
            return Err(self.expected("a number, a name or ("));
        }
        let column = self.column();
        let word = self.word();
        let at = |e: String| format!("column {column}: {e}");
        if word == "has_tag" {
            return self.has_tag(column);
        }
        let names = &mut *self.names;
        if let Some(local) = self.scope.local(word, &mut |key| names.key(key)) {
            return self.push(Code::Local(local.map_err(at)?));
        }
        let (side, name) = match word.split_once('.') {
            Some(("self", name)) => (Side::Own, name),
            Some(("source", name)) => (Side::Source, name),
            Some(("target", name)) => (Side::Target, name),
            _ => (Side::Own, word),
        };
        let id = self.names.attribute(name).map_err(at)?;
        self.push(Code::Read(side, id))
    }

    fn column(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }

    /// A name with its dots.
    fn word(&mut self) -> &'a str {
        let text = self.text;
        let rest = &text[self.at..];
        let path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let len = rest.find(|c: char| !path(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn sign(&mut self, sign: &str) -> Result<(), String> {
        self.space();
        if !self.rest().starts_with(sign) {
            return Err(self.expected(sign));
        }
        self.at += sign.len();
        self.space();
        Ok(())
    }

    /// The rest of `has_tag(self, Tag.Name)`.
    fn has_tag(&mut self, column: usize) -> Result<(), String> {
        self.sign("(")?;
        let bearer = match (self.word(), self.scope.bearers()) {
            (_, []) => return Err(format!("column {column}: has_tag cannot be asked here")),
            (word, known) => match known.iter().find(|b| b.word() == word) {
                Some(bearer) => *bearer,
                None => {
                    let words: Vec<&str> = known.iter().map(|b| b.word()).collect();
                    let whose = words.join(", ");
                    return Err(format!("column {column}: has_tag takes one of {whose} and a tag, found {word:?}"));
                }
            },
        };
        self.sign(",")?;
        let column = self.column();
        let name = self.word();
        let tag = self.names.tag(name).map_err(|e| format!("column {column}: {e}"))?;
        self.sign(")")?;
        self.push(Code::Has(bearer, tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Known;
    impl Resolve for Known {
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
    }

    fn eval(text: &str) -> Result<f64, String> {
        let expr = Expr::parse(text, Scope::VALUES, &mut Known)?;
        Ok(expr.eval(&mut |_, a| Some([100.0, 5.0, 0.0][a.index()])).unwrap())
    }

    /// Health is 100 everywhere, the own controller is alive, the event is a death.
    struct World;
    impl Reads for World {
        fn attribute(&mut self, _: Side, a: AttributeId) -> Option<f64> {
            Some([100.0, 5.0, 0.0][a.index()])
        }
        fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool> {
            match bearer {
                Bearer::Own => Some(tag == TagId(1)),
                Bearer::Event => Some(tag == TagId(0)),
                Bearer::Source | Bearer::Target => None,
            }
        }
        fn local(&mut self, local: Local) -> Option<f64> {
            match local {
                Local::Level => Some(3.0),
                Local::Magnitude => Some(40.0),
                Local::Tick => Some(2.0),
                Local::Caller(KeyId(7)) => Some(0.5),
                Local::Param(p) => (p == crate::ParamId::named("Charge")).then_some(0.7),
                _ => None,
            }
        }
    }

    fn task(text: &str) -> Result<Option<f64>, String> {
        Ok(Expr::parse(text, Scope::TASK, &mut Known)?.eval_with(&mut World))
    }

    fn rule(text: &str) -> Result<Option<f64>, String> {
        Ok(Expr::parse(text, Scope::RULE, &mut Known)?.eval_with(&mut World))
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
    fn slips_are_told_with_their_column() {
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
    fn tags_and_lent_values_are_read_where_they_exist() {
        assert_eq!(task("has_tag(self, State.Alive) && !has_tag( event , State.Alive )"), Ok(Some(1.0)));
        assert_eq!(task("level * 10 + cast.Tick + event.Magnitude / 4"), Ok(Some(42.0)));
        assert_eq!(task("param.Charge + 1"), Ok(Some(1.7)));
        assert_eq!(rule("sbc.Data.Power * level"), Ok(Some(1.5)));
        assert_eq!(rule("event.Direct"), Ok(None));
        assert_eq!(task("param.Other"), Ok(None));
        assert_eq!(task("has_tag(target, State.Dead)"), Ok(None));
        assert!(Expr::parse("target.Health > 1", Scope::TASK, &mut Known).unwrap().is_foreign());
        assert!(!Expr::parse("Health > level", Scope::TASK, &mut Known).unwrap().is_foreign());
    }

    #[test]
    fn what_a_place_does_not_lend_is_a_slip_with_its_column() {
        assert_eq!(eval("1 + level").unwrap_err(), "column 5: unknown level");
        assert_eq!(eval("has_tag(self, State.Dead)").unwrap_err(), "column 1: has_tag cannot be asked here");
        assert!(task("has_tag(who, State.Dead)").unwrap_err().contains("self, source, target, event"));
        assert_eq!(task("has_tag(self, State.Ded)").unwrap_err(), "column 15: unknown tag State.Ded");
        assert!(task("has_tag(self State.Dead)").unwrap_err().contains("expected ,"));
        assert_eq!(
            task("event.Magnitud").unwrap_err(),
            "column 1: event has no Magnitud; did you mean event.Magnitude?"
        );
        assert_eq!(task("event.Direct").unwrap_err(), "column 1: event.Direct cannot be read here");
        assert_eq!(task("sbc.Data.Power").unwrap_err(), "column 1: sbc.Data.Power cannot be read here");
        assert_eq!(rule("param.Charge").unwrap_err(), "column 1: param.Charge cannot be read here");
        assert_eq!(rule("sbc.Power").unwrap_err(), "column 1: unknown key Power");
    }
}
