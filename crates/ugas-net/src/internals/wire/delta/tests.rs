use super::super::token::MAX_DEPTH;
use super::*;
use proptest::prelude::*;
use serde::ser::{SerializeMap, SerializeSeq, SerializeTuple, SerializeTupleVariant};
use serde::{Serialize, Serializer};

/// An arbitrary serializable value.
#[derive(Clone, Debug)]
enum Value {
    Unit,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Float32(f32),
    Char(char),
    Str(String),
    Bytes(Vec<u8>),
    Maybe(Option<Box<Value>>),
    Seq(Vec<Value>),
    Tuple(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Variant(u32, Vec<Value>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Unit => to.serialize_unit(),
            Value::Bool(v) => to.serialize_bool(*v),
            Value::Unsigned(v) => to.serialize_u64(*v),
            Value::Signed(v) => to.serialize_i64(*v),
            Value::Float(v) => to.serialize_f64(*v),
            Value::Float32(v) => to.serialize_f32(*v),
            Value::Char(v) => to.serialize_char(*v),
            Value::Str(v) => to.serialize_str(v),
            Value::Bytes(v) => to.serialize_bytes(v),
            Value::Maybe(None) => to.serialize_none(),
            Value::Maybe(Some(v)) => to.serialize_some(v),
            Value::Seq(list) => {
                let mut group = to.serialize_seq(None)?;
                list.iter().try_for_each(|v| group.serialize_element(v))?;
                group.end()
            }
            Value::Tuple(list) => {
                let mut group = to.serialize_tuple(list.len())?;
                list.iter().try_for_each(|v| group.serialize_element(v))?;
                group.end()
            }
            Value::Map(list) => {
                let mut group = to.serialize_map(None)?;
                list.iter().try_for_each(|(k, v)| group.serialize_entry(k, v))?;
                group.end()
            }
            Value::Variant(index, list) if list.is_empty() => to.serialize_unit_variant("V", *index, "v"),
            Value::Variant(index, list) => {
                let mut group = to.serialize_tuple_variant("V", *index, "v", list.len())?;
                list.iter().try_for_each(|v| group.serialize_field(v))?;
                group.end()
            }
        }
    }
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Unit),
        Just(Value::Maybe(None)),
        any::<bool>().prop_map(Value::Bool),
        (0u64..20).prop_map(Value::Unsigned),
        any::<u64>().prop_map(Value::Unsigned),
        any::<i64>().prop_map(Value::Signed),
        (-400i32..400).prop_map(|v| Value::Float(v as f64 / 4.0)),
        any::<u64>().prop_map(|v| Value::Float(f64::from_bits(v))),
        any::<u32>().prop_map(|v| Value::Float32(f32::from_bits(v))),
        any::<char>().prop_map(Value::Char),
        "[a-zé]{0,6}".prop_map(Value::Str),
        prop::collection::vec(any::<u8>(), 0..10).prop_map(Value::Bytes),
        (0u32..4).prop_map(|v| Value::Variant(v, Vec::new())),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 120, 12, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..12);
        prop_oneof![
            inner.clone().prop_map(|v| Value::Maybe(Some(Box::new(v)))),
            list.clone().prop_map(Value::Seq),
            (list.clone(), 0u64..9).prop_map(|(list, from)| Value::Seq(numbered(list, from))),
            list.clone().prop_map(Value::Tuple),
            prop::collection::vec((inner.clone(), inner), 0..5).prop_map(Value::Map),
            (0u32..4, list).prop_map(|(index, list)| Value::Variant(index, list)),
        ]
    })
}

/// A typical list: each element starts with its number.
fn numbered(list: Vec<Value>, from: u64) -> Vec<Value> {
    let pair = |(n, v)| Value::Tuple(vec![Value::Unsigned(from + n as u64), v]);
    list.into_iter().enumerate().map(pair).collect()
}

/// A random number generator that decides where a value is edited.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % below.max(1)
    }
}

/// Changes a value at a random position.
fn edit(value: &mut Value, dice: &mut Dice, fresh: &Value) {
    match value {
        Value::Maybe(Some(inner)) if dice.roll(4) > 0 => edit(inner, dice, fresh),
        Value::Seq(list) if dice.roll(3) > 0 => edit_list(list, dice, fresh),
        Value::Map(list) if !list.is_empty() => {
            let at = dice.roll(list.len());
            match dice.roll(4) {
                0 => drop(list.remove(at)),
                1 => list.insert(at, (fresh.clone(), Value::Unit)),
                _ => edit(&mut list[at].1, dice, fresh),
            }
        }
        Value::Seq(list) | Value::Tuple(list) | Value::Variant(_, list) if !list.is_empty() && dice.roll(6) > 0 => {
            let at = dice.roll(list.len());
            edit(&mut list[at], dice, fresh);
        }
        Value::Unsigned(v) if dice.roll(4) > 0 => *v = v.wrapping_add(dice.roll(9) as u64),
        Value::Signed(v) if dice.roll(4) > 0 => *v = v.wrapping_sub(dice.roll(9) as i64),
        Value::Float(v) if dice.roll(4) > 0 => *v -= dice.roll(90) as f64 / 10.0,
        Value::Bool(v) if dice.roll(4) > 0 => *v = !*v,
        Value::Variant(index, _) if dice.roll(2) > 0 => *index = dice.roll(4) as u32,
        other => *other = fresh.clone(),
    }
}

