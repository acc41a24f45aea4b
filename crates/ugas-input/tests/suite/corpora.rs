//! Every input of the corpus of profiles, without a fuzzer.

#[path = "../../../../fuzz/src/profiles.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate has these in its library")]
mod profiles;
#[path = "../../../../fuzz/src/replay.rs"]
#[expect(unreachable_pub, reason = "shared with the suite of ugas-data")]
mod replay;

#[test]
fn every_profile_of_the_corpus_is_replayed() {
    let is_no_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_err();
    replay::replay("profiles", profiles::profiles, 10, is_no_text);
}
