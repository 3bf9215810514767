//! Writes the heartbeats of hand-fed Nodes in real time, in a task for each Node, so that nothing the driver waits for
//! delays them.
//!
//! Inputs: hand-fed Nodes, changes of how they are fed, versions of their Nodes. Outputs: writes to the API server, and
//! their revisions. Invariant: a write that fails is not repeated before the next one is due.

use std::collections::BTreeMap;

use nodeproof_core::network::{Resource, Target};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::{Feed, HandFedNode, HeartbeatWriter};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::cache::revision_of;
use super::client::{Caller, is_success};
use super::clock::Clock;

enum FeedCommand {
    /// Change how the Node is fed, and report what was written at once.
    Feed(Feed, oneshot::Sender<Vec<Written>>),
    /// The Node has this version now.
    Node(Json),
}

/// A write: the kind and its new revision.
pub(super) type Written = (Resource, u64);

/// The hand-fed Nodes of a scenario, by their real names; their heartbeats end when this is dropped.
#[derive(Debug, Default)]
pub(super) struct HeartbeatTasks {
    commands: BTreeMap<Text, mpsc::UnboundedSender<FeedCommand>>,
    tasks: Vec<JoinHandle<()>>,
    under_way: Vec<oneshot::Receiver<Vec<Written>>>,
}

impl HeartbeatTasks {
    /// Creates a Node and its Lease and starts its heartbeats; returns the first writes.
    pub(super) async fn start(
        &mut self,
        node: HandFedNode,
        caller: &Caller,
        clock: Clock,
    ) -> Result<Vec<Written>, String> {
        let mut writer = HeartbeatWriter::new(node, clock.now());
        for call in writer.creation(clock.now()) {
            let answer = caller.send(&writer.identity(), &call).await;
            if !is_success(&answer) {
                return Err(answer.message);
            }
            writer.handle_answer(&answer.body);
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        self.commands.insert(writer.name().clone(), sender);
        let written = write_what_is_due(&mut writer, caller, clock).await;
        self.tasks.push(tokio::spawn(feed(writer, caller.clone(), clock, receiver)));
        Ok(written)
    }

    /// Changes how a Node is fed, and waits for nothing. Many Nodes have to change together, as on the simulator;
    /// otherwise a pass of a controller could come in between.
    pub(super) fn change(&mut self, node: &Text, feed: Feed) -> Result<(), String> {
        let unknown = || format!("Node {:?} is not hand-fed", node.as_str());
        let commands = self.commands.get(node).ok_or_else(unknown)?;
        let (done, written) = oneshot::channel();
        commands.send(FeedCommand::Feed(feed, done)).map_err(|_| unknown())?;
        self.under_way.push(written);
        Ok(())
    }

    /// Waits until the writes that changes made due at once have been tried, and returns those that succeeded.
    pub(super) async fn finish(&mut self) -> Vec<Written> {
        let mut made = Vec::new();
        for written in std::mem::take(&mut self.under_way) {
            made.extend(written.await.unwrap_or_default());
        }
        made
    }

    /// Takes a version of a Node, whoever wrote it.
    pub(super) fn handle_node(&self, node: &Text, object: &Json) {
        if let Some(commands) = self.commands.get(node) {
            // The task ends only with the scenario.
            let _ = commands.send(FeedCommand::Node(object.clone()));
        }
    }
}

impl Drop for HeartbeatTasks {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn feed(
    mut writer: HeartbeatWriter,
    caller: Caller,
    clock: Clock,
    mut commands: mpsc::UnboundedReceiver<FeedCommand>,
) {
    loop {
        let due = writer.next_deadline().map(|at| clock.until(at));
        let order = match due {
            Some(due) => tokio::time::timeout(due, commands.recv()).await.ok(),
            None => Some(commands.recv().await),
        };
        let mut done = None;
        match order {
            Some(None) => return,
            Some(Some(FeedCommand::Node(node))) => writer.handle_node(&node),
            Some(Some(FeedCommand::Feed(change, written))) => {
                writer.handle_feed(change, clock.now());
                done = Some(written);
            }
            None => {}
        }
        let written = write_what_is_due(&mut writer, &caller, clock).await;
        if let Some(done) = done {
            // The receiver may be gone.
            let _ = done.send(written);
        }
    }
}

/// Writes what is due. A write that fails is not repeated: the next one is due soon.
async fn write_what_is_due(writer: &mut HeartbeatWriter, caller: &Caller, clock: Clock) -> Vec<Written> {
    writer.handle_timeout(clock.now());
    let mut written = Vec::new();
    while let Some(call) = writer.poll_call() {
        let answer = caller.send(&writer.identity(), &call).await;
        if let Target::Resource { resource, .. } = call.target
            && is_success(&answer)
        {
            written.push((resource, revision_of(&answer.body)));
        }
    }
    written
}
