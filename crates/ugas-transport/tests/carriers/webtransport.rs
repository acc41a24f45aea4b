//! The server's side of WebTransport; its clients are browsers (`tests/browser/webtransport.test.mjs`).

use std::time::Duration;

use crate::rig::{NOW, PROTOCOL, key, loopback, poll_events};
use ugas_transport::{Auth, Limits, Listener, ListenerConfig, TransportKind};

#[test]
fn webtransport_listens_next_to_the_others_and_has_a_certificate() {
    let config = ListenerConfig {
        protocol: PROTOCOL,
        auth: Auth::Key(key()),
        limits: Limits::default(),
        now: NOW,
        token_lifetime: 60,
    };
    let mut server = TransportKind::ALL
        .into_iter()
        .try_fold(Listener::builder(config), |builder, kind| builder.bind(kind, loopback(), None))
        .and_then(|builder| builder.start())
        .expect("free ports");
    assert_eq!(poll_events(&mut server, Duration::from_millis(10)), []);
    assert!(server.certificate(TransportKind::WebTransport).is_some());
    assert_eq!(server.certificate(TransportKind::Udp), None);
    let token = server.issue(TransportKind::WebTransport, 1, b"Ana").expect("a token");
    assert_eq!(Some(token.address()), server.address(TransportKind::WebTransport));
    assert!(
        ugas_transport::Connector::connect(token, crate::rig::CONNECT).is_err(),
        "only browsers can connect with it"
    );
}
