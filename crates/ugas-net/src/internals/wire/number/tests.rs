use super::*;
use proptest::prelude::*;

fn written(write: impl FnOnce(&mut BitWriter)) -> BitWriter {
    let mut out = BitWriter::new();
    write(&mut out);
    out
}

fn fraction_bits(value: f64, before: f64) -> usize {
    written(|out| put_f64(out, value, before)).bit_len()
}

#[test]
fn small_numbers_are_short_and_large_ones_bounded() {
    assert_eq!([uint_bits(0), uint_bits(7), uint_bits(8), uint_bits(71), uint_bits(72)], [4, 4, 8, 8, 13]);
    assert!(uint_bits(u64::MAX / 3) <= 72);
    // A second in flicks, and "never".
    assert!(uint_bits(zigzag(SimTime::seconds(1.0).0)) <= 27);
    assert!(uint_bits(zigzag(SimTime::NEVER.0)) <= 12);
    // A counter in the upper part of a word.
    assert!(uint_bits(zigzag(1 << 19)) <= 18);
}

#[test]
fn numbers_at_the_edges_of_size_classes_round_trip() {
    let edges = (0..64).flat_map(|shift| (0..160).map(move |d| (1u64 << shift).wrapping_add(d).wrapping_sub(80)));
    let sums = [8, 72, 1096, 66632, 16843848, 4311811144, 281479288521800].iter().flat_map(|&e| [e - 1, e, e + 1]);
    for value in edges.chain(sums) {
        let mut out = written(|out| put_uint(out, value));
        let bits = out.bit_len() as u64;
        let mut from = BitReader::new(out.finish());
        assert_eq!(get_uint(&mut from), Ok(value));
        assert_eq!(from.position(), bits, "{value}");
        assert_eq!(uint_bits(value), bits as usize, "{value}");
    }
}

#[test]
fn typical_floats_are_short() {
    assert_eq!(fraction_bits(83.0, 100.0), 9);
    assert_eq!(fraction_bits(41.5, 50.0), 15);
    assert!(fraction_bits(99.95, 100.0) <= 12);
    assert_eq!(fraction_bits(1.0 / 3.0, 1.0), 67);
    assert_eq!(fraction_bits((1.0f32 / 3.0) as f64, 1.0), 35);
}

#[test]
fn floats_round_trip_bit_for_bit() {
    let nan = |payload: u64| f64::from_bits(0x7ff0_0000_0000_0000 | payload);
    let values = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -f64::NAN,
        nan(1),
        nan(0x000f_edcb_a987_6543),
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        f64::MAX,
        0.1 + 0.2,
        9_007_199_254_740_993.0,
        -9_007_199_254_740_992.0,
        1e15,
        0.0001,
        1234.5678,
    ];
    for value in values {
        for before in values {
            let mut out = written(|out| put_f64(out, value, before));
            let back = get_f64(&mut BitReader::new(out.finish()), before).unwrap();
            assert_eq!(back.to_bits(), value.to_bits(), "{value} after {before}");
        }
    }
}

// covers: UGAS-13.3-04
#[test]
fn health_fits_into_one_byte() {
    let health = Quantizer::new(0.0, 100.0, 8).unwrap();
    let code = health.encode(50.0);
    assert!(code == 127 || code == 128, "{code}");
    assert!((health.decode(code) - 50.0).abs() <= 0.4);
    assert_eq!((health.encode(0.0), health.encode(100.0)), (0, 255));
    assert_eq!((health.decode(0), health.decode(255)), (0.0, 100.0));
    let mut out = written(|out| health.put(out, 50.0));
    assert_eq!(out.bit_len(), 8);
    assert_eq!(health.get(&mut BitReader::new(out.finish())), Ok(health.decode(code)));
}

