//! The heartbeats of calm kubelets while nobody looks: one cache line each, and no other state until somebody does.
//!
//! Between two events of another kind all that happens in a quiet cluster is that kubelets renew Leases and find their
//! status unchanged. What such a beat depends on stands in the kubelet's row. The renewals go to a list, in the order of
//! their revisions; the API server and the informers of controllers take the list before anything else happens, a kubelet
//! and its connection what has become of them when an input comes to it, or at the end of a call from outside.
//! Inputs: the queue of wakes. Outputs: what [`super::heartbeats`] would have done, one beat after the other.
//! Invariants: outside of [`Simulation::run_quiet`] the API server and the controllers are up to date; a kubelet is once
//! [`Simulation::fold`] was called for it, and all are while nothing runs. A row is held as long as its Lease is lent and its
//! connection is clear.

use alloc::vec::Vec;

use jiff::Timestamp;

use super::{Actor, Heartbeats, Simulation};
use crate::chance::{Chance, Jitter};
use crate::components::Deadline;
use crate::components::api_server::{Reader, Renewed};
use crate::components::kubelet::{Beaten, Beats, Kubelet, first_of_loops};
use crate::network::{ClientId, ToClient, WatchType};
use crate::objects::Beat;

/// How many renewals are put off at most, so that the list stays in the processor's cache.
const LIST_MAX: usize = 2048;

/// The pauses of a loop, in nanoseconds: a shortest one, and how many longer ones there are, a microsecond apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pauses {
    base: i64,
    choices: u64,
}

/// The pauses of a kubelet's loops, and how far its clock is ahead in nanoseconds: the same for most kubelets of a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Tempo {
    tick: Pauses,
    lease: Pauses,
    skew: i64,
}

/// A kubelet's heartbeats; instants are nanoseconds since the epoch.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Row {
    tick_at: i64,
    lease_at: i64,
    /// When something else is due, or a status report.
    until: i64,
    chance: Chance,
    /// The last revision of the Lease, with its renewal in microseconds.
    resource_version: u64,
    micros: i64,
    /// When it was renewed.
    renewed_at: i64,
    place: u32,
    /// How many renewals the kubelet does not know of.
    renewals: u16,
    tempo: u8,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// There is no row.
    Absent,
    /// The kubelet's own state is the same.
    Level,
    /// The row is ahead.
    Ahead,
}

/// What a wake was.
enum Wake {
    Tick,
    /// The beats of the Lease before and after it.
    Renewal(Beat, Beat),
    /// Something that a row does not tell.
    Other,
}

/// The rows by the numbers of clients.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    tempos: Vec<Tempo>,
    /// The client that a lent Lease belongs to, by the Lease's place.
    holders: Vec<u32>,
    /// The rows that are ahead, and some that were.
    ahead: Vec<u32>,
    renewals: Vec<Renewed>,
    readers: Vec<Reader>,
}

impl Pauses {
    fn of(jitter: Jitter) -> Option<Self> {
        let base = i64::try_from(jitter.base().as_nanos()).ok().filter(|base| *base >= 0)?;
        // What is drawn has to fit beside the base.
        let choices = jitter.choices();
        let longest = i64::try_from(choices).ok()?.checked_mul(1000)?.checked_add(base)?;
        (longest < NANOS_MAX).then_some(Self { base, choices })
    }

    /// Draws the next pause as [`Chance::pause`] does.
    fn next(self, chance: &mut Chance) -> i64 {
        self.base + chance.below(self.choices).cast_signed() * 1000
    }
}

impl Row {
    const ABSENT: Self = Self {
        tick_at: 0,
        lease_at: 0,
        until: 0,
        chance: Chance::new(0),
        resource_version: 0,
        micros: 0,
        renewed_at: 0,
        place: 0,
        renewals: 0,
        tempo: 0,
        state: State::Absent,
    };

    /// Returns when the kubelet does something that others may see: a look that finds its status unchanged is none.
    fn due(&self) -> i64 {
        self.lease_at.min(self.until)
    }

    /// Does the looks at the status that were due before an instant.
    fn look_until(&mut self, end: i64, tempo: &Tempo) {
        while self.tick_at < end {
            self.tick_at += tempo.tick.next(&mut self.chance).max(1);
        }
    }

