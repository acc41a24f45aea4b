//! Counter-based random numbers. Each number is a hash of the seed and of the values that identify the draw: the op,
//! the target, the application, the execution, the calculation and the index of the draw. The number does not depend on
//! earlier draws, so a replay, a client and a server get the same result for every roll.

/// The site that marks a description. No random numbers are drawn for descriptions.
pub(crate) const SITE_TEXT: u32 = u32::MAX;

/// The site of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrawAt {
    pub(crate) seed: u64,
    /// Whether the seed is known. A result that used an unknown seed is refused.
    pub(crate) known: bool,
    /// Whether the seed is that of a client's use.
    pub(crate) is_use: bool,
    pub(crate) sub: u16,
    pub(crate) target: u32,
    pub(crate) origin_id: u64,
    pub(crate) ordinal: u32,
    pub(crate) execution: u32,
    pub(crate) calculation: u32,
    pub(crate) site: u32,
    pub(crate) draw: u32,
}

/// One step of SplitMix64's finalizer: every input bit affects every output bit.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Folds a word into a running hash.
#[inline]
pub(crate) fn fold(hash: u64, word: u64) -> u64 {
    mix(hash.rotate_left(23) ^ word)
}

impl DrawAt {
    /// Returns a number in [0, 1) with 53 random bits.
    pub(crate) fn unit(&self) -> f64 {
        let words = [
            self.sub as u64,
            self.target as u64,
            self.origin_id,
            self.ordinal as u64,
            self.execution as u64,
            (self.calculation as u64) << 32 | self.site as u64,
            self.draw as u64,
        ];
        let h = words.iter().fold(mix(self.seed), |h, &w| fold(h, w));
        (h >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(draw: u32, seed: u64) -> DrawAt {
        DrawAt {
            seed,
            known: true,
            is_use: false,
            sub: 0,
            target: 1,
            origin_id: 2,
            ordinal: 0,
            execution: 0,
            calculation: 0,
            site: 0,
            draw,
        }
    }

    #[test]
    fn draws_are_uniform_enough_and_repeat() {
        let n = 100_000;
        let mean = (0..n).map(|i| at(i, 7).unit()).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        assert_eq!(at(3, 7).unit(), at(3, 7).unit());
        assert_ne!(at(3, 7).unit(), at(3, 8).unit());
        assert_ne!(at(3, 7).unit(), at(4, 7).unit());
    }
}
