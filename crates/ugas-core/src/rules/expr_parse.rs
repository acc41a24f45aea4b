//! The parser of expressions: precedence climbing over `|| && comparisons + - * /`, then the unary operators `-` and
//! `!`, then numbers, names, calls and brackets. An error message contains the column.

use super::curve::CurveDef;
use super::expr::{Binary, Code, Expr, Resolve, STACK, Side};
use super::interner::nearest;
use super::scope::{Local, Scope};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Maximum length of the text.
const MAX_TEXT: usize = 4096;
/// Maximum number of arguments of `min` and `max`.
const MAX_ARGUMENTS: usize = 16;
/// The functions, for error messages.
const FUNCTIONS: [&str; 14] = [
    "min", "max", "clamp", "abs", "floor", "ceil", "round", "pow", "sqrt", "if", "has_tag", "roll", "curve", "distance",
];

/// Compiles `text`, which may read the locals of `scope`.
pub(super) fn parse(text: &str, scope: Scope, names: &mut dyn Resolve) -> Result<Expr, String> {
    if text.len() > MAX_TEXT {
        return Err(format!("the expression has {} bytes; write at most {MAX_TEXT}", text.len()));
    }
    let (code, curves) = (Vec::new(), Vec::new());
    let mut p = ExprParser { text, at: 0, scope, names, code, curves, live: 0, deepest: 0, nesting: 0 };
    p.binary(0)?;
    p.space();
    if p.at < text.len() {
        return Err(p.expected("an operator or the end"));
    }
    Ok(Expr { text: text.trim().into(), code: p.code.into(), curves: p.curves.into(), depth: p.deepest })
}

struct ExprParser<'a> {
    text: &'a str,
    at: usize,
    scope: Scope,
    names: &'a mut dyn Resolve,
    code: Vec<Code>,
    curves: Vec<Arc<CurveDef>>,
    live: usize,
    deepest: usize,
    nesting: usize,
}

/// Operators in order of rising precedence. Within a level, longer operators come first.
const LEVELS: [&[(&str, Option<Binary>)]; 5] = [
    &[("||", None)],
    &[("&&", None)],
    &[
        ("<=", Some(Binary::LessEq)),
        (">=", Some(Binary::GreaterEq)),
        ("==", Some(Binary::Equal)),
        ("!=", Some(Binary::NotEqual)),
        ("<", Some(Binary::Less)),
        (">", Some(Binary::Greater)),
    ],
    &[("+", Some(Binary::Add)), ("-", Some(Binary::Sub)), ("−", Some(Binary::Sub))],
    &[("*", Some(Binary::Mul)), ("/", Some(Binary::Div))],
];

