//! A client that cannot write: any other request than a read is refused before it is sent.
//!
//! Inputs: HTTP requests. Outputs: the same requests, or [`NotSent`]. Invariant: only GET passes, and no GET that opens
//! a tunnel into a Pod, a Node or a Service (exec, attach, port-forward, proxy), through which more than reading is
//! possible.

use std::future::ready;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::TryFutureExt as _;
use http::{Method, Request};
use tower::{BoxError, Layer, Service};

/// Subresources that a request must not end in or lead through.
/// Source: k8s.io/kubernetes pkg/registry/core/rest/storage_core.go (v1.34), the resources that are connected to.
const TUNNELS: [&str; 4] = ["attach", "exec", "portforward", "proxy"];

/// Why a request was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not sent, since nothing is written here: {method} {path}")]
pub(super) struct NotSent {
    method: String,
    path: String,
}

/// The layer that puts this check before a client's connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadOnly;

impl<S> Layer<S> for ReadOnly {
    type Service = Guard<S>;

    fn layer(&self, inner: S) -> Guard<S> {
        Guard { inner }
    }
}

/// The service that lets only reading requests pass.
#[derive(Debug, Clone)]
pub(super) struct Guard<S> {
    inner: S,
}

impl<S, B> Service<Request<B>> for Guard<S>
where
    S: Service<Request<B>>,
    S::Error: Into<BoxError> + 'static,
    S::Future: Send + 'static,
    S::Response: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        match check(request.method(), request.uri().path()) {
            Ok(()) => Box::pin(self.inner.call(request).map_err(Into::into)),
            Err(error) => Box::pin(ready(Err(error.into()))),
        }
    }
}

/// Refuses any request that does more than read.
fn check(method: &Method, path: &str) -> Result<(), NotSent> {
    let leads_inside = path.split('/').any(|part| TUNNELS.contains(&part));
    if *method == Method::GET && !leads_inside {
        return Ok(());
    }
    Err(NotSent { method: method.to_string(), path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reading_passes() {
        for path in ["/version", "/api/v1/nodes?watch=true", "/apis/coordination.k8s.io/v1/leases"] {
            assert_eq!(check(&Method::GET, path), Ok(()), "{path}");
        }
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::CONNECT] {
            assert!(check(&method, "/api/v1/nodes").is_err(), "{method}");
        }
        for path in ["/api/v1/namespaces/a/pods/b/exec", "/api/v1/nodes/n/proxy/run/a/b/c"] {
            assert!(check(&Method::GET, path).is_err(), "{path}");
        }
    }

    #[tokio::test]
    async fn what_is_refused_never_reaches_the_connection() {
        let inner = tower::service_fn(|_: Request<()>| async { Ok::<_, BoxError>("sent") });
        let mut guard = ReadOnly.layer(inner);
        let ask = |method: Method| Request::builder().method(method).uri("/api/v1/nodes/w1").body(()).unwrap();
        assert_eq!(guard.call(ask(Method::GET)).await.unwrap(), "sent");
        let error = guard.call(ask(Method::DELETE)).await.unwrap_err();
        assert_eq!(error.to_string(), "not sent, since nothing is written here: DELETE /api/v1/nodes/w1");
    }
}
