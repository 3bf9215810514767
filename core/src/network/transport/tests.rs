//! Tests what the network does with messages, rule by rule.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{boxed::Box, format};
use std::vec;

use jiff::{SignedDuration, Timestamp};

use super::{Delivery, Network};
use crate::chance::Chance;
use crate::json;
use crate::network::{
    Answer, Ask, Call, ClientId, Effect, Endpoint, Fault, Identity, InjectedReply, LEASES, Match, NODES, Request,
    RequestId, ToClient, Verb, WatchType,
};
use crate::objects::{Object, Text};

struct Bench {
    network: Network,
    client: ClientId,
    now: Timestamp,
}

impl Bench {
    fn new() -> Self {
        let mut network = Network::new(Chance::new(1));
        let now = Timestamp::UNIX_EPOCH;
        let client = network.connect("machine/w1");
        Self { network, client, now }
    }

    fn at(&mut self, millis: i64) -> &mut Self {
        let until = Timestamp::UNIX_EPOCH + SignedDuration::from_millis(millis);
        assert!(self.network.next_deadline().is_none_or(|due| due >= until), "something is due before {millis} ms");
        self.now = until;
        self.network.handle_timeout(until);
        self
    }

    fn send(&mut self, id: u64, call: Call, timeout_secs: Option<i64>) {
        let request = Request {
            id: RequestId(id),
            identity: Identity::kubelet("w1"),
            ask: Ask::Call(Box::new(call)),
            timeout: timeout_secs.map(SignedDuration::from_secs),
            because: None,
        };
        self.network.send(self.client, request, self.now);
    }

    fn answer(&mut self, id: u64) {
        let message = ToClient::Response { id: RequestId(id), result: Ok(Answer::json(200, json!({}))) };
        self.network.reply(self.client, message, self.now);
    }

    fn event(&mut self, id: u64) {
        let object = Object::new(json!({"metadata": {"name": "w1"}}), 5);
        let message = ToClient::Watch { id: RequestId(id), event: WatchType::Modified, object };
        self.network.reply(self.client, message, self.now);
    }

    fn drain(&mut self) -> Vec<String> {
        core::iter::from_fn(|| self.network.poll_delivery())
            .map(|delivery| match delivery {
                Delivery::ToServer { request, .. } => format!("ask {}", request.id.0),
                Delivery::Cancelled { id, .. } => format!("cancel {}", id.0),
                Delivery::Disconnected { .. } => "disconnected".to_string(),
                Delivery::ToClient { message: ToClient::Response { id, result }, .. } => match result {
                    Ok(answer) => format!("answer {} {}", id.0, answer.code),
                    Err(error) => format!("fail {} {error:?}", id.0),
                },
                Delivery::ToClient { message: ToClient::Watch { id, .. }, .. } => format!("event {}", id.0),
                Delivery::ToClient { message: ToClient::WatchEnded { id, lost }, .. } => {
                    format!("{} {}", if lost { "lost" } else { "ended" }, id.0)
                }
            })
            .collect()
    }
}

fn get() -> Call {
    Call::new(Verb::Get, NODES, "", "w1")
}

fn watch() -> Call {
    Call::new(Verb::Watch, NODES, "", "")
}

fn renew() -> Call {
    Call::new(Verb::Update, LEASES, "kube-node-lease", "w1")
}

fn fault(matching: Option<Match>, effect: Effect) -> Fault {
    Fault { matching, effect, ..Fault::disconnect("machine/w1") }
}

fn leases() -> Option<Match> {
    Some(Match { resource: Some(Text::of("leases")), ..Match::default() })
}

#[test]
fn without_rules_everything_arrives_at_once_and_in_order() {
    let mut bench = Bench::new();
    bench.send(1, watch(), None);
    bench.send(2, get(), None);
    assert_eq!(bench.drain(), ["ask 1", "ask 2"]);
    bench.answer(2);
    bench.event(1);
    assert_eq!(bench.drain(), ["answer 2 200", "event 1"]);
    assert_eq!(bench.network.next_deadline(), None);
}

#[test]
fn a_stall_that_is_healed_in_time_loses_nothing_and_keeps_the_order() {
    let mut bench = Bench::new();
    bench.send(1, watch(), None);
    bench.drain();
    let rule = bench.network.add_rule(Fault::disconnect("machine/w1"), bench.now);
    bench.send(2, get(), None);
    bench.event(1);
    bench.send(3, get(), None);
    assert_eq!(bench.drain(), Vec::<String>::new());
    bench.at(20_000);
    let hits = bench.network.remove_rule(rule, bench.now).unwrap().hits;
    assert_eq!(bench.drain(), ["event 1", "ask 2", "ask 3"]);
    assert_eq!(hits.total, 3);
    assert_eq!(hits.by_request.get(&(Text::of("get"), Text::of("nodes"))), Some(&2));
}