    /// Does what is due, if it is one heartbeat; a renewal makes the given revision.
    fn beat(&mut self, now: i64, revision: u64, tempo: &Tempo) -> Wake {
        self.look_until(now, tempo);
        match (self.tick_at <= now, self.lease_at <= now) {
            _ if now >= NANOS_MAX => Wake::Other,
            (true, false) => {
                self.tick_at = now + tempo.tick.next(&mut self.chance);
                Wake::Tick
            }
            (false, true) => {
                let micros = (now + tempo.skew).div_euclid(1000);
                if micros == self.micros || self.renewals == u16::MAX {
                    return Wake::Other;
                }
                let before = Beat::renewal(self.resource_version, self.micros, self.place);
                self.lease_at = now + tempo.lease.next(&mut self.chance);
                self.resource_version = revision;
                self.micros = micros;
                self.renewed_at = now;
                self.renewals += 1;
                Wake::Renewal(before, Beat::renewal(revision, micros, self.place))
            }
            _ => Wake::Other,
        }
    }

    /// Says what the kubelet does not know.
    fn beaten(&self) -> Beaten {
        let beat = Beat::renewal(self.resource_version, self.micros, self.place);
        Beaten {
            tick_at: timestamp(self.tick_at),
            lease_at: timestamp(self.lease_at),
            chance: self.chance.clone(),
            renewals: (self.renewals > 0).then(|| (u64::from(self.renewals), timestamp(self.renewed_at), beat)),
        }
    }
}

impl Rows {
    /// Makes room for a client.
    pub(super) fn add(&mut self) {
        self.rows.push(Row::ABSENT);
    }

    /// Returns when the row of a client is due, if there is one.
    pub(super) fn due(&self, client: u32) -> Option<Timestamp> {
        let row = &self.rows[client as usize];
        (row.state != State::Absent).then(|| timestamp(row.due()))
    }

    /// Returns what the kubelets that have a row do first after an instant: the client, and the loop.
    pub(super) fn first_after(&self, now: Timestamp) -> Option<(u32, Deadline)> {
        let end = nanos(now)? + 1;
        let held = self.rows.iter().zip(0..).filter(|(row, _)| row.state != State::Absent);
        let next = held.map(|(row, client)| {
            let mut row = row.clone();
            row.look_until(end, &self.tempos[row.tempo as usize]);
            (client, first_of_loops(timestamp(row.lease_at), timestamp(row.tick_at)))
        });
        next.min_by_key(|(client, deadline)| (deadline.at, *client))
    }

    /// Makes a row; `None` if it cannot hold what it has to.
    fn row_of(&mut self, beats: &Beats) -> Option<Row> {
        let skew = i64::try_from(beats.skew.as_nanos()).ok().filter(|skew| skew.abs() < NANOS_MAX)?;
        let tempo = Tempo { tick: Pauses::of(beats.tick)?, lease: Pauses::of(beats.lease)?, skew };
        let known = self.tempos.iter().position(|known| *known == tempo);
        let number = u8::try_from(known.unwrap_or(self.tempos.len())).ok()?;
        if known.is_none() {
            self.tempos.push(tempo);
        }
        Some(Row {
            tick_at: nanos(beats.tick_at)?,
            lease_at: nanos(beats.lease_at)?,
            until: nanos(beats.until).unwrap_or(i64::MAX),
            chance: beats.chance.clone(),
            resource_version: beats.latest.resource_version(),
            micros: beats.latest.renewed_micros()?,
            place: beats.latest.place()?,
            tempo: number,
            state: State::Level,
            ..Row::ABSENT
        })
    }

    fn hold(&mut self, client: ClientId, row: Row) {
        let place = row.place as usize;
        if self.holders.len() <= place {
            self.holders.resize(place + 1, u32::MAX);
        }
        self.holders[place] = client.0;
        self.rows[client.0 as usize] = row;
    }
}

impl Simulation {
    /// Lets time pass until an instant, or until something else is due than the heartbeat of a calm kubelet.
    pub(super) fn run_quiet(&mut self, until: Timestamp) {
        while let Some(place) = self.api.recalled() {
            self.fold_row(ClientId(self.rows.holders[place as usize]));
        }
        let mut readers = core::mem::take(&mut self.rows.readers);
        readers.clear();
        if self.find_all_readers(&mut readers) {
            while self.beat_until(until, readers.len() as u64) {
                self.tell_renewals(&readers);
            }
            self.tell_renewals(&readers);
        }
        self.rows.readers = readers;
    }

