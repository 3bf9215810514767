//! Keeps hand-fed Nodes alive in real time: a task for each, so that nothing the driver waits for delays a heartbeat.

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
    /// Do this and say when it is written.
    Feed(Feed, oneshot::Sender<Vec<Written>>),
    /// The Node looks like this now.
    Node(Json),
}

/// A write that was made: the kind, and the revision that it made.
pub(super) type Written = (Resource, u64);

/// The hand-fed Nodes of a scenario, by their real names; they fall silent when this is dropped.
#[derive(Debug, Default)]
pub(super) struct HeartbeatTasks {
    commands: BTreeMap<Text, mpsc::UnboundedSender<FeedCommand>>,
    tasks: Vec<JoinHandle<()>>,
    under_way: Vec<oneshot::Receiver<Vec<Written>>>,
}

impl HeartbeatTasks {
    /// Makes a Node and its Lease and keeps them alive; returns the first writes.
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

    /// Changes how a Node is fed, and waits for nothing: many Nodes change together, as on the simulator, or a pass of
    /// a controller comes in between.
    pub(super) fn change(&mut self, node: &Text, feed: Feed) -> Result<(), String> {
        let unknown = || format!("Node {:?} is not hand-fed", node.as_str());
        let commands = self.commands.get(node).ok_or_else(unknown)?;
        let (done, written) = oneshot::channel();
        commands.send(FeedCommand::Feed(feed, done)).map_err(|_| unknown())?;
        self.under_way.push(written);
        Ok(())
    }

    /// Waits until what changes made due at once has been tried, and returns what is written.
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
            // The task ends with the scenario only.
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
            // Whoever asked may have gone.
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