impl<'a> ExprParser<'a> {
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
        self.live = self.live.saturating_add_signed(code.effect());
        self.deepest = self.deepest.max(self.live);
        if self.deepest > STACK {
            return Err(format!("the expression nests more than {STACK} values; simplify it"));
        }
        self.code.push(code);
        Ok(())
    }

    fn operator(&mut self, level: usize) -> Option<(&'static str, Option<Binary>)> {
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
            return Err(format!("brackets nest deeper than {STACK}; simplify the expression"));
        }
        self.binary(level + 1)?;
        while let Some((sign, operator)) = self.operator(level) {
            match operator {
                Some(operator) => {
                    self.binary(level + 1)?;
                    self.push(Code::Binary(operator))?;
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
        self.space();
        if self.rest().starts_with('(') {
            return self.call(word, column);
        }
        let names = &mut *self.names;
        if let Some(local) = names.bound(word) {
            return self.push(Code::Local(local));
        }
        if let Some(name) = word.strip_prefix("params.") {
            let local = names.given(name).map_err(at)?;
            return self.push(Code::Local(local));
        }
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

    /// Reads a name with its dots and its namespace.
    fn word(&mut self) -> &'a str {
        let text = self.text;
        let rest = &text[self.at..];
        let path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let mut len = rest.find(|c: char| !path(c)).unwrap_or(rest.len());
        // A name in a namespace: `rpg::Health`.
        while rest[len..].strip_prefix("::").is_some_and(|r| r.starts_with(path)) {
            len += 2;
            len += rest[len..].find(|c: char| !path(c)).unwrap_or(rest.len() - len);
        }
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

    /// Parses the rest of a function call.
    fn call(&mut self, word: &str, column: usize) -> Result<(), String> {
        let some = 2..=MAX_ARGUMENTS;
        match word {
            "has_tag" => self.has_tag(column),
            "if" => self.choice(),
            "curve" => self.curve(),
            "roll" if !self.scope.rolls() => Err(format!("column {column}: roll can be used only in a calculation")),
            "roll" => self.arguments(word, 1..=1, Code::Roll),
            "distance" if !self.scope.has_distance() => {
                Err(format!("column {column}: distance() is not available here; remove it"))
            }
            "distance" => {
                self.sign("(")?;
                self.sign(")")?;
                self.push(Code::Local(Local::TargetDistance))
            }
            "min" => self.arguments(word, some, Code::Binary(Binary::Min)),
            "max" => self.arguments(word, some, Code::Binary(Binary::Max)),
            "clamp" => self.arguments(word, 3..=3, Code::Clamp),
            "pow" => self.arguments(word, 2..=2, Code::Binary(Binary::Pow)),
            "abs" => self.arguments(word, 1..=1, Code::Abs),
            "floor" => self.arguments(word, 1..=1, Code::Floor),
            "ceil" => self.arguments(word, 1..=1, Code::Ceil),
            "round" => self.arguments(word, 1..=1, Code::Round),
            "sqrt" => self.arguments(word, 1..=1, Code::Sqrt),
            _ => {
                let near = super::lookup::suggestion(nearest(word, FUNCTIONS.into_iter()));
                let help = if near.is_empty() { format!("; the functions are {}", FUNCTIONS.join(", ")) } else { near };
                Err(format!("column {column}: unknown function {word}{help}"))
            }
        }
    }

    /// Parses arguments and emits `code`. If `code` takes two operands, it is emitted for each pair of arguments,
    /// otherwise once.
    fn arguments(&mut self, word: &str, count: RangeInclusive<usize>, code: Code) -> Result<(), String> {
        self.sign("(")?;
        let pairs = code.effect() == -1;
        let mut given = 0;
        loop {
            self.binary(0)?;
            given += 1;
            if pairs && given > 1 {
                self.push(code)?;
            }
            self.space();
            if !self.rest().starts_with(',') {
                break;
            }
            if given == *count.end() {
                return Err(self.expected(&format!(") after {given} arguments of {word}")));
            }
            self.at += 1;
        }
        if given < *count.start() {
            return Err(self.expected(&format!(", and another argument of {word}")));
        }
        self.sign(")")?;
        if pairs { Ok(()) } else { self.push(code) }
    }

    /// Parses the rest of `if(condition, then, else)`; only the chosen side is evaluated.
    fn choice(&mut self) -> Result<(), String> {
        self.sign("(")?;
        self.binary(0)?;
        self.sign(",")?;
        let unless = self.code.len();
        self.push(Code::Unless(0))?;
        self.binary(0)?;
        self.sign(",")?;
        let jump = self.code.len();
        self.push(Code::Jump(0))?;
        self.code[unless] = Code::Unless(self.code.len() as u32);
        // Only one of the two sides pushes a value, so the stack depth counts only one value.
        self.live -= 1;
        self.binary(0)?;
        self.code[jump] = Code::Jump(self.code.len() as u32);
        self.sign(")")
    }

    /// Parses the rest of `curve(Name, x)`.
    fn curve(&mut self) -> Result<(), String> {
        self.sign("(")?;
        let column = self.column();
        let name = self.word();
        let curve = self.names.curve(name).map_err(|e| format!("column {column}: {e}"))?;
        self.sign(",")?;
        self.binary(0)?;
        self.sign(")")?;
        let at = self.curves.iter().position(|c| Arc::ptr_eq(c, &curve)).unwrap_or(self.curves.len());
        if at == self.curves.len() {
            self.curves.push(curve);
        }
        self.push(Code::Curve(at as u16))
    }

    /// Parses the rest of `has_tag(self, Tag.Name)`.
    fn has_tag(&mut self, column: usize) -> Result<(), String> {
        self.sign("(")?;
        let bearer = match (self.word(), self.scope.bearers()) {
            (_, []) => return Err(format!("column {column}: has_tag is not available here; remove it")),
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
