//! The server's side of WebTransport; its clients are browsers.

use std::time::Duration;

use crate::rig::{NOW, PROTOCOL, hear, key, loopback};
use ugas_transport::{Auth, Limits, Listener, ListenerConfig, TransportKind};

#[test]
fn it_listens_beside_the_others_and_tells_its_certificate() {
    let config = ListenerConfig {
        protocol: PROTOCOL,
        auth: Auth::Key(key()),
        limits: Limits::default(),
        now: NOW,
        token_lifetime: 60,
    };
    let mut server = TransportKind::ALL
        .into_iter()
        .try_fold(Listener::builder(config), |builder, carrier| builder.bind(carrier, loopback(), None))
        .and_then(|builder| builder.start())
        .expect("free ports");
    assert_eq!(hear(&mut server, Duration::from_millis(10)), []);
    assert!(server.certificate(TransportKind::WebTransport).is_some());
    assert_eq!(server.certificate(TransportKind::Udp), None);
    let token = server.issue(TransportKind::WebTransport, 1, b"Ana").expect("a token");
    assert_eq!(Some(token.address()), server.address(TransportKind::WebTransport));
    assert!(ugas_transport::Connector::connect(token, crate::rig::CALL).is_err(), "only browsers have a client for it");
}
