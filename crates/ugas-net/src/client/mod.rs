//! The client session: prediction, reconciliation, proxies.