    /// Finds who hears of renewals; false if they have to be done one by one.
    fn find_all_readers(&self, readers: &mut Vec<Reader>) -> bool {
        self.options.heartbeats == Heartbeats::Direct
            && !self.record.is_traced()
            && self.network.is_idle()
            && self.api.readers_of_all(readers)
            && readers.iter().all(|(client, watch)| match &self.slots[client.0 as usize].actor {
                Actor::Controller(_, Some(own)) => own.takes_renewals(*watch) && self.network.is_clear(*client),
                _ => false,
            })
    }

    /// Does heartbeats, bookmarks and the rounds of controllers that find nothing to do, as long as nothing else is due; true
    /// if it stopped because somebody has to hear of the renewals.
    fn beat_until(&mut self, until: Timestamp, readers: u64) -> bool {
        // What waits in the network is held back by rules, and no heartbeat changes it.
        let limit = self.network.next_deadline().unwrap_or(Timestamp::MAX);
        let mut revision = self.api.resource_version();
        let mut last = None;
        let mut is_awaited = false;
        while self.rows.renewals.len() < LIST_MAX && !is_awaited {
            let wake = self.wakes.peek();
            let alarm = self.api.next_deadline().map(|deadline| deadline.at);
            let Some(at) = wake.map(|(at, _)| at).into_iter().chain(alarm).min() else { break };
            if at > until || at >= limit || at < self.now {
                break;
            }
            if alarm == Some(at) {
                match self.bookmark(at, revision) {
                    Some(true) => {}
                    Some(false) => break,
                    None => is_awaited = true,
                }
                continue;
            }
            let (Some((_, client)), Some(now)) = (wake, nanos(at)) else { break };
            let is_held = self.rows.rows[client as usize].state != State::Absent;
            if if is_held { self.rows.rows[client as usize].due() != now } else { !self.is_scheduled(client, at) } {
                self.wakes.pop();
                continue;
            }
            if self.is_controller(ClientId(client)) {
                if !self.rows.renewals.is_empty() {
                    is_awaited = true;
                } else if self.rest(ClientId(client), at) {
                    self.deliveries += u64::from(last == Some(at));
                    last = Some(at);
                } else {
                    break;
                }
                continue;
            }
            if !is_held && !self.enter(ClientId(client)) {
                break;
            }
            if self.rows.rows[client as usize].until <= now {
                self.wakes.pop();
                self.now = at;
                self.fold_row(ClientId(client));
                continue;
            }
            let row = &mut self.rows.rows[client as usize];
            match row.beat(now, revision + 1, &self.rows.tempos[row.tempo as usize]) {
                Wake::Tick => {}
                Wake::Renewal(before, after) => {
                    revision += 1;
                    self.rows.renewals.push(Renewed { at, before, after });
                    // The request, its answer, and an event for each reader.
                    self.deliveries += 2 + readers;
                    self.direct_renewals += 1;
                }
                Wake::Other => break,
            }
            if row.state == State::Level {
                row.state = State::Ahead;
                self.rows.ahead.push(client);
            }
            let next = row.due();
            self.wakes.pop();
            self.wakes.push((timestamp(next), client));
            self.deliveries += u64::from(last == Some(at));
            last = Some(at);
            self.now = at;
        }
        let is_awaited = is_awaited || self.rows.renewals.len() >= LIST_MAX;
        self.deliveries += u64::from(last.is_some() && self.next_instant() == last);
        is_awaited
    }

    /// Gives the bookmark that is due; false if it has to come as a message, `None` if its reader has to hear of renewals
    /// before.
    fn bookmark(&mut self, now: Timestamp, revision: u64) -> Option<bool> {
        let Some((client, watch)) = self.api.next_bookmark() else { return Some(false) };
        if self.is_controller(client) && !self.rows.renewals.is_empty() {
            return None;
        }
        let before = core::mem::replace(&mut self.now, now);
        let is_taken = self.give_bookmark((client, watch), revision, now);
        if !is_taken {
            self.now = before;
        }
        Some(is_taken)
    }

    fn is_controller(&self, client: ClientId) -> bool {
        matches!(self.slots[client.0 as usize].actor, Actor::Controller(..))
    }

    /// Lets a controller do what is due, if nothing follows from it; false if it has to be woken.
    fn rest(&mut self, client: ClientId, now: Timestamp) -> bool {
        let Actor::Controller(_, Some(controller)) = &mut self.slots[client.0 as usize].actor else { return false };
        if !controller.rest(now) {
            return false;
        }
        self.wakes.pop();
        self.now = now;
        self.deadlines[client.0 as usize] = None;
        self.schedule(client);
        true
    }

