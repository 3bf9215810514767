//! Finds what earlier runs have left on clusters, and the operations that repair it.
//!
//! Inputs: the journals of runs that are over, containers with the label of a run, marks on nodes. Outputs:
//! [`Remnant`]s with the operations that remove them, in an order in which they can be carried out. Invariants: what
//! belongs to a run that goes on is not touched; nothing is touched unless a journal, a label or a mark shows that a
//! run made it.

use std::collections::BTreeSet;

use super::docker::{Container, Docker, DockerError, deleted};
use super::journal::{Left, UndoableChange};
use super::node_fault::{self, NodeFault};
use super::op::Op;
use crate::live::timing::BOOT_WAIT;

/// Something that an earlier run has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remnant {
    /// What it is, as a sentence.
    pub(crate) what: String,
    /// What shows that a run made it: journal, label or mark.
    pub(crate) known_by: &'static str,
    /// What removes it.
    pub(crate) change: UndoableChange,
    /// The journal and the numbers of the changes that are undone with it.
    journal: Option<(usize, Vec<u32>)>,
}

/// Finds what earlier runs have left.
pub(crate) fn find(lefts: &[Left], containers: &[Container], marks: &[(String, NodeFault)]) -> Vec<Remnant> {
    let running: BTreeSet<&str> =
        lefts.iter().filter(|left| left.is_running()).map(|left| left.header.run.as_str()).collect();
    let mut remnants = Vec::new();
    let mut removed = BTreeSet::new();
    let mut healed = BTreeSet::new();
    for (index, left) in lefts.iter().enumerate().filter(|(_, left)| !left.is_running()) {
        let removals = left.changes.iter().filter(|(_, change)| change.removes().is_some());
        let own: BTreeSet<&str> = removals.filter_map(|(_, change)| change.removes()).collect();
        for (id, change) in &left.changes {
            let container = change.container.as_deref().unwrap_or_default();
            let mut ids = vec![*id];
            if change.removes().is_some() {
                // A container that is removed need not be healed before.
                let others = left.changes.iter().filter(|(other, _)| other != id);
                ids.extend(
                    others.filter(|(_, other)| other.container.as_deref() == Some(container)).map(|(id, _)| *id),
                );
                removed.insert(container);
            } else if own.contains(container) {
                continue;
            }
            healed.extend(change.node_fault.map(|node_fault| (container, node_fault)));
            remnants.push(Remnant {
                what: change.what.clone(),
                known_by: "journal",
                change: change.clone(),
                journal: Some((index, ids)),
            });
        }
    }
    for container in containers {
        let Some(run) = container.run.as_deref().filter(|run| !running.contains(run)) else { continue };
        if removed.insert(&container.name) {
            let what = format!("worker {} of run {run} is there", container.name);
            let mut undo = vec![Op::Remove { container: container.name.clone() }];
            let control_plane = |own: &&Container| own.cluster == container.cluster && own.is_control_plane();
            undo.extend(containers.iter().find(control_plane).map(|own| Op::delete_node(&own.name, &container.name)));
            remnants.push(Remnant { known_by: "label", ..Remnant::new(what, &container.name, None, undo) });
        }
    }
    for (container, node_fault) in marks {
        let owner = containers.iter().find(|own| own.name == *container).and_then(|own| own.run.as_deref());
        let is_running = owner.is_some_and(|run| running.contains(run));
        let is_busy = lefts.iter().filter(|left| left.is_running()).any(|left| left.makes(container, *node_fault));
        if !is_running && !is_busy && !removed.contains(container.as_str()) && healed.insert((container, *node_fault)) {
            let what = format!("{container}: {}", node_fault.sentence());
            remnants.push(Remnant {
                known_by: "mark",
                ..Remnant::new(what, container, Some(*node_fault), node_fault.healing(container))
            });
        }
    }
    remnants
}

impl Remnant {
    fn new(what: String, container: &str, node_fault: Option<NodeFault>, undo: Vec<Op>) -> Self {
        let change =
            UndoableChange { what: what.clone(), container: Some(container.to_owned()), node_fault, undo, until: None };
        Self { what, known_by: "", change, journal: None }
    }

    /// Removes it, and notes that in the journal.
    pub(crate) async fn remove(&self, docker: Result<&Docker, &str>, lefts: &[Left]) -> Result<(), String> {
        undo(docker, &self.change).await.map_err(|error| error.to_string())?;
        let Some((index, ids)) = &self.journal else { return Ok(()) };
        let left = &lefts[*index];
        ids.iter().try_for_each(|id| left.undone(*id)).map_err(|error| format!("{}: {error}", left.path.display()))
    }
}

/// Undoes a change. Deletions through an API server need no Docker. If the container is gone, the changes inside it are
/// gone too.
pub(crate) async fn undo(docker: Result<&Docker, &str>, change: &UndoableChange) -> Result<(), DockerError> {
    for op in &change.undo {
        if matches!(op, Op::Delete { .. }) {
            deleted(op).await?;
            continue;
        }
        let docker = docker.map_err(DockerError::gone)?;
        match docker.perform(op).await {
            Err(error) if error.has_no_container() => continue,
            done => done?,
        }
        if let Op::Start { container } = op {
            docker.wait_until_up(container, BOOT_WAIT).await?;
        }
    }
    Ok(())
}