fn edit_list(list: &mut Vec<Value>, dice: &mut Dice, fresh: &Value) {
    let at = dice.roll(list.len());
    match dice.roll(6) {
        0 => list.push(fresh.clone()),
        1 => list.insert(at, fresh.clone()),
        2 if !list.is_empty() => drop(list.remove(at)),
        3 if !list.is_empty() => list.swap(0, at),
        4 if !list.is_empty() => {
            let first = list.remove(0);
            list.push(first);
        }
        _ if !list.is_empty() => edit(&mut list[at], dice, fresh),
        _ => {}
    }
}

fn tokens(value: &impl Serialize) -> Tokens {
    let mut tokens = Tokens::new();
    tokens.write(value).unwrap();
    tokens
}

fn written(old: &Tokens, new: &Tokens) -> BitWriter {
    let mut out = BitWriter::new();
    encode(old, new, &mut out);
    out
}

/// Returns whether the sizes in the heads match the tokens that follow.
fn is_well_formed(tokens: &Tokens) -> bool {
    fn end_of(tokens: &Tokens, at: usize, depth: usize) -> usize {
        assert!(depth <= MAX_DEPTH);
        let token = tokens.list[at];
        let end = (0..token.count()).fold(at + 1, |child, _| end_of(tokens, child, depth + 1));
        assert_eq!(end - at, token.size as usize);
        end
    }
    tokens.is_empty() || end_of(tokens, 0, 0) == tokens.len()
}

/// Writes a delta, reads it and compares. Returns its bits.
fn round_trip(old: &Tokens, new: &Tokens) -> usize {
    let mut out = written(old, new);
    let bits = out.bit_len();
    let mut from = BitReader::new(out.finish());
    let mut back = tokens(&"what was there before");
    decode(old, &mut from, Limits::default(), &mut back).unwrap();
    assert_eq!(from.position(), bits as u64);
    assert_eq!(&back, new);
    assert!(is_well_formed(&back));
    bits
}

fn bits(old: &impl Serialize, new: &impl Serialize) -> usize {
    round_trip(&tokens(old), &tokens(new))
}

#[test]
fn no_change_takes_one_bit() {
    assert_eq!(bits(&vec![(1, "a", 0.5); 100], &vec![(1, "a", 0.5); 100]), 1);
    assert_eq!(round_trip(&Tokens::new(), &Tokens::new()), 1);
}

#[test]
fn a_value_can_appear_and_disappear() {
    round_trip(&Tokens::new(), &tokens(&(1, 2)));
    for old in [Value::Unit, Value::Float(0.5), Value::Tuple(vec![]), Value::Seq(vec![]), Value::Str("a".into())] {
        round_trip(&tokens(&old), &Tokens::new());
    }
}

#[test]
fn a_value_can_become_any_other_kind() {
    let of_each = [
        Value::Unit,
        Value::Bool(true),
        Value::Unsigned(5),
        Value::Signed(-5),
        Value::Float(f64::NAN),
        Value::Float(2.5),
        Value::Float32(0.1),
        Value::Char('c'),
        Value::Str("c".into()),
        Value::Bytes(vec![1]),
        Value::Maybe(None),
        Value::Maybe(Some(Box::new(Value::Unit))),
        Value::Seq(vec![]),
        Value::Seq(vec![Value::Unit]),
        Value::Tuple(vec![]),
        Value::Tuple(vec![Value::Unit]),
        Value::Tuple(vec![Value::Unit; 2]),
        Value::Tuple(vec![Value::Unit; 9]),
        Value::Map(vec![(Value::Unit, Value::Unit)]),
        Value::Variant(0, vec![]),
        Value::Variant(1, vec![Value::Unit]),
    ];
    for old in &of_each {
        for new in &of_each {
            bits(old, new);
            // After a float, where one more bit is written.
            let in_pair = |v: &Value| Value::Tuple(vec![Value::Float(1.0), v.clone()]);
            bits(&in_pair(old), &in_pair(new));
        }
    }
}

