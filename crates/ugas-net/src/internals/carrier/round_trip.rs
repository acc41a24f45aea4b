//! The round trip time, smoothed as in RFC 6298, and the timeout after which a packet counts as lost.

use ugas_core::SimTime;

/// The smoothed round trip time and its variation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RoundTrip {
    smoothed: Option<SimTime>,
    variation: SimTime,
}

impl RoundTrip {
    /// Adds a measured round trip.
    pub(super) fn add_sample(&mut self, sample: SimTime) {
        let sample = sample.max(SimTime::ZERO).0;
        match &mut self.smoothed {
            None => {
                self.smoothed = Some(SimTime(sample));
                self.variation = SimTime(sample / 2);
            }
            Some(smoothed) => {
                let distance = smoothed.0.saturating_sub(sample).saturating_abs();
                self.variation.0 += (distance - self.variation.0) / 4;
                smoothed.0 += (sample - smoothed.0) / 8;
            }
        }
    }

    pub(super) fn smoothed(&self) -> Option<SimTime> {
        self.smoothed
    }

    pub(super) fn variation(&self) -> SimTime {
        self.variation
    }

    /// Returns the time without an ack after which a packet counts as lost, between `least` and `most`. Before the
    /// first sample it is a quarter of `most`.
    pub(super) fn loss_timeout(&self, least: SimTime, most: SimTime) -> SimTime {
        let Some(smoothed) = self.smoothed else { return least.max(SimTime(most.0 / 4)) };
        let loss_timeout = SimTime(smoothed.0.saturating_add(self.variation.0.saturating_mul(4)));
        loss_timeout.min(most).max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_follows_the_rfc() {
        let mut trip = RoundTrip::default();
        trip.add_sample(SimTime::millis(100));
        assert_eq!((trip.smoothed(), trip.variation()), (Some(SimTime::millis(100)), SimTime::millis(50)));
        trip.add_sample(SimTime::millis(180));
        // The variation moves by a quarter of |80 - 50|, the mean by an eighth of 80.
        assert_eq!(trip.smoothed(), Some(SimTime::millis(110)));
        assert_eq!(trip.variation(), SimTime(SimTime::millis(575).0 / 10));
    }

    #[test]
    fn the_loss_timeout_stays_within_its_bounds() {
        let (least, most) = (SimTime::millis(50), SimTime::millis(1000));
        let mut trip = RoundTrip::default();
        assert_eq!(trip.loss_timeout(least, most), SimTime::millis(250));
        trip.add_sample(SimTime::millis(1));
        assert_eq!(trip.loss_timeout(least, most), least);
        trip.add_sample(SimTime::seconds(1e9));
        assert_eq!(trip.loss_timeout(least, most), most);
    }
}
