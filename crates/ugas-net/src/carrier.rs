//! One connection: packet numbers, acknowledgements, reliable messages in order, the round trip.