    /// Gives a kubelet a row for what is due now; false if that is not the heartbeat of a calm kubelet.
    fn enter(&mut self, client: ClientId) -> bool {
        if !self.network.is_clear(client) {
            return false;
        }
        let index = client.0 as usize;
        if !matches!(self.slots[index].actor, Actor::Machine(_)) {
            return false;
        }
        self.fold(client);
        let Actor::Machine(machine) = &self.slots[index].actor else { return false };
        let Some(beats) = machine.beats() else { return false };
        let Some(row) = self.rows.row_of(&beats) else { return false };
        let holder = machine.kubelet().map(Kubelet::identity);
        let is_lent = row.lease_at.min(row.tick_at) < row.until
            && holder.is_some_and(|holder| self.api.lend(beats.latest, holder));
        if is_lent {
            self.rows.hold(client, row);
        }
        is_lent
    }

    /// Lets the API server and the informers know of the renewals that were done.
    fn tell_renewals(&mut self, readers: &[Reader]) {
        let mut renewals = core::mem::take(&mut self.rows.renewals);
        if let Some(last) = renewals.last() {
            self.api.take_renewals(&renewals);
            for (reader, id) in readers {
                self.network.touch(*reader, last.at);
                for renewed in &renewals {
                    if !self.tell_renewal(*reader, *id, renewed.before, renewed.after) {
                        let (id, event, object) = (*id, WatchType::Modified, self.api.lease_at(renewed.after));
                        self.take_message(*reader, ToClient::Watch { id, event, object });
                    }
                }
            }
        }
        renewals.clear();
        self.rows.renewals = renewals;
    }

    /// Takes a kubelet's row away, after it has told what it is ahead.
    pub(super) fn fold_row(&mut self, client: ClientId) {
        if self.rows.rows[client.0 as usize].state == State::Absent {
            return;
        }
        // A look that is due at this instant comes after whatever else is in hand.
        self.level_row(client, nanos(self.now).unwrap_or(0));
        let row = &mut self.rows.rows[client.0 as usize];
        row.state = State::Absent;
        self.api.unlend(row.place);
        let next = row.lease_at.min(row.tick_at);
        if next >= row.until {
            self.deadlines[client.0 as usize] = None;
            self.schedule(client);
        } else if next != row.due() {
            self.wakes.push((timestamp(next), client.0));
        }
    }

    /// Lets all kubelets know what was done for them: nobody outside sees that it was not done by themselves.
    pub(super) fn level(&mut self) {
        let mut ahead = core::mem::take(&mut self.rows.ahead);
        let end = nanos(self.now).map_or(0, |now| now + 1);
        for client in ahead.drain(..) {
            if self.rows.rows[client as usize].state == State::Ahead {
                self.level_row(ClientId(client), end);
            }
        }
        self.rows.ahead = ahead;
    }

    /// Tells a kubelet what was done for it, and what it did by itself before an instant.
    fn level_row(&mut self, client: ClientId, end: i64) {
        let index = client.0 as usize;
        let row = &mut self.rows.rows[index];
        row.look_until(end, &self.rows.tempos[row.tempo as usize]);
        let beaten = row.beaten();
        row.renewals = 0;
        row.state = State::Level;
        self.deadlines[index] = Some(first_of_loops(beaten.lease_at, beaten.tick_at));
        if let Some((_, at, _)) = beaten.renewals {
            self.network.touch(client, at);
        }
        if let Actor::Machine(machine) = &mut self.slots[index].actor {
            machine.take_beats(&beaten);
        }
    }
}

/// The instants up to which sums of the numbers in a row cannot overflow.
const NANOS_MAX: i64 = i64::MAX / 4;

/// Returns an instant as a row has it; `None` for one before the epoch or too far ahead.
fn nanos(at: Timestamp) -> Option<i64> {
    i64::try_from(at.as_nanosecond()).ok().filter(|nanos| (0..NANOS_MAX).contains(nanos))
}

fn timestamp(nanos: i64) -> Timestamp {
    const SECOND: i64 = 1_000_000_000;
    let rest = i32::try_from(nanos.rem_euclid(SECOND)).unwrap_or(0);
    Timestamp::new(nanos.div_euclid(SECOND), rest).expect("a row holds instants of this age")
}
