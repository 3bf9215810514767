//! Deletes what a run has made in a cluster whose containers are not ours to touch, through its API server.
//!
//! Inputs: a kubeconfig and its context, the path of the object. Output: whether it is gone.

use std::path::Path;

use nodeproof_core::network::{Call, NODES, Target, Verb};
use nodeproof_core::scenario::AnswerSeen;

use crate::live::client::{Access, is_success};

/// Removes something that an earlier run has made in a cluster.
///
/// # Errors
/// The cluster does not answer, or refuses.
pub(crate) async fn delete(kubeconfig: Option<&Path>, context: &str, path: &str) -> Result<(), String> {
    let caller = Access::of_context(kubeconfig, context)?.caller().await?;
    let mut call = Call::new(Verb::Delete, NODES, "", "");
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    for (name, value) in query.split('&').filter_map(|part| part.split_once('=')) {
        call = call.query(name.to_owned(), value.to_owned());
    }
    call.target = Target::Path(path.into());
    gone(&caller.ask(&call).await)
}

/// Checks by the answer to a deletion that something is gone, or goes.
///
/// # Errors
/// It is not; the text says what was answered.
pub(crate) fn gone(answer: &AnswerSeen) -> Result<(), String> {
    // 409: a namespace that goes already.
    let is_gone = is_success(answer) || matches!(answer.code, 404 | 409);
    if is_gone { Ok(()) } else { Err(format!("{} {}", answer.code, answer.message)) }
}