#[test]
fn a_quantizer_rejects_bounds_without_a_distance() {
    let bounds = [(1.0, 1.0, 8), (2.0, 1.0, 8), (f64::NAN, 1.0, 8), (f64::MIN, f64::MAX, 8), (0.0, f64::INFINITY, 8)];
    for (min, max, bits) in bounds.into_iter().chain([(0.0, 1.0, 0), (0.0, 1.0, 33)]) {
        assert_eq!(Quantizer::new(min, max, bits), None);
    }
    let q = Quantizer::new(-5.0, 5.0, 10).unwrap();
    assert_eq!([q.encode(f64::NAN), q.encode(f64::NEG_INFINITY), q.encode(f64::INFINITY)], [0, 0, 1023]);
    assert_eq!(q.decode(u32::MAX), 5.0);
}

#[test]
fn a_time_that_overflows_is_an_error() {
    let mut out = written(|out| {
        out.bit(false);
        put_int(out, i64::MAX - 5);
    });
    let read = get_time(&mut BitReader::new(out.finish()), Tick(3), SimTime::millis(20));
    assert_eq!(read, Err(WireError::BadValue { what: "a time in ticks" }));
}

/// Typical values of a game, and arbitrary bits.
fn fraction() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => any::<u64>().prop_map(f64::from_bits),
        3 => (-100_000i64..100_000, 0usize..5).prop_map(|(u, p)| of_units(u, p)),
        1 => any::<f32>().prop_map(|v| v as f64),
        1 => -1e6f64..1e6,
    ]
}

proptest! {
    #[test]
    fn numbers_round_trip(values in prop::collection::vec((any::<u64>(), 0u32..64), 0..30)) {
        let mut out = BitWriter::new();
        for &(value, shift) in &values {
            put_uint(&mut out, value >> shift);
            put_int(&mut out, value as i64 >> shift);
        }
        let mut from = BitReader::new(out.finish());
        for (value, shift) in values {
            prop_assert_eq!(get_uint(&mut from), Ok(value >> shift));
            prop_assert_eq!(get_int(&mut from), Ok(value as i64 >> shift));
        }
    }

    #[test]
    fn floats_round_trip(value in fraction(), before in fraction()) {
        let mut out = written(|out| put_f64(out, value, before));
        prop_assert!(out.bit_len() <= 67);
        prop_assert_eq!(get_f64(&mut BitReader::new(out.finish()), before).unwrap().to_bits(), value.to_bits());
    }

    #[test]
    fn times_round_trip(
        time in prop_oneof![any::<i64>(), (-500i64..500).prop_map(|n| n * 14_112_000), Just(i64::MAX), Just(i64::MIN)],
        base in any::<u32>(),
        length in prop_oneof![Just(14_112_000), any::<i64>()],
    ) {
        let (time, base, length) = (SimTime(time), Tick(base), SimTime(length));
        let mut out = written(|out| put_time(out, time, base, length));
        prop_assert_eq!(get_time(&mut BitReader::new(out.finish()), base, length), Ok(time));
    }

    #[test]
    fn a_quantized_value_is_within_the_maximum_error(
        min in -1e6f64..1e6,
        distance in 1e-3f64..1e6,
        bits in 1u32..=32,
        share in -0.5f64..1.5,
    ) {
        let q = Quantizer::new(min, min + distance, bits).unwrap();
        let value = min + share * distance;
        let back = q.decode(q.encode(value));
        let inside = value.clamp(min, min + distance);
        prop_assert!((back - inside).abs() <= q.max_error(), "{back} for {inside} within {}", q.max_error());
        prop_assert_eq!(q.encode(back), q.encode(value));
    }

    #[test]
    fn any_bytes_give_numbers_or_an_error(data in prop::collection::vec(any::<u8>(), 0..40), before in fraction()) {
        let mut from = BitReader::new(&data);
        while from.left() > 0 {
            let start = from.position();
            let _ = get_uint(&mut from.clone());
            let _ = get_f64(&mut from.clone(), before);
            let _ = get_time(&mut from, Tick(u32::MAX), SimTime(before.to_bits() as i64));
            if from.position() == start {
                break;
            }
        }
    }
}
