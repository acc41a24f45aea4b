//! A simulated link with a seed: latency, jitter, loss in bursts, reordering, duplication, bandwidth.
