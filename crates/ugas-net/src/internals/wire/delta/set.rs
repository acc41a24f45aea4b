//! The encoding of a selection of members: one bit per member, or a list of the selected members if few of many are
//! selected.

use super::super::bits::{BitReader, BitWriter, WireError};
use super::super::number::{get_uint, put_uint};

/// Returns the number of bits that distinguish `choices` values.
fn width(choices: usize) -> u32 {
    usize::BITS - choices.saturating_sub(1).leading_zeros()
}

const BAD: WireError = WireError::BadValue { what: "the members of a group" };

/// The ratio of members to selected ones from which on a list of gaps is shorter than one bit each.
const SPARSE: usize = 8;

/// Writes selected members of `0..of`, sorted by index. The empty set has a separate code.
///
/// | Members | Of two | Of more |
/// |---|---|---|
/// | one | `10`, `110` | `0`, index |
/// | two | `0` | `10`, indices |
/// | three | | `110`, indices |
/// | more | | `1110`, a bit each; `11110`, gaps |
/// | none | `111` | `11111` |
pub(super) fn put(out: &mut BitWriter, of: usize, picked: impl ExactSizeIterator<Item = usize> + Clone) {
    let count = picked.len();
    match (of, count) {
        (0, _) => {}
        (1, _) => out.bit(count == 0),
        (2, 0) => out.bits(0b111, 3),
        (2, 2) => out.bit(false),
        (2, _) if picked.clone().next() == Some(0) => out.bits(0b01, 2),
        (2, _) => out.bits(0b011, 3),
        (_, 0) => out.bits(0b11111, 5),
        (_, 1..=3) => {
            out.bits((1 << (count - 1)) - 1, count as u32);
            let (mut first, mut left) = (0, count);
            for index in picked {
                left -= 1;
                out.bits((index - first) as u64, width(of - left - first));
                first = index + 1;
            }
        }
        _ if of > count * SPARSE => {
            out.bits(0b01111, 5);
            put_uint(out, count as u64);
            let mut first = 0;
            for index in picked {
                put_uint(out, (index - first) as u64);
                first = index + 1;
            }
        }
        _ => {
            out.bits(0b0111, 4);
            let mut first = 0;
            for index in picked {
                zeros(out, index - first);
                out.bit(true);
                first = index + 1;
            }
            zeros(out, of - first);
        }
    }
}

fn zeros(out: &mut BitWriter, mut count: usize) {
    while count > 0 {
        out.bits(0, count.min(64) as u32);
        count -= count.min(64);
    }
}

/// Reads selected members and appends them to a list. Returns how many: at most the number of bits read, or three.
pub(super) fn get(from: &mut BitReader, of: usize, into: &mut Vec<u32>) -> Result<usize, WireError> {
    let base = into.len();
    let ones = from.ones([0, 1, 3].get(of).copied().unwrap_or(5))?;
    match (of, ones) {
        (0, _) | (1, 1) | (2, 3) | (_, 5) => {}
        (1, _) => into.push(0),
        (2, 0) => into.extend([0, 1]),
        (2, _) => into.push(ones - 1),
        (_, 0..=2) => {
            let (mut first, mut left) = (0, ones as usize + 1);
            while left > 0 {
                left -= 1;
                let choices = of.checked_sub(left + first).filter(|&c| c > 0).ok_or(BAD)?;
                let gap = from.bits(width(choices))? as usize;
                if gap >= choices {
                    return Err(BAD);
                }
                into.push((first + gap) as u32);
                first += gap + 1;
            }
        }
        (_, 3) => {
            from.need(of as u64)?;
            let mut first = 0;
            while first < of {
                let count = (of - first).min(64);
                let mut word = from.bits(count as u32)?;
                while word != 0 {
                    into.push(first as u32 + word.trailing_zeros());
                    word &= word - 1;
                }
                first += count;
            }
        }
        _ => {
            let count = get_uint(from)?;
            let mut first = 0u64;
            for _ in 0..count {
                let index = get_uint(from)?.checked_add(first).filter(|&i| i < of as u64).ok_or(BAD)?;
                into.push(index as u32);
                first = index + 1;
            }
        }
    }
    Ok(into.len() - base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(of: usize, picked: &[usize]) -> usize {
        let mut out = BitWriter::new();
        put(&mut out, of, picked.iter().copied());
        out.bit_len()
    }

    #[test]
    fn few_of_many_take_few_bits() {
        assert_eq!([bits(1, &[0]), bits(2, &[0, 1]), bits(2, &[0]), bits(3, &[1])], [1, 1, 2, 3]);
        assert_eq!([bits(7, &[4]), bits(16, &[1, 6]), bits(16, &[0, 1])], [4, 10, 10]);
        assert!(bits(1000, &[1, 2, 3, 4, 500]) < 60);
    }

    proptest! {
        #[test]
        fn a_set_round_trips(of in 0usize..300, seed in prop::collection::vec(any::<prop::sample::Index>(), 0..40)) {
            let mut picked: Vec<usize> = seed.iter().filter(|_| of > 0).map(|i| i.index(of.max(1))).collect();
            picked.sort();
            picked.dedup();
            let mut out = BitWriter::new();
            put(&mut out, of, picked.iter().copied());
            let written = out.bit_len() as u64;
            let (mut from, mut back) = (BitReader::new(out.finish()), vec![7]);
            prop_assert_eq!(get(&mut from, of, &mut back), Ok(picked.len()));
            prop_assert_eq!(back[1..].iter().map(|&i| i as usize).collect::<Vec<_>>(), picked);
            prop_assert_eq!(from.position(), written);
        }

        #[test]
        fn any_bytes_give_members_or_an_error(of in 0usize..300, data in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut back = Vec::new();
            if let Ok(count) = get(&mut BitReader::new(&data), of, &mut back) {
                prop_assert_eq!(count, back.len());
                prop_assert!(back.is_sorted_by(|a, b| a < b) && back.iter().all(|&i| (i as usize) < of));
            }
        }
    }
}