/// Reads the marks on all running nodes.
pub(crate) async fn marks(docker: &Docker, containers: &[Container]) -> Result<Vec<(String, NodeFault)>, DockerError> {
    let mut marks = Vec::new();
    for container in containers.iter().filter(|own| own.state == "running") {
        match docker.run(&container.name, &node_fault::look_script()).await {
            Ok(text) => marks.extend(
                node_fault::read_look(&text).into_iter().map(|node_fault| (container.name.clone(), node_fault)),
            ),
            Err(error) if error.is_gone() => return Err(error),
            // The container went down in between, or is gone.
            Err(_) => {}
        }
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use jiff::Timestamp;

    use super::{Container, find};
    use crate::live::cleanup::journal::{Header, Left, UndoableChange, process_start};
    use crate::live::cleanup::node_fault::NodeFault;
    use crate::live::cleanup::op::Op;

    fn container(name: &str, role: &str, run: Option<&str>) -> Container {
        Container {
            name: name.to_owned(),
            cluster: "np".to_owned(),
            role: role.to_owned(),
            run: run.map(str::to_owned),
            state: "running".to_owned(),
            image: String::new(),
            is_connected: true,
            api_port: None,
        }
    }

    fn left(run: &str, is_running: bool, changes: Vec<(u32, UndoableChange)>) -> Left {
        let pid = std::os::unix::process::parent_id();
        let header = Header {
            run: run.to_owned(),
            pid,
            started: if is_running { process_start(pid) } else { Some(1) },
            at: Timestamp::UNIX_EPOCH,
            context: "kind-np".to_owned(),
            kubeconfig: None,
            cluster: "np".to_owned(),
        };
        Left { path: PathBuf::from(run), header, changes }
    }

    fn made(name: &str) -> UndoableChange {
        UndoableChange {
            what: format!("worker {name} was added"),
            container: Some(name.to_owned()),
            node_fault: None,
            undo: vec![Op::Remove { container: name.to_owned() }, Op::delete_node("np-control-plane", name)],
            until: None,
        }
    }

    fn node_fault(name: &str, node_fault: NodeFault) -> UndoableChange {
        let undo = node_fault.healing(name);
        UndoableChange {
            what: format!("{name}: {}", node_fault.sentence()),
            container: Some(name.to_owned()),
            node_fault: Some(node_fault),
            undo,
            until: None,
        }
    }

    fn texts(lefts: &[Left], containers: &[Container], marks: &[(String, NodeFault)]) -> Vec<String> {
        find(lefts, containers, marks).iter().map(|own| format!("{} ({})", own.what, own.known_by)).collect()
    }

    #[test]
    fn a_worker_that_is_removed_is_not_healed_before() {
        let lefts = [left(
            "r1",
            false,
            vec![
                (3, node_fault("np-w", NodeFault::Frozen)),
                (2, node_fault("np-worker", NodeFault::Cut)),
                (1, made("np-w")),
            ],
        )];
        let containers =
            [container("np-control-plane", "control-plane", None), container("np-w", "worker", Some("r1"))];
        let marks = [("np-worker".to_owned(), NodeFault::Cut)];
        assert_eq!(
            texts(&lefts, &containers, &marks),
            ["np-worker: packets from and to the API server are dropped (journal)", "worker np-w was added (journal)"]
        );
        let remnants = find(&lefts, &containers, &marks);
        assert_eq!(remnants[1].journal, Some((0, vec![1, 3])));
    }

    #[test]
    fn without_a_journal_labels_and_marks_tell() {
        let containers =
            [container("np-control-plane", "control-plane", None), container("np-w", "worker", Some("r1"))];
        let marks = [("np-w".to_owned(), NodeFault::Cut), ("np-worker".to_owned(), NodeFault::KubeletDown)];
        assert_eq!(
            texts(&[], &containers, &marks),
            ["worker np-w of run r1 is there (label)", "np-worker: its kubelet does not run (mark)"]
        );
        let remnants = find(&[], &containers, &marks);
        assert_eq!(remnants[0].change.undo, made("np-w").undo);
    }

    #[test]
    fn what_a_run_does_that_goes_on_is_left_alone() {
        let lefts = [left("r1", true, vec![(2, node_fault("np-worker", NodeFault::Cut)), (1, made("np-w"))])];
        let containers = [container("np-w", "worker", Some("r1")), container("np-worker", "worker", None)];
        let marks = [("np-w".to_owned(), NodeFault::Cut), ("np-worker".to_owned(), NodeFault::Cut)];
        assert_eq!(texts(&lefts, &containers, &marks), [""; 0]);
    }

    #[test]
    fn a_healthy_cluster_has_nothing_left() {
        let containers = [container("np-control-plane", "control-plane", None), container("np-worker", "worker", None)];
        assert_eq!(texts(&[], &containers, &[]), [""; 0]);
    }
}
