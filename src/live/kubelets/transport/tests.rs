//! Tests of the transport with a server on loopback that knows just enough HTTP/2.

use std::time::Duration;

use bytes::Bytes;
use h2::server::SendResponse;
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::json;
use nodeproof_core::profile::Settings;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::live::Clock;
use crate::live::kubelets::{HollowNodes, Server, Signer};

/// Longer than anything here takes, so that a mistake fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers the first requests of a kubelet, reports each, and closes the connection when told.
async fn attend(stream: TcpStream, seen: mpsc::UnboundedSender<String>, mut hang_up: mpsc::Receiver<()>) {
    let mut connection = h2::server::handshake(stream).await.unwrap();
    let mut open = Vec::new();
    loop {
        let accepted = tokio::select! {
            accepted = connection.accept() => accepted,
            _ = hang_up.recv() => return,
        };
        let Some(Ok((request, respond))) = accepted else { return };
        let target = request.uri().path_and_query().unwrap().to_string();
        open.extend(answer(&target, respond));
        // The test may have ended.
        let _ = seen.send(format!("{} {target}", request.method()));
    }
}

/// Answers a list with no items, a watch with a bookmark (a watch from that revision stays open), and everything else
/// with a refusal.
fn answer(target: &str, mut respond: SendResponse<Bytes>) -> Option<h2::SendStream<Bytes>> {
    let stays_open = target.ends_with("resourceVersion=17");
    let (code, body) = if target.contains("watch=true") {
        (200, r#"{"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"17"}}}"#)
    } else if target.contains("fieldSelector") {
        (200, r#"{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}"#)
    } else {
        (403, r#"{"kind":"Status","status":"Failure","message":"no","reason":"Forbidden","code":403}"#)
    };
    let response = http::Response::builder().status(code).body(()).unwrap();
    let mut stream = respond.send_response(response, false).unwrap();
    stream.send_data(Bytes::from(format!("{body}\n")), !stays_open).unwrap();
    stays_open.then_some(stream)
}

#[test]
fn a_cluster_without_an_authority_is_refused_with_what_to_do() {
    let why = Server::new("https://127.0.0.1:6443", &[], None).err().map(|why| why.to_string()).unwrap_or_default();
    assert!(why.contains("certificate-authority-data in place of insecure-skip-tls-verify"), "{why}");
}

#[test]
fn a_watch_goes_on_from_its_bookmark_and_over_a_new_connection() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server = Server::new(&address, &[], None).unwrap();
        let nodes = HollowNodes::new(server, Signer::Nobody, Settings::default(), 1, Clock::new());
        nodes.start(MachineSpec::from_json(&json!({"name": "w1"})).unwrap()).await.unwrap();
        let (seen, mut requests) = mpsc::unbounded_channel();
        let wanted =
            "GET /api/v1/nodes?fieldSelector=metadata.name%3Dw1&watch=true&allowWatchBookmarks=true&resourceVersion=17";
        for connection in ["first", "second"] {
            let (stream, _) = tokio::time::timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
            let (hang_up, told) = mpsc::channel(1);
            let attending = tokio::spawn(attend(stream, seen.clone(), told));
            let found = async { while requests.recv().await.is_some_and(|request| request != wanted) {} };
            tokio::time::timeout(PATIENCE, found).await.expect(connection);
            hang_up.send(()).await.unwrap();
            attending.await.unwrap();
        }
        nodes.stop();
        assert!(nodes.names().is_empty());
    });
}

#[test]
fn a_server_that_does_not_listen_is_told_of_with_its_reason() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let server = Server::new(&address, &[], None).unwrap();
        let nodes = HollowNodes::new(server, Signer::Nobody, Settings::default(), 1, Clock::new());
        nodes.start(MachineSpec::from_json(&json!({"name": "w1"})).unwrap()).await.unwrap();
        let told = async {
            loop {
                if let Some(reason) = nodes.describe("w1").unwrap().get("lastTransportError").as_str() {
                    break reason.to_string();
                }
                tokio::task::yield_now().await;
            }
        };
        let reason = tokio::time::timeout(PATIENCE, told).await.unwrap();
        assert!(reason.contains("refused"), "{reason}");
    });
}