#[test]
fn one_change_of_many_takes_few_bits() {
    let old: Vec<(u32, f64, f64)> = (0..16).map(|n| (n, 100.0, 100.0)).collect();
    let mut new = old.clone();
    (new[9].1, new[9].2) = (83.0, 83.0);
    assert!(bits(&old, &new) <= 22, "{}", bits(&old, &new));
}

#[test]
fn a_removed_or_added_element_takes_few_bits() {
    let list: Vec<(u64, i64, Vec<u8>)> = (0..20).map(|n| (900 + n, n as i64 * 705_600_000, vec![n as u8; 3])).collect();
    for at in 0..20 {
        let mut less = list.clone();
        less.remove(at);
        assert!(bits(&list, &less) <= 15, "{}", bits(&list, &less));
    }
    let mut turned = list.clone();
    turned.remove(0);
    turned.push((920, 20 * 705_600_000, vec![19; 3]));
    assert!(bits(&list, &turned) <= 60, "{}", bits(&list, &turned));
    assert!(bits(&list, &list[..0].to_vec()) <= 16);
}

#[test]
fn expansion_beyond_the_limits_is_rejected() {
    // Each element equals the one before: one bit expands to a thousand tokens.
    let new = tokens(&vec![vec![0u8; 1000]; 1000]);
    let mut out = written(&Tokens::new(), &new);
    let mut back = Tokens::new();
    let limits = Limits { tokens: 5000, bytes: 10 };
    let read = decode(&Tokens::new(), &mut BitReader::new(out.finish()), limits, &mut back);
    assert_eq!(read, Err(WireError::TooLong { what: "the parts of a value", max: 5000 }));
    assert!(back.is_empty() && back.list.capacity() <= 2 * 5000);

    let mut out = written(&Tokens::new(), &tokens(&"more than ten bytes"));
    let read = decode(&Tokens::new(), &mut BitReader::new(out.finish()), limits, &mut back);
    assert_eq!(read, Err(WireError::TooLong { what: "a text", max: 10 }));
}

#[test]
fn nesting_is_bounded() {
    let mut out = BitWriter::new();
    out.bit(true);
    for _ in 0..100_000 {
        out.bits(Kind::Some as u64, KIND_BITS);
    }
    let read = decode(&Tokens::new(), &mut BitReader::new(out.finish()), Limits::default(), &mut Tokens::new());
    assert_eq!(read, Err(WireError::TooLong { what: "groups within groups", max: MAX_DEPTH as u64 }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_two_values_round_trip(old in value(), new in value()) {
        round_trip(&tokens(&old), &tokens(&new));
        round_trip(&Tokens::new(), &tokens(&new));
    }

    #[test]
    fn an_edited_value_round_trips(old in value(), fresh in value(), seed in any::<u64>(), edits in 1usize..8) {
        let (mut new, mut dice) = (old.clone(), Dice(seed));
        for _ in 0..edits {
            edit(&mut new, &mut dice, &fresh);
        }
        round_trip(&tokens(&old), &tokens(&new));
    }

    #[test]
    fn arbitrary_bytes_with_any_baseline_are_handled(
        old in value(),
        data in prop::collection::vec(any::<u8>(), 0..80),
        limit in 0usize..400,
    ) {
        let (old, mut back) = (tokens(&old), Tokens::new());
        let limits = Limits { tokens: limit, bytes: limit };
        let read = decode(&old, &mut BitReader::new(&data), limits, &mut back);
        prop_assert!(is_well_formed(&back));
        prop_assert!(back.len() <= limit && back.byte_len() <= limit);
        prop_assert!(read.is_ok() || back.is_empty());
        let _ = back.read::<Vec<(u32, String)>>();
        let _ = back.read::<std::collections::BTreeMap<u8, Option<f64>>>();
    }

    #[test]
    fn corrupted_bits_are_handled(old in value(), new in value(), other in value(), flips in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
        let (old, new, other) = (tokens(&old), tokens(&new), tokens(&other));
        let mut data = written(&old, &new).finish().to_vec();
        let mut back = Tokens::new();
        // With another baseline, then with flipped bits, then truncated.
        let _ = decode(&other, &mut BitReader::new(&data), Limits::default(), &mut back);
        prop_assert!(is_well_formed(&back));
        for flip in flips {
            let at = flip.index(data.len() * 8);
            data[at / 8] ^= 1 << (at % 8);
        }
        let _ = decode(&old, &mut BitReader::new(&data), Limits::default(), &mut back);
        prop_assert!(is_well_formed(&back));
        data.truncate(data.len() / 2);
        let _ = decode(&old, &mut BitReader::new(&data), Limits::default(), &mut back);
        prop_assert!(is_well_formed(&back));
    }
}
