//! Deletes an object that a run has made, through the API server of its cluster.
//!
//! Inputs: a kubeconfig and its context, the path of the object. Output: whether it is gone or being deleted.

use std::path::Path;

use nodeproof_core::network::{Call, NODES, Target, Verb};
use nodeproof_core::scenario::AnswerSeen;

use crate::live::client::{Access, is_success};

/// Deletes an object that an earlier run has made.
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

/// Checks the answer to a deletion: the object is gone, or being deleted.
///
/// # Errors
/// It is not; the text has the answer.
pub(crate) fn gone(answer: &AnswerSeen) -> Result<(), String> {
    // 409: a namespace that is being deleted already.
    let is_gone = is_success(answer) || matches!(answer.code, 404 | 409);
    if is_gone { Ok(()) } else { Err(format!("{} {}", answer.code, answer.message)) }
}