#[test]
fn a_stall_breaks_the_connection_when_the_ping_stays_unanswered() {
    let mut bench = Bench::new();
    bench.send(1, watch(), None);
    bench.drain();
    bench.at(1_000);
    bench.event(1);
    bench.drain();
    bench.at(11_000);
    bench.network.add_rule(Fault::disconnect("machine/w1"), bench.now);
    bench.send(2, get(), None);
    // The last frame came at 1 s: ping at 31 s, given up at 46 s.
    assert_eq!(bench.at(45_999).drain(), Vec::<String>::new());
    assert_eq!(bench.at(46_000).drain(), ["disconnected", "fail 2 ConnectionLost", "lost 1"]);
}

#[test]
fn a_watch_that_the_server_ends_during_a_stall_breaks_with_the_connection() {
    let mut bench = Bench::new();
    bench.send(1, watch(), None);
    bench.send(2, watch(), None);
    bench.drain();
    bench.network.add_rule(fault(None, Effect::Drop), bench.now);
    let ended = ToClient::WatchEnded { id: RequestId(1), lost: false };
    bench.at(1_000);
    bench.network.reply(bench.client, ended.clone(), bench.now);
    bench.at(45_000);
    assert_eq!(bench.drain(), ["disconnected", "lost 1", "lost 2"]);
    bench.network.reply(bench.client, ended, bench.now);
    assert_eq!(bench.drain(), [""; 0], "it was given up");
}

#[test]
fn a_dial_fails_after_thirty_seconds_or_the_requests_own_time_out() {
    let mut bench = Bench::new();
    bench.network.add_rule(Fault::disconnect("machine/w1"), bench.now);
    assert_eq!(bench.at(45_000).drain(), ["disconnected"]);
    bench.send(1, get(), Some(10));
    bench.send(2, get(), None);
    assert_eq!(bench.at(55_000).drain(), ["fail 1 Timeout"]);
    assert_eq!(bench.at(75_000).drain(), ["fail 2 Unreachable"]);
}

#[test]
fn who_comes_while_a_stall_lasts_has_no_connection_to_lose() {
    let mut bench = Bench::new();
    let rule = bench.network.add_rule(Fault::disconnect("machine/w2"), bench.now);
    bench.client = bench.network.connect("machine/w2");
    bench.send(1, get(), None);
    bench.send(2, watch(), None);
    assert_eq!(bench.at(29_999).drain(), Vec::<String>::new());
    assert_eq!(bench.at(30_000).drain(), ["fail 1 Unreachable", "fail 2 Unreachable"]);
    bench.send(3, get(), None);
    assert_eq!(bench.at(59_000).drain(), Vec::<String>::new());
    bench.network.remove_rule(rule, bench.now);
    assert_eq!(bench.drain(), ["ask 3"]);
}

#[test]
fn a_request_times_out_on_a_stalled_connection() {
    let mut bench = Bench::new();
    bench.network.add_rule(Fault::disconnect("machine/w1"), bench.now);
    bench.send(1, get(), Some(10));
    assert_eq!(bench.at(10_000).drain(), ["fail 1 Timeout"]);
}

#[test]
fn a_connection_that_is_refused_breaks_and_fails_at_once_until_it_is_not() {
    let mut bench = Bench::new();
    bench.send(1, watch(), None);
    bench.drain();
    let slow = bench.network.add_rule(
        fault(leases(), Effect::Delay { delay: SignedDuration::from_secs(5), jitter: SignedDuration::ZERO }),
        bench.now,
    );
    bench.send(2, renew(), Some(10));
    bench.send(3, get(), None);
    assert_eq!(bench.drain(), ["ask 3"]);
    let rule = bench.network.add_rule(fault(None, Effect::Refuse), bench.now);
    assert_eq!(bench.drain(), ["disconnected", "fail 2 ConnectionLost", "fail 3 ConnectionLost", "ended 1"]);
    // What the server still says goes nowhere.
    bench.answer(3);
    bench.event(1);
    bench.send(4, get(), None);
    bench.send(5, watch(), None);
    assert_eq!(bench.drain(), ["fail 4 Refused", "fail 5 Refused"]);
    bench.at(60_000);
    assert_eq!(bench.drain(), Vec::<String>::new());
    assert_eq!(bench.network.remove_rule(rule, bench.now).unwrap().hits.total, 4);
    bench.network.remove_rule(slow, bench.now);
    bench.send(6, watch(), None);
    assert_eq!(bench.drain(), ["ask 6"]);
    bench.event(6);
    assert_eq!(bench.drain(), ["event 6"]);
    assert!(bench.network.is_clear(bench.client));
    assert_eq!(bench.network.next_deadline(), None);
}

