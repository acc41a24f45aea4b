//! How long the way there and back is: smoothed as in RFC 6298, with the time after which silence means loss.

use ugas_core::SimTime;

/// The smoothed round trip and how much it varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RoundTrip {
    smoothed: Option<SimTime>,
    variation: SimTime,
}

impl RoundTrip {
    pub(super) fn measured(&mut self, sample: SimTime) {
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

    /// After how long without word a packet is taken for lost. Never below `least`; `most` until something was measured.
    pub(super) fn patience(&self, least: SimTime, most: SimTime) -> SimTime {
        let Some(smoothed) = self.smoothed else { return least.max(SimTime(most.0 / 4)) };
        let patience = SimTime(smoothed.0.saturating_add(self.variation.0.saturating_mul(4)));
        patience.min(most).max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_follows_the_rfc() {
        let mut trip = RoundTrip::default();
        trip.measured(SimTime::millis(100));
        assert_eq!((trip.smoothed(), trip.variation()), (Some(SimTime::millis(100)), SimTime::millis(50)));
        trip.measured(SimTime::millis(180));
        // The variation moves by a quarter of |80 - 50|, the mean by an eighth of 80.
        assert_eq!(trip.smoothed(), Some(SimTime::millis(110)));
        assert_eq!(trip.variation(), SimTime(SimTime::millis(575).0 / 10));
    }

    #[test]
    fn patience_stays_between_its_bounds() {
        let (least, most) = (SimTime::millis(50), SimTime::millis(1000));
        let mut trip = RoundTrip::default();
        assert_eq!(trip.patience(least, most), SimTime::millis(250));
        trip.measured(SimTime::millis(1));
        assert_eq!(trip.patience(least, most), least);
        trip.measured(SimTime::seconds(1e9));
        assert_eq!(trip.patience(least, most), most);
    }
}
