use super::*;
use proptest::prelude::*;

#[test]
fn a_complete_word_leaves_no_pending_bits() {
    let mut out = BitWriter::new();
    out.bits(u64::MAX, 64);
    assert_eq!(out.bit_len(), 64);
    out.bits(1, 1);
    out.bits(0, 63);
    out.bits(3, 2);
    assert_eq!(out.finish(), [255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0, 3]);
}

#[test]
fn writing_continues_after_finish() {
    let mut out = BitWriter::new();
    out.bits(1, 3);
    assert_eq!(out.finish(), [1]);
    out.bits(1, 3);
    assert_eq!(out.finish(), [0b1001]);
    out.bits(0xffff_ffff_ffff, 64);
    assert_eq!(out.bit_len(), 70);
    assert_eq!(out.finish().len(), 9);
}

#[test]
fn a_reader_does_not_read_past_the_end() {
    let mut from = BitReader::new(&[255]);
    assert!(from.bits(65).is_err());
    assert!(from.skip(9).is_err());
    assert!(from.bytes(usize::MAX, &mut Vec::new()).is_err());
    assert!(from.slice(usize::MAX).is_err());
    assert_eq!(from.bits(8), Ok(255));
    assert_eq!(from.bits(0), Ok(0));
    assert!(from.bit().is_err());
    from.align();
    assert_eq!(from.left(), 0);
}

/// A write operation.
#[derive(Clone, Debug)]
enum Step {
    Bits(u64, u32),
    Bytes(Vec<u8>),
    Align,
    Truncate(prop::sample::Index),
    Finish,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (any::<u64>(), 0u32..=64).prop_map(|(v, n)| Step::Bits(v, n)),
        2 => prop::collection::vec(any::<u8>(), 0..20).prop_map(Step::Bytes),
        1 => Just(Step::Align),
        1 => any::<prop::sample::Index>().prop_map(Step::Truncate),
        1 => Just(Step::Finish),
    ]
}

fn packed(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8).map(|c| c.iter().rev().fold(0, |all, &b| all << 1 | b as u8)).collect()
}

proptest! {
    #[test]
    fn a_writer_equals_a_list_of_bits(steps in prop::collection::vec(step(), 0..60)) {
        let (mut out, mut model) = (BitWriter::new(), Vec::<bool>::new());
        for step in steps {
            match step {
                Step::Bits(v, n) => {
                    out.bits(v, n);
                    model.extend((0..n).map(|i| v >> i & 1 == 1));
                }
                Step::Bytes(list) => {
                    out.bytes(&list);
                    model.extend(list.iter().flat_map(|b| (0..8).map(move |i| b >> i & 1 == 1)));
                }
                Step::Align => {
                    out.align();
                    model.resize(model.len().next_multiple_of(8), false);
                }
                Step::Truncate(at) => {
                    let at = at.index(model.len() + 1);
                    out.truncate(at);
                    model.truncate(at);
                }
                Step::Finish => prop_assert_eq!(out.finish(), packed(&model)),
            }
            prop_assert_eq!(out.bit_len(), model.len());
        }
        prop_assert_eq!(out.finish(), packed(&model));
    }

    #[test]
    fn a_reader_returns_the_bits_of_the_data(
        data in prop::collection::vec(any::<u8>(), 0..40),
        counts in prop::collection::vec(0u32..=64, 0..40),
    ) {
        let all: Vec<bool> = data.iter().flat_map(|b| (0..8).map(move |i| b >> i & 1 == 1)).collect();
        let (mut from, mut at) = (BitReader::new(&data), 0);
        for count in counts {
            let expected = all.get(at..at + count as usize);
            let expected = expected.map(|b| b.iter().rev().fold(0, |all, &b| all << 1 | b as u64));
            prop_assert_eq!(from.bits(count).ok(), expected);
            at += expected.map_or(0, |_| count as usize);
        }
    }

    #[test]
    fn a_range_of_bits_is_copied(
        data in prop::collection::vec(any::<u8>(), 0..40),
        before in 0u32..64,
        from in 0usize..330,
        count in 0usize..330,
    ) {
        let mut out = BitWriter::new();
        out.bits(0, before);
        let fits = from + count <= data.len() * 8;
        prop_assert_eq!(out.append(&data, from, count).is_ok(), fits);
        prop_assert_eq!(out.bit_len(), before as usize + if fits { count } else { 0 });
        let bytes = out.finish();
        for i in (0..count).take_while(|_| fits) {
            let (a, b) = (from + i, before as usize + i);
            prop_assert_eq!(data[a / 8] >> (a % 8) & 1, bytes[b / 8] >> (b % 8) & 1);
        }
    }

    #[test]
    fn ones_equals_counting_bit_by_bit(data in prop::collection::vec(any::<u8>(), 0..6), at in 0u64..50, most in 0u32..=32) {
        let mut slow = BitReader::new(&data);
        prop_assume!(slow.skip(at).is_ok());
        let (mut fast, mut ones) = (slow.clone(), Ok(0));
        while let Ok(n) = ones && n < most {
            match slow.bit() {
                Ok(true) => ones = Ok(n + 1),
                Ok(false) => break,
                Err(e) => ones = Err(e),
            }
        }
        prop_assert_eq!(fast.ones(most).ok(), ones.ok());
        if ones.is_ok() {
            prop_assert_eq!(fast.position(), slow.position());
        }
    }
}
