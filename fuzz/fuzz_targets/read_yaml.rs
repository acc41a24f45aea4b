//! Any bytes as a file: reading never panics, every error has a place, and what was read survives being saved.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match ugas_data::read_str("fuzz.yaml", text) {
        Ok(documents) => {
            for loaded in documents.docs {
                let saved = ugas_data::to_yaml(&loaded.doc);
                let again = ugas_data::read_str("saved.yaml", &saved).expect("what was saved can be read");
                assert_eq!(again.docs[0].doc, loaded.doc);
            }
        }
        Err(errors) => assert!(errors.iter().all(|e| e.line > 0 && e.column > 0)),
    }
});
