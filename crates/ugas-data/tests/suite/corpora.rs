//! Every input of the corpora of files, without a fuzzer.

#[path = "../../../../fuzz/src/body/mod.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate has these in its library")]
mod body;
#[path = "../../../../fuzz/src/replay.rs"]
#[expect(unreachable_pub, reason = "shared with the network's suite")]
mod replay;

#[test]
fn every_corpus_input_runs_without_a_panic() {
    let is_no_text = |bytes: &[u8]| bytes.is_empty() || std::str::from_utf8(bytes).is_err();
    for (target, body) in body::TARGETS {
        replay::replay(target, body, 20, is_no_text);
    }
}
