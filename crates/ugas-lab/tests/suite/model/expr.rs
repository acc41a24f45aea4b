//! Expressions, evaluated straight from their text each time they are asked for.

/// The value of `text`, or `None` where a name has no value.
pub(crate) fn value(text: &str, read: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut p = Parser { rest: text, read, missing: false, infinite: false };
    let v = p.or();
    assert!(p.rest.trim().is_empty(), "the model cannot read {text:?}");
    (!p.missing).then_some(v)
}

/// Whether a condition holds: it has a value other than 0, and no part of it that matters is infinite or NaN.
pub(crate) fn holds(text: &str, read: &dyn Fn(&str) -> Option<f64>) -> bool {
    let mut p = Parser { rest: text, read, missing: false, infinite: false };
    let v = p.or();
    assert!(p.rest.trim().is_empty(), "the model cannot read {text:?}");
    !p.missing && !p.infinite && v != 0.0
}

/// Every name in `text`.
pub(crate) fn names(text: &str) -> Vec<String> {
    let found = std::cell::RefCell::new(Vec::new());
    value(text, &|name| {
        found.borrow_mut().push(name.to_owned());
        Some(1.0)
    });
    found.into_inner()
}

struct Parser<'a> {
    rest: &'a str,
    read: &'a dyn Fn(&str) -> Option<f64>,
    missing: bool,
    /// A part of it is no finite number.
    infinite: bool,
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(token) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn or(&mut self) -> f64 {
        let mut v = self.and();
        while self.eat("||") {
            let before = (self.missing, self.infinite);
            let w = self.and();
            // A side that is not needed may lack anything.
            if v != 0.0 {
                (self.missing, self.infinite) = before;
            }
            v = truth(v != 0.0 || w != 0.0);
        }
        v
    }

    fn and(&mut self) -> f64 {
        let mut v = self.comparison();
        while self.eat("&&") {
            let before = (self.missing, self.infinite);
            let w = self.comparison();
            if v == 0.0 {
                (self.missing, self.infinite) = before;
            }
            v = truth(v != 0.0 && w != 0.0);
        }
        v
    }

    fn comparison(&mut self) -> f64 {
        let v = self.sum();
        if self.eat("<=") {
            truth(v <= self.sum())
        } else if self.eat(">=") {
            truth(v >= self.sum())
        } else if self.eat("<") {
            truth(v < self.sum())
        } else if self.eat(">") {
            truth(v > self.sum())
        } else {
            v
        }
    }

    fn sum(&mut self) -> f64 {
        let mut v = self.product();
        loop {
            if self.eat("+") {
                v += self.product();
            } else if self.eat("-") {
                v -= self.product();
            } else {
                return v;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut v = self.unary();
        loop {
            if self.eat("*") {
                v *= self.unary();
            } else if self.eat("/") {
                v /= self.unary();
            } else {
                return v;
            }
            self.infinite |= !v.is_finite();
        }
    }

    fn unary(&mut self) -> f64 {
        if self.eat("-") {
            -self.unary()
        } else if self.eat("!") {
            truth(self.unary() == 0.0)
        } else if self.eat("(") {
            let v = self.or();
            assert!(self.eat(")"));
            v
        } else {
            self.atom()
        }
    }

    fn atom(&mut self) -> f64 {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')).unwrap_or(rest.len());
        // A call with parentheses is one name.
        let end =
            if ["has_tag", "distance"].contains(&&rest[..end]) { rest.find(')').expect("closed") + 1 } else { end };
        let (word, after) = rest.split_at(end);
        self.rest = after;
        match word.parse::<f64>() {
            Ok(v) => v,
            Err(_) => (self.read)(word).unwrap_or_else(|| {
                self.missing = true;
                0.0
            }),
        }
    }
}

fn truth(b: bool) -> f64 {
    if b { 1.0 } else { 0.0 }
}
