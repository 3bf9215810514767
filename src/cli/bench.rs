//! `nodeproof bench`: measures the simulator on a cluster of any size.
//!
//! The cluster is built first. It then settles until only heartbeats are written, for at most 20 minutes of virtual
//! time: controllers handle new nodes one after the other, at twenty requests a second. The measurement begins after
//! that; the cost of building is printed beside it. User time and memory are read from `/proc`; on systems without it
//! they are left out.

use std::process::ExitCode;
use std::time::Instant;

use jiff::SignedDuration;
use nodeproof_core::components::api_server::Tap;
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::json;
use nodeproof_core::network::{Call, Fault, Identity, PODS, Verb};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::sim::{Simulation, SimulationOptions};

use super::progress::Progress;
use super::terminal::line;
use super::{duration, misuse};
use crate::harness::parse_seed;

/// How long a cluster settles at a time.
const SETTLES: SignedDuration = SignedDuration::from_mins(1);
/// How many such periods a cluster may settle after its pods were made. They are enough for 20,000 nodes.
const SETTLES_MAX: usize = 20;
/// How long the lost zone is away.
const OUTAGE: SignedDuration = SignedDuration::from_mins(20);

/// Options of `nodeproof bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof bench                                        5000 idle nodes for a virtual hour
  nodeproof bench --nodes 100000 --for 1h --json
  nodeproof bench --load zone-outage --pods 10000
  nodeproof bench --load zone-outage --pods 50000 --zones 10 --at 0s --for 10m

Measure a release build: cargo run --release -- bench")]
pub struct BenchArgs {
    /// Number of nodes, each with a kubelet, spread over the zones
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    nodes: u32,
    /// Virtual time, as 1h or 90s
    #[arg(
        long = "for", value_name = "DURATION", default_value = "1h", value_parser = duration,
        allow_hyphen_values = true
    )]
    lasts: SignedDuration,
    /// What happens meanwhile
    #[arg(long, value_enum, default_value_t = Load::Idle)]
    load: Load,
    /// Number of zones, of which an outage takes the first
    #[arg(long, value_name = "N", default_value_t = 3)]
    zones: u32,
    /// When the zone is lost
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration, allow_hyphen_values = true)]
    at: SignedDuration,
    /// Number of pods, spread over the nodes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pods: u32,
    /// Seed of all free choices
    #[arg(long, value_name = "N", value_parser = parse_seed, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What happens while the clock runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Load {
    /// Nothing but heartbeats
    Idle,
    /// The first zone loses its connection and gets it back 20 minutes later
    ZoneOutage,
}

/// Builds the cluster, lets the time pass, and prints what that cost.
#[must_use]
pub fn run(args: BenchArgs) -> ExitCode {
    if args.nodes == 0 || args.zones == 0 || args.lasts.is_zero() {
        return misuse("--nodes, --zones and --for must be more than nothing");
    }
    if args.load == Load::ZoneOutage && args.at >= args.lasts {
        return misuse("the zone is lost when the measurement has ended: --at must be less than --for");
    }
    let progress = Progress::new(2);
    let (setting_up, running) = ("setting up", "running");
    progress.begin(setting_up);
    let begun = Instant::now();
    let mut sim = match build(&args) {
        Ok(sim) => sim,
        Err(message) => return misuse(message),
    };
    let setup_seconds = begun.elapsed().as_secs_f64();
    progress.done(setting_up, false);
    progress.begin(running);
    let (user_before, events_before) = (user_seconds(), sim.events());
    let begun = Instant::now();
    pass(&mut sim, &args);
    let wall_seconds = begun.elapsed().as_secs_f64();
    drop(progress);
    let events = sim.events() - events_before;
    let virtual_seconds = args.lasts.as_secs_f64();
    let user = user_before.zip(user_seconds()).map(|(before, after)| rounded(after - before, 100.0));
    #[expect(clippy::cast_precision_loss, reason = "a count of events for people")]
    let ns_per_event = wall_seconds * 1e9 / (events.max(1) as f64);
    // Read before the pods are counted, since counting them takes memory.
    let peak_rss_mib = peak_rss_mib();
    let report = json!({
        "nodes": args.nodes, "zones": args.zones, "pods": args.pods, "deleted": deleted(&mut sim, args.pods),
        "virtualSeconds": virtual_seconds,
        "wallSeconds": rounded(wall_seconds, 1e3), "userSeconds": user, "setupSeconds": rounded(setup_seconds, 1e3),
        "events": events, "nsPerEvent": rounded(ns_per_event, 10.0),
        "ratio": rounded(virtual_seconds / wall_seconds, 10.0), "peakRssMiB": peak_rss_mib,
    });
    if args.json {
        line(&report);
    } else {
        print_for_people(&report);
    }
    ExitCode::SUCCESS
}

