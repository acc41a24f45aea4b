//! Replays every input of the packet corpora without a fuzzer.

#[path = "../../../../fuzz/src/net/mod.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate has these in its library")]
mod net;
#[path = "../../../../fuzz/src/replay.rs"]
#[expect(unreachable_pub, reason = "shared with the suite of ugas-data")]
mod replay;

#[test]
fn every_network_corpus_is_replayed() {
    for (target, body) in net::TARGETS {
        replay::replay(target, body, 8, |_| false);
    }
}