#[test]
fn what_a_stall_holds_back_is_refused_when_it_is_over() {
    let mut bench = Bench::new();
    bench.send(1, watch(), None);
    bench.drain();
    let stall = bench.network.add_rule(Fault::disconnect("machine/w1"), bench.now);
    let refuse = bench.network.add_rule(fault(None, Effect::Refuse), bench.now);
    bench.send(2, get(), None);
    bench.at(5_000);
    assert_eq!(bench.drain(), Vec::<String>::new());
    bench.network.remove_rule(stall, bench.now);
    assert_eq!(bench.drain(), ["disconnected", "fail 2 ConnectionLost", "ended 1"]);
    bench.send(3, get(), None);
    assert_eq!(bench.drain(), ["fail 3 Refused"]);
    // Without a connection a stall holds back the dial.
    let stall = bench.network.add_rule(Fault::disconnect("machine/w1"), bench.now);
    bench.send(4, get(), None);
    bench.at(35_000);
    assert_eq!(bench.drain(), ["fail 4 Unreachable"]);
    bench.network.remove_rule(stall, bench.now);
    bench.drain();
    bench.network.remove_rule(refuse, bench.now);
    bench.send(5, get(), None);
    assert_eq!(bench.drain(), ["ask 5"]);
    bench.answer(5);
    assert!(bench.network.is_clear(bench.client));
}

#[test]
fn whoever_connects_where_connections_are_refused_is_refused() {
    let mut bench = Bench::new();
    bench.network.add_rule(fault(None, Effect::Refuse), bench.now);
    bench.drain();
    bench.network.forget(bench.client);
    bench.client = bench.network.connect("machine/w1");
    bench.drain();
    bench.send(1, get(), None);
    assert_eq!(bench.drain(), ["fail 1 Refused"]);
    bench.network.forget(bench.client);
    bench.drain();
    bench.send(2, get(), None);
    assert_eq!(bench.drain(), ["fail 2 Refused"]);
}

#[test]
fn a_rule_with_a_match_swallows_those_requests_alone() {
    let mut bench = Bench::new();
    bench.network.add_rule(fault(leases(), Effect::Drop), bench.now);
    bench.send(1, renew(), Some(10));
    bench.send(2, get(), Some(10));
    assert_eq!(bench.drain(), ["ask 2"]);
    bench.answer(2);
    assert_eq!(bench.drain(), ["answer 2 200"]);
    assert_eq!(bench.at(10_000).drain(), ["fail 1 Timeout"]);
}

#[test]
fn a_rule_for_one_object_leaves_the_others_of_its_kind_alone() {
    let mut bench = Bench::new();
    let other = Match { name: Some(Text::of("w2")), ..leases().unwrap() };
    bench.network.add_rule(fault(Some(other), Effect::Drop), bench.now);
    bench.send(1, renew(), Some(10));
    bench.send(2, Call::new(Verb::Update, LEASES, "kube-node-lease", "w2"), Some(10));
    assert_eq!(bench.drain(), ["ask 1"]);
}

#[test]
fn answers_of_a_rule_come_in_turn_and_then_the_server_answers_again() {
    let mut bench = Bench::new();
    let effect = Effect::Answers(vec![InjectedReply::Code(500), InjectedReply::Ok, InjectedReply::Code(409)]);
    let rule = bench.network.add_rule(fault(leases(), effect), bench.now);
    for id in 1..=4 {
        bench.send(id, renew(), Some(10));
        bench.at(0);
    }
    assert_eq!(bench.drain(), ["answer 1 500", "ask 2", "answer 3 409", "ask 4"]);
    let rule = bench.network.remove_rule(rule, bench.now).unwrap();
    assert_eq!(rule.hits.total, 3, "a rule that is used up counts no more");
}

#[test]
fn a_delay_of_the_whole_connection_keeps_the_order_and_a_matched_one_does_not() {
    let slow = Effect::Delay { delay: SignedDuration::from_secs(3), jitter: SignedDuration::ZERO };
    let mut bench = Bench::new();
    let rule = bench.network.add_rule(fault(None, slow.clone()), bench.now);
    bench.send(1, get(), None);
    bench.at(1_000);
    bench.network.remove_rule(rule, bench.now);
    bench.send(2, get(), None);
    assert_eq!(bench.drain(), Vec::<String>::new());
    assert_eq!(bench.at(3_000).drain(), ["ask 1", "ask 2"]);

    let mut bench = Bench::new();
    bench.network.add_rule(fault(leases(), slow), bench.now);
    bench.send(1, renew(), None);
    bench.send(2, get(), None);
    assert_eq!(bench.drain(), ["ask 2"]);
    assert_eq!(bench.at(3_000).drain(), ["ask 1"]);
}

