//! Expressions: numbers, + − * / ( ), comparisons, && || !, and paths `Name`, `self.Name`, `source.Name`,
//! `target.Name`. Parsed once by precedence climbing into stack code; evaluation allocates nothing.
//!
//! The data issue extends this parser with functions; the shape stays.

use crate::AttributeId;

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

#[derive(Clone, Copy, Debug, PartialEq)]
enum Code {
    Number(f64),
    Read(Side, AttributeId),
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
    /// Compiles `text`; `attribute` resolves names and may say what was meant.
    pub(crate) fn parse(
        text: &str,
        attribute: &mut dyn FnMut(&str) -> Result<AttributeId, String>,
    ) -> Result<Expr, String> {
        if text.len() > MAX_TEXT {
            return Err(format!("longer than {MAX_TEXT} characters"));
        }
        let mut p = Parser { text, at: 0, attribute, code: Vec::new(), live: 0, deepest: 0, nesting: 0 };
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

    /// Its value; `None` from `read` makes the whole `None`.
    pub(crate) fn eval(&self, read: &mut dyn FnMut(Side, AttributeId) -> Option<f64>) -> Option<f64> {
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
                    stack[top] = read(side, a)?;
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
    attribute: &'a mut dyn FnMut(&str) -> Result<AttributeId, String>,
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

impl Parser<'_> {
    fn rest(&self) -> &str {
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
            Code::Number(_) | Code::Read(..) => self.live += 1,
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
        let path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let len = self.rest().find(|c: char| !path(c)).unwrap_or(self.rest().len());
        let column = self.text[..self.at].chars().count() + 1;
        let word = &self.text[self.at..self.at + len];
        let (side, name) = match word.split_once('.') {
            Some(("self", name)) => (Side::Own, name),
            Some(("source", name)) => (Side::Source, name),
            Some(("target", name)) => (Side::Target, name),
            _ => (Side::Own, word),
        };
        self.at += len;
        let id = (self.attribute)(name).map_err(|e| format!("column {column}: {e}"))?;
        self.push(Code::Read(side, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(text: &str) -> Result<f64, String> {
        let names = ["Health", "Defense", "Zero"];
        let expr = Expr::parse(text, &mut |n| {
            names.iter().position(|x| *x == n).map(|i| AttributeId(i as u32)).ok_or(format!("unknown {n}"))
        })?;
        Ok(expr.eval(&mut |_, a| Some([100.0, 5.0, 0.0][a.index()])).unwrap())
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
}
