//! What if: when nodes are lost, when do their Pods leave, and when do they come back?
//!
//! A [`Question`] names a cluster and what happens to it. [`answer()`] makes that cluster on the simulator, lets it
//! settle, does it, and tells what the writes of the API server and the decisions of the components show: no instant in
//! an answer comes from a formula. Inputs: a question. Outputs: an [`Answer`], as JSON or as text. Deterministic: the
//! same question gives the same bytes.

mod answer;
mod carried;
mod cluster;
mod compared;
mod copies;
mod maintenance;
mod observation;
mod picture;
mod question;
mod readiness;
mod stuck;
mod text;
mod unready;

use nodeproof_core::components::api_server::Tap;
use nodeproof_core::objects::Json;
use nodeproof_core::sim::Simulation;

pub use self::answer::{Answer, Moment, NodeLine, WorkloadLine};
pub use self::carried::{CARRIED_KINDS, Carried};
pub use self::compared::compared;
pub use self::picture::picture;
pub use self::question::{Down, How, LeftOut, Node, Question, Workloads, spread};
pub use self::text::{length, text};
pub use self::unready::Stuck;

use self::cluster::{QUIET, Scene};
use self::copies::COPIED_FROM;
use self::maintenance::{LOOKS, Maintenance};
use self::observation::Sightings;

/// Answers a question.
///
/// # Errors
/// The cluster cannot be made: a setting or an object is refused.
pub fn answer(question: &Question) -> Result<Answer, String> {
    answer_with(question, COPIED_FROM)
}

/// Answers a question; a cluster of so many Pods is made of copies.
fn answer_with(question: &Question, copied_from: i64) -> Result<Answer, String> {
    let mut scene = set_scene(question, copied_from)?;
    let mut observation = Sightings::begin(&mut scene, question)?;
    scene.sim.tap(Tap::Changes);
    if question.how.is_maintenance() {
        maintain(&mut scene, &mut observation, question)?;
    } else {
        scene.fail();
        let back = observation.back;
        watch(&mut scene.sim, &mut observation, back);
        if question.heals {
            scene.heal()?;
        }
    }
    // What follows the return: until nothing but heartbeats is written.
    let end = scene.sim.now() + question.patience;
    while scene.sim.now() < end {
        let until = (scene.sim.now() + QUIET).min(end);
        if !watch(&mut scene.sim, &mut observation, until) {
            break;
        }
    }
    Ok(Answer::of(question, &scene, observation))
}

/// Drains the nodes in turn, and gives them back.
fn maintain(scene: &mut Scene, observation: &mut Sightings, question: &Question) -> Result<(), String> {
    let until = observation.back;
    let mut maintenance = Maintenance::begin(scene, question)?;
    while scene.sim.now() < until && !maintenance.has_ended() {
        let next = (scene.sim.now() + LOOKS).min(until);
        watch(&mut scene.sim, observation, next);
        maintenance.look(scene, observation)?;
    }
    if question.how == How::Upgrade {
        observation.back = scene.sim.now();
    } else {
        watch(&mut scene.sim, observation, until);
    }
    observation.not_drained = maintenance.stuck(scene, observation)?;
    maintenance.end(scene)
}

/// Makes the cluster of a question, and lets it come to rest.
fn set_scene(question: &Question, copied_from: i64) -> Result<Scene, String> {
    let mut objects = match &question.workloads {
        Workloads::Default => cluster::default_workloads(question.nodes.len()),
        Workloads::Given(objects) => objects.clone(),
        Workloads::Running(_) => Vec::new(),
    };
    let given: Vec<Json> = match &question.workloads {
        Workloads::Running(objects) => objects.clone(),
        _ => objects.iter().map(|(_, object)| object.clone()).collect(),
    };
    let copied = copies::reduce(&mut objects, copied_from);
    let mut scene = Scene::begin(question)?;
    scene.fill(question, objects)?;
    if !copied.is_empty() {
        scene.settle(cluster::SETTLES);
        copies::put(&mut scene, question, &copied)?;
    }
    scene.rest(question, &given)?;
    Ok(scene)
}

/// Lets time pass and observes; false if nothing but heartbeats was written.
fn watch(sim: &mut Simulation, observation: &mut Sightings, until: jiff::Timestamp) -> bool {
    let mut changed = false;
    while sim.now() < until {
        sim.advance_until((sim.now() + cluster::LOOK).min(until));
        for commit in sim.take_commits() {
            changed |= observation.take(&commit);
        }
    }
    changed
}

#[cfg(test)]
mod maintenance_tests;
#[cfg(test)]
mod tests;
