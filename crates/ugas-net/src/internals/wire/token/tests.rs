use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Debug;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    x: f64,
    y: f32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Marker;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Id(u32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Nothing,
    Dot(Id),
    Line(Point, Point),
    Named { name: String, at: Option<Box<Shape>> },
    Wrapped(()),
}

fn round_trip<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let mut tokens = Tokens::new();
    tokens.write(value).unwrap();
    tokens.read().unwrap()
}

fn assert_round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T) {
    assert_eq!(round_trip(&value), value);
}

#[test]
fn values_of_every_kind_round_trip() {
    assert_round_trip((u8::MAX, u16::MAX, u32::MAX, u64::MAX, u128::MAX));
    assert_round_trip((i8::MIN, i16::MIN, i32::MIN, i64::MIN, i128::MIN));
    assert_round_trip((true, false, 'x', '\u{10ffff}', String::new(), "größer".to_string()));
    assert_round_trip(((), Marker, Id(7), Some(Id(8)), None::<u8>, Some(None::<u8>), Some(())));
    assert_round_trip([Some(Some(1u8)), Some(None), None]);
    assert_round_trip(vec![vec![1u8, 2], vec![], vec![3]]);
    assert_round_trip(BTreeMap::from([("a".to_string(), vec![1]), ("b".to_string(), vec![])]));
    assert_round_trip(BTreeMap::<u8, BTreeMap<(u8, u8), bool>>::from([(1, BTreeMap::from([((2, 3), true)]))]));
    assert_round_trip(std::num::NonZero::new(5i64));
    let line = Shape::Line(Point { x: 0.1, y: 0.2 }, Point { x: -0.0, y: f32::INFINITY });
    let named = |at| Shape::Named { name: "n".into(), at };
    assert_round_trip(vec![Shape::Nothing, Shape::Dot(Id(0)), line.clone(), named(None), named(Some(Box::new(line)))]);
    assert_round_trip(Shape::Wrapped(()));
}

#[test]
fn floats_keep_every_bit() {
    for bits in [f64::NAN.to_bits(), 0x7ff0_0000_0000_0001, 0xfff8_0000_dead_beef, (-0.0f64).to_bits(), 1] {
        assert_eq!(round_trip(&f64::from_bits(bits)).to_bits(), bits);
    }
    for bits in [f32::NAN.to_bits(), 0x7fc0_0001, (-0.0f32).to_bits()] {
        assert_eq!(round_trip(&f32::from_bits(bits)).to_bits(), bits);
    }
}

#[test]
fn another_type_is_an_error() {
    let mut tokens = Tokens::new();
    tokens.write(&(1u32, "text", Some(2u8))).unwrap();
    assert_eq!(tokens.read::<(u32, String)>(), Err(TokenError::LeftOver { left: 1 }));
    assert!(tokens.read::<(u32, String, Option<u8>, u8)>().is_err());
    assert!(tokens.read::<(u32, u32, Option<u8>)>().is_err());
    assert!(tokens.read::<Shape>().is_err());
    assert!(tokens.read::<BTreeMap<u8, u8>>().is_err());
    assert!(tokens.read::<u128>().is_err());
    tokens.write(&300u16).unwrap();
    assert!(tokens.read::<u8>().is_err());
    tokens.write(&Shape::Nothing).unwrap();
    assert!(tokens.read::<u8>().is_err());
    tokens.clear();
    assert_eq!(tokens.read::<u8>(), Err(TokenError::Unexpected { found: "the end", expected: "a value" }));
}

#[test]
fn an_enum_reads_only_its_own_variants() {
    let mut tokens = Tokens::new();
    for token in [(9, 0), (0, 1), (1, 0), (2, 1), (4, 2)].map(|(i, n)| Token::leaf(Kind::Variant, n << 32 | i)) {
        tokens.list = vec![token, Token::UNIT];
        assert!(tokens.read::<Shape>().is_err());
    }
}

/// A nested value.
#[derive(Serialize, Deserialize)]
struct Nest(Option<Box<Nest>>);

#[test]
fn nesting_is_limited() {
    let deep = |n| (0..n).fold(Nest(None), |inner, _| Nest(Some(Box::new(inner))));
    let mut tokens = Tokens::new();
    assert_eq!(tokens.write(&deep(MAX_DEPTH)), Ok(()));
    assert!(tokens.read::<Nest>().is_ok());
    assert_eq!(tokens.write(&deep(MAX_DEPTH + 1)), Err(TokenError::TooDeep));
    assert!(tokens.is_empty());
}

#[test]
fn equality_is_bit_for_bit() {
    let tokens = |value: &(f64, Vec<&str>)| {
        let mut tokens = Tokens::new();
        tokens.write(value).unwrap();
        tokens
    };
    assert_eq!(tokens(&(f64::NAN, vec!["a"])), tokens(&(f64::NAN, vec!["a"])));
    assert_ne!(tokens(&(0.0, vec![])), tokens(&(-0.0, vec![])));
    assert_ne!(tokens(&(0.0, vec!["a", "b"])), tokens(&(0.0, vec!["b", "a"])));
    assert_ne!(tokens(&(0.0, vec!["a"])), tokens(&(0.0, vec!["a", ""])));
    assert_ne!(tokens(&(0.0, vec![])), Tokens::new());
}

#[test]
fn writing_again_does_not_allocate() {
    let mut tokens = Tokens::new();
    tokens.write(&vec![("text", 1.0); 50]).unwrap();
    let before = (tokens.list.as_ptr(), tokens.bytes.as_ptr());
    tokens.write(&vec![("more", 2.0); 50]).unwrap();
    assert_eq!((tokens.list.as_ptr(), tokens.bytes.as_ptr()), before);
}