#[test]
fn a_request_that_timed_out_is_not_answered_twice() {
    let slow = Effect::Delay { delay: SignedDuration::from_secs(12), jitter: SignedDuration::ZERO };
    let mut bench = Bench::new();
    bench.network.add_rule(fault(leases(), slow), bench.now);
    bench.send(1, renew(), Some(10));
    assert_eq!(bench.at(10_000).drain(), ["fail 1 Timeout"]);
    assert_eq!(bench.at(12_000).drain(), ["ask 1"]);
    bench.answer(1);
    assert_eq!(bench.drain(), Vec::<String>::new());
}

#[test]
fn a_rule_from_the_server_meets_what_it_sends_and_nothing_else() {
    let from_api = |effect, times| {
        let Fault { from, to, .. } = Fault::disconnect("machine/w1");
        Fault { from: to, to: from, times, ..fault(None, effect) }
    };
    let mut bench = Bench::new();
    bench.send(1, watch(), None);
    bench.answer(1);
    bench.drain();
    bench.network.add_rule(from_api(Effect::Drop, Some(2)), bench.now);
    bench.send(2, get(), Some(10));
    assert_eq!(bench.drain(), ["ask 2"]);
    bench.answer(2);
    bench.event(1);
    bench.event(1);
    assert_eq!(bench.drain(), ["event 1"]);
    assert_eq!(bench.at(10_000).drain(), ["fail 2 Timeout"]);
    bench.send(3, get(), None);
    bench.answer(3);
    assert_eq!(bench.drain(), ["ask 3", "answer 3 200"]);

    let slow = Effect::Delay { delay: SignedDuration::from_secs(3), jitter: SignedDuration::ZERO };
    let mut bench = Bench::new();
    bench.network.add_rule(from_api(slow.clone(), None), bench.now);
    bench.send(1, get(), None);
    assert_eq!(bench.drain(), ["ask 1"]);
    bench.answer(1);
    assert_eq!(bench.drain(), Vec::<String>::new());
    assert_eq!(bench.at(3_000).drain(), ["answer 1 200"]);
    let mut bench = Bench::new();
    let rule = bench.network.add_rule(fault(None, slow), bench.now);
    bench.send(1, get(), None);
    assert_eq!(bench.at(3_000).drain(), ["ask 1"]);
    bench.answer(1);
    assert_eq!(bench.drain(), ["answer 1 200"]);
    assert_eq!(bench.network.remove_rule(rule, bench.now).unwrap().hits.total, 1);
}

#[test]
fn times_and_duration_end_a_rule() {
    let mut bench = Bench::new();
    let fault = Fault { times: Some(1), ..fault(leases(), Effect::Answer(InjectedReply::Code(503))) };
    bench.network.add_rule(fault, bench.now);
    bench.send(1, renew(), None);
    bench.at(0);
    bench.send(2, renew(), None);
    bench.at(0);
    assert_eq!(bench.drain(), ["answer 1 503", "ask 2"]);

    let mut bench = Bench::new();
    let brief = Fault { lasts: Some(SignedDuration::from_secs(5)), ..Fault::disconnect("machine/w1") };
    bench.network.add_rule(brief, bench.now);
    bench.send(1, get(), None);
    assert_eq!(bench.at(5_000).drain(), ["ask 1"]);
    assert_eq!(bench.network.rules().len(), 0);
}

#[test]
fn a_rule_for_everyone_also_meets_who_connects_later() {
    let mut bench = Bench::new();
    bench.network.add_rule(Fault { from: Endpoint::Any, ..Fault::disconnect("") }, bench.now);
    bench.client = bench.network.connect("user/alice");
    bench.send(1, get(), None);
    assert_eq!(bench.drain(), Vec::<String>::new());
}

#[test]
fn a_forgotten_client_receives_nothing_more() {
    let mut bench = Bench::new();
    bench.send(1, watch(), None);
    bench.drain();
    bench.event(1);
    bench.network.forget(bench.client);
    assert_eq!(bench.drain(), ["disconnected"]);
}

#[test]
fn a_cancelled_request_never_reaches_the_server() {
    let mut bench = Bench::new();
    let rule = bench.network.add_rule(Fault::disconnect("machine/w1"), bench.now);
    bench.send(1, get(), None);
    bench.network.cancel(bench.client, RequestId(1), bench.now);
    bench.network.remove_rule(rule, bench.now);
    assert_eq!(bench.drain(), Vec::<String>::new());
    assert_eq!(bench.network.next_deadline(), None);
}