fn build(args: &BenchArgs) -> Result<Simulation, String> {
    let mut sim = Simulation::new(SimulationOptions { seed: args.seed, trace: false, ..SimulationOptions::default() });
    for at in 0..args.nodes {
        let spec = MachineSpec { name: node(at).into(), zone: Some(zone(at, args)), ..MachineSpec::default() };
        sim.add_machine(spec).map_err(|error| error.to_string())?;
    }
    sim.advance_until(sim.now() + SETTLES);
    for at in 0..args.pods {
        let pod = json!({
            "metadata": {"name": format!("pod-{at}"), "namespace": "default"},
            "spec": {"nodeName": node(at % args.nodes), "containers": [{"name": "main", "image": "pause"}]},
        });
        let call = Call::new(Verb::Create, PODS, "default", "").body(pod);
        let answer = sim.request(Identity::admin(), call).map_err(|error| error.to_string())?;
        if !answer.is_success() {
            return Err(format!("pod-{at} was refused: {}", answer.message()));
        }
    }
    settle(&mut sim);
    Ok(sim)
}

/// Lets time pass until nothing but heartbeats is written.
fn settle(sim: &mut Simulation) {
    sim.tap(Tap::Changes);
    for _ in 0..SETTLES_MAX {
        sim.advance_until(sim.now() + SETTLES);
        if sim.take_commits().is_empty() {
            break;
        }
    }
    sim.tap(Tap::Closed);
}

/// Names the zone of a node: `a` to `z`, then `zone-26` and on.
fn zone(node: u32, args: &BenchArgs) -> Text {
    let at = node % args.zones;
    match u8::try_from(at).ok().filter(|at| *at < 26) {
        Some(letter) => Text::from(char::from(b'a' + letter).to_string()),
        None => Text::from(format!("zone-{at}")),
    }
}

/// Counts the pods that are being deleted, or are gone.
fn deleted(sim: &mut Simulation, pods: u32) -> usize {
    let call = Call::new(Verb::List, PODS, "", "");
    let Ok(answer) = sim.request(Identity::admin(), call) else { return 0 };
    let body = answer.body();
    let stays = body.get("items").items().iter().filter(|pod| pod.at(&["metadata", "deletionTimestamp"]).is_null());
    (pods as usize).saturating_sub(stays.count())
}

fn node(at: u32) -> String {
    format!("node-{at}")
}

fn pass(sim: &mut Simulation, args: &BenchArgs) {
    let end = sim.now() + args.lasts;
    if args.load == Load::ZoneOutage {
        sim.advance_until((sim.now() + args.at).min(end));
        let cut: Vec<_> = (0..args.nodes)
            .step_by(args.zones as usize)
            .map(|at| sim.add_rule(Fault::disconnect(format!("machine/{}", node(at)))))
            .collect();
        let returns = sim.now() + OUTAGE;
        if returns < end {
            sim.advance_until(returns);
            for rule in cut {
                sim.remove_rule(rule).expect("the rule was laid above and has no end of its own");
            }
        }
    }
    sim.advance_until(end);
}

fn print_for_people(report: &Json) {
    let shown = |name: &str| report.get(name).to_string();
    line(format_args!(
        "{} nodes in {} zones, {} pods, of which {} were deleted: {} s of virtual time in {} s ({} s of processor \
            time), {} times real time\n\
         {} events, {} ns each; built in {} s; {} MiB of memory at most",
        shown("nodes"),
        shown("zones"),
        shown("pods"),
        shown("deleted"),
        shown("virtualSeconds"),
        shown("wallSeconds"),
        shown("userSeconds"),
        shown("ratio"),
        shown("events"),
        shown("nsPerEvent"),
        shown("setupSeconds"),
        shown("peakRssMiB"),
    ));
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

/// Reads the processor time in user mode; the clock tick is 100 per second on every Linux that Rust runs on.
fn user_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Fields are counted behind the name of the program, which stands in parentheses and may hold blanks.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(11)?.parse::<f64>().ok().map(|ticks| ticks / 100.0)
}

/// Reads the most memory that the process ever had resident.
fn peak_rss_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let found = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = found.split_whitespace().next()?.parse().ok()?;
    Some(rounded(kib / 1024.0, 10.0))
}
