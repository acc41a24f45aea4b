//! Batches of facts: the log of a sim, or the facts of a client session with the outcome of each prediction.

use ugas_core::{Fact, Facts, Params};

/// Whether a fact of a batch is new, or reports the outcome of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// The fact is new: a sim emitted it, the client predicted it, the server reported it without a prediction, or it
    /// is local to the client.
    Happened,
    /// The server confirmed the predicted fact. The fact was already dispatched when the client predicted it.
    Confirmed,
    /// The fact was mispredicted. The fact was already dispatched when the client predicted it.
    Undone,
}

/// One fact of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchEntry<'a> {
    /// The fact.
    pub fact: &'a Fact,
    /// Whether the fact is new, confirmed or mispredicted.
    pub occurrence: Occurrence,
    /// Whether the server reported the fact and the client did not predict it. The client's sim may lack the state that
    /// such a fact refers to.
    pub is_replicated: bool,
}

/// A batch of facts that [`CueManager`](crate::CueManager) and [`Observers`](crate::Observers) can dispatch. [`Facts`]
/// of a sim implement this trait. With the feature `net`, the `NetFacts` of a client session implement it too.
pub trait FactBatch: private::Sealed {
    /// Returns the facts in order.
    fn entries(&self) -> impl Iterator<Item = BatchEntry<'_>>;
    /// Returns the named values of a fact of this batch.
    fn params(&self, fact: &Fact) -> Params<'_>;
}

mod private {
    pub trait Sealed {}
    impl Sealed for ugas_core::Facts {}
    #[cfg(feature = "net")]
    impl Sealed for ugas_net::client::NetFacts {}
}

impl FactBatch for Facts {
    fn entries(&self) -> impl Iterator<Item = BatchEntry<'_>> {
        self.list.iter().map(|fact| BatchEntry { fact, occurrence: Occurrence::Happened, is_replicated: false })
    }

    fn params(&self, fact: &Fact) -> Params<'_> {
        Facts::params(self, fact)
    }
}

#[cfg(feature = "net")]
impl FactBatch for ugas_net::client::NetFacts {
    fn entries(&self) -> impl Iterator<Item = BatchEntry<'_>> {
        use ugas_net::client::Certainty;
        self.iter().filter_map(|(fact, certainty)| {
            let occurrence = match certainty {
                Certainty::Predicted | Certainty::Server | Certainty::Local => Occurrence::Happened,
                Certainty::Confirmed => Occurrence::Confirmed,
                Certainty::Undone => Occurrence::Undone,
                // Neither confirmed nor reverted: the predicted fact stays as it is.
                Certainty::Unknown => return None,
            };
            Some(BatchEntry { fact, occurrence, is_replicated: certainty == Certainty::Server })
        })
    }

    fn params(&self, fact: &Fact) -> Params<'_> {
        ugas_net::client::NetFacts::params(self, fact)
    }
}
