//! A token bucket: it limits the rate of packets and computes only with integers.

use std::time::Duration;

const NANOS: u64 = 1_000_000_000;

/// A token bucket: an average rate with a burst limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    per_second: u64,
    /// The level in packets times nanoseconds, so that fractions of a packet are kept between polls.
    level: u64,
    most: u64,
}

impl Bucket {
    /// Creates a full bucket.
    pub(crate) fn new(per_second: u32, burst: u32) -> Bucket {
        let most = burst as u64 * NANOS;
        Bucket { per_second: per_second as u64, level: most, most }
    }

    /// Adds the packets of the elapsed time.
    pub(crate) fn refill(&mut self, elapsed: Duration) {
        let nanos = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.level = self.level.saturating_add(nanos.saturating_mul(self.per_second)).min(self.most);
    }

    /// Takes one packet from the bucket. Returns `false` if the bucket is empty.
    pub(crate) fn take(&mut self) -> bool {
        match self.level.checked_sub(NANOS) {
            Some(level) => {
                self.level = level;
                true
            }
            None => false,
        }
    }

    /// Returns a packet to the bucket.
    pub(crate) fn give_back(&mut self) {
        self.level = self.level.saturating_add(NANOS).min(self.most);
    }

    /// Returns whether the bucket is full, as a new one is.
    pub(crate) fn is_full(&self) -> bool {
        self.level == self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_burst_is_accepted_and_then_the_rate_limits() {
        let mut bucket = Bucket::new(10, 3);
        assert_eq!((0..5).filter(|_| bucket.take()).count(), 3);
        bucket.refill(Duration::from_millis(99));
        assert!(!bucket.take());
        bucket.refill(Duration::from_millis(1));
        assert!(bucket.take());
        bucket.refill(Duration::MAX);
        assert_eq!((0..5).filter(|_| bucket.take()).count(), 3, "at most a burst accumulates");
    }

    proptest! {
        /// Compares with the definition: the level is the sum of refills, capped at each step, minus the taken packets.
        #[test]
        fn the_level_equals_exact_arithmetic(
            rate in 0u32..5_000,
            burst in 0u32..50,
            steps in prop::collection::vec((0u64..2_000_000_000, 0usize..60), 0..40),
        ) {
            let mut bucket = Bucket::new(rate, burst);
            let most = burst as u128 * NANOS as u128;
            let mut level = most;
            for (nanos, wanted) in steps {
                bucket.refill(Duration::from_nanos(nanos));
                level = (level + nanos as u128 * rate as u128).min(most);
                let passed = (0..wanted).filter(|_| bucket.take()).count();
                let expected = wanted.min((level / NANOS as u128) as usize);
                prop_assert_eq!(passed, expected);
                level -= expected as u128 * NANOS as u128;
            }
        }
    }
}
