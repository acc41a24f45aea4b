//! Determines the types of unquoted scalars, according to the core schema of YAML 1.2, which includes JSON. Unlike in
//! YAML 1.1, `yes` and `on` are strings and `0777` is the number 777.

use crate::NodeValue;

/// Returns the value of a plain (unquoted) scalar.
pub(crate) fn resolve(text: &str) -> NodeValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return NodeValue::Null,
        "true" | "True" | "TRUE" => return NodeValue::Bool(true),
        "false" | "False" | "FALSE" => return NodeValue::Bool(false),
        _ => {}
    }
    match number(text) {
        Some(n) => NodeValue::Number(n),
        None => NodeValue::Text(text.to_owned()),
    }
}

/// Parses a number; `.nan` and `.inf` are numbers here and rejected by typed values.
pub(crate) fn number(text: &str) -> Option<f64> {
    if let Some(octal) = text.strip_prefix("0o") {
        return digits(octal, 8);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return digits(hex, 16);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if unsigned.len() == text.len() => return Some(f64::NAN),
        _ => {}
    }
    // Rust's parser also accepts `inf`, `NaN` and `infinity`, which are texts.
    is_decimal(unsigned).then(|| unsigned.parse::<f64>().ok()).flatten().map(|n| sign * n)
}

/// Parses a number in base 8 or 16, rounded to `f64`.
fn digits(text: &str, base: u32) -> Option<f64> {
    if text.is_empty() {
        return None;
    }
    text.chars().try_fold(0.0, |n, c| c.to_digit(base).map(|d| n * f64::from(base) + f64::from(d)))
}

/// `digits`, `digits.`, `digits.digits` or `.digits`, with an optional exponent.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, fraction)) => {
            all_digits(whole) && all_digits(fraction) && !(whole.is_empty() && fraction.is_empty())
        }
        None => !mantissa.is_empty() && all_digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['-', '+']).unwrap_or(e);
        !e.is_empty() && all_digits(e)
    });
    mantissa_ok && exponent_ok
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_core_schema() {
        for (text, expected) in [
            ("0", 0.0),
            ("-1", -1.0),
            ("+12", 12.0),
            ("0777", 777.0),
            ("0o17", 15.0),
            ("0xFf", 255.0),
            ("1.", 1.0),
            (".5", 0.5),
            ("-.5e2", -50.0),
            ("1e-3", 0.001),
            ("6.02E+23", 6.02e23),
        ] {
            assert_eq!(number(text), Some(expected), "{text}");
        }
        assert!(number("-0").is_some_and(|n| n == 0.0 && n.is_sign_negative()));
        assert!(number(".nan").is_some_and(f64::is_nan));
        assert_eq!(number("-.inf"), Some(f64::NEG_INFINITY));
        assert_eq!(number("1e999"), Some(f64::INFINITY));
    }

    #[test]
    fn text_that_only_resembles_a_number_is_text() {
        for text in [
            "", ".", "-", "+", "e5", "1e", "1e+", "inf", "NaN", "-.nan", "0x", "0o8", "12f", "1_000", "1:30", "1.2.3",
            "--1", "-0x1", "0b1", "٣",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn words_of_yaml_1_1_are_texts() {
        for text in ["yes", "no", "on", "off", "y", "n", "tRUE", "nULL", "2024-01-01"] {
            assert_eq!(resolve(text), NodeValue::Text(text.to_owned()));
        }
        assert_eq!(resolve("True"), NodeValue::Bool(true));
        assert_eq!(resolve("~"), NodeValue::Null);
    }
}
