//! Hands slightly changed valid text to every reader. A panic that was found once is a case of its own here.

use std::io::Read as _;
use std::path::Path;

use super::{control, feature, json, patch, quantity, recording, selector, sentence, yaml};
use crate::steps::catalogue;

/// A feature file with something of everything.
const RICH: &str = r#"# language: en
@core @req:NC-03
Feature: x
  Background:
    Given a ready Node "worker-1" in zone "a"
  Rule: r
    @since:1.32
    Scenario Outline: y <row>
      Given a Pod "web" on Node "worker-1" that tolerates "k=v:NoExecute" for <time>
      And the object:
        """yaml
        apiVersion: v1
        kind: Node
        metadata: {name: n-<row>}
        """
      And kube-controller-manager runs with:
        | node-monitor-grace-period | 20s |
      When the kubelet on "worker-1" is killed
      Then Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 9s and 46s
      And Pod "web" is deleted at 60s after Node "worker-1" has taint "k=v:NoExecute"
      And the Lease of Node "worker-1" field spec.renewTime is set within <time>
      Examples:
        | row | time |
        | 1   | 5s   |
        | 2   | 1m   |
"#;

const OBJECT: &str = concat!(
    r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","labels":{"b.c/d":"x"},"creationTimestamp":null},"#,
    r#""spec":{"taints":[{"key":"k","value":"v","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"}],"#,
    r#""podCIDRs":["10.0.0.0/24"]},"#,
    r#""status":{"capacity":{"cpu":"4","memory":"16Gi"},"#,
    r#""conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-01T00:00:00Z"}],"#,
    r#""addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}}"#
);

const PATCHES: [&str; 6] = [
    r#"{"spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoExecute","$patch":"delete"}]}}"#,
    concat!(
        r#"{"metadata":{"labels":{"b.c/d":null}},"#,
        r#""status":{"conditions":[{"type":"Ready","status":"False"}],"#,
        r#""$setElementOrder/conditions":[{"type":"Ready"}]}}"#
    ),
    r#"{"spec":{"$retainKeys":["podCIDRs"],"$deleteFromPrimitiveList/podCIDRs":["10.0.0.0/24"]}}"#,
    r#"{"spec":{"$patch":"replace","taints":[]},"metadata":{"$patch":"delete"}}"#,
    concat!(
        r#"[{"op":"test","path":"/spec/taints/0/key","value":"k"},"#,
        r#"{"op":"replace","path":"/spec/taints/0/effect","value":1},"#,
        r#"{"op":"add","path":"/spec/taints/-","value":{}}]"#
    ),
    concat!(
        r#"[{"op":"move","from":"/spec/taints/0","path":"/spec/x"},"#,
        r#"{"op":"copy","from":"/metadata/labels/b.c~1d","path":"/metadata/labels/e"},"#,
        r#"{"op":"remove","path":"/status/conditions/0"}]"#
    ),
];

/// A stream of choices: the same seed gives the same.
struct Dice(u64);

impl Dice {
    const fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 1).unwrap_or_default() % limit.max(1)
    }
}

/// What is put into texts, separated by blanks.
const BITS: &str = "\" | < > \n \r \t \0 \"\"\" @ : # Feature: Examples: Rule: Given 99999999999h \
    é \u{feff} \u{202e} \\ { [ - -1 \
    9223372036854775808 1e400 null {} [] } ] , = ! ( ) ~ / &a *a $patch";

/// Changes a text in a few places, so that most of it stays what it was.
fn mutated(text: &[u8], dice: &mut Dice) -> Vec<u8> {
    let bits: Vec<&str> = BITS.split(' ').collect();
    let mut bytes = text.to_vec();
    for _ in 0..=dice.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = dice.below(bytes.len());
        match dice.below(6) {
            0 => drop(bytes.splice(at..at, bits[dice.below(bits.len())].bytes())),
            1 => drop(bytes.drain(at..(at + dice.below(40)).min(bytes.len()))),
            2 => bytes[at] = u8::try_from(dice.below(256)).unwrap_or_default(),
            3 => {
                let part = bytes[at..(at + dice.below(80)).min(bytes.len())].to_vec();
                let to = dice.below(bytes.len());
                drop(bytes.splice(to..to, part));
            }
            4 => bytes.truncate(at.max(1)),
            _ => {
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
                lines.remove(dice.below(lines.len()));
                bytes = lines.concat();
            }
        }
    }
    bytes
}

/// Hands over each of some texts as it is, and then changed, so many times in all.
fn robust(reader: fn(&[u8]), texts: &[impl AsRef<[u8]>], rounds: usize) {
    texts.iter().for_each(|text| reader(text.as_ref()));
    for round in 0..rounds {
        let text = mutated(texts[round % texts.len()].as_ref(), &mut Dice::new(round as u64));
        let done = std::panic::catch_unwind(|| reader(&text));
        assert!(done.is_ok(), "round {round}: {}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn feature_files() {
    robust(feature, &[RICH], 60);
}

#[test]
fn sentences() {
    let texts = catalogue().into_iter().step_by(4).map(|sentence| sentence.pattern.replace(['[', ']'], ""));
    robust(sentence, &texts.collect::<Vec<_>>(), 40);
}

#[test]
fn yaml_of_all_sorts() {
    let texts = [
        "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n&a {<<: *a}\n",
        "topic:\n- {id: NC-03, says: x, versions: '1.24+'}\n",
        "- {recording: r, writer: w, object: '*', path: '*', what: w, amount: 1 s, why: because}\n",
        "a: &a [*a, *a]\nb: !tag {? [x] : y}\n",
    ];
    robust(yaml, &texts, 2_000);
}

#[test]
fn json_of_all_sorts() {
    robust(json, &[OBJECT, r#"[1, -0.0, 1e10, "\ud83d\ude00", true, null, {"": ""}]"#], 2_000);
    // Found by fuzzing: read one bit too low.
    json(b"4.2e211");
}

#[test]
fn selectors_and_paths() {
    let texts = [
        "a in (b, c),d notin (e),!f,g=h,i!=j,k==l,m>1,n<2",
        "metadata.name=a,spec.nodeName!=b\\,c",
        "status.conditions[Ready].message",
        "metadata.labels[\"a.b/c\"]",
        "/apis/apps/v1/namespaces/default/deployments/web/status?limit=5&fieldSelector=a%3Db",
        "@core and not (@slow or @req:NC-03)",
        "worker-1.example.com",
    ];
    robust(selector, &texts, 4_000);
}

#[test]
fn patches() {
    let texts: Vec<String> = PATCHES.iter().map(|patch| format!("{OBJECT}\n{patch}")).collect();
    robust(patch, &texts, 1_000);
}

#[test]
fn quantities_and_durations() {
    let texts = [
        "500m",
        "16Gi",
        "-1.5e3",
        "+.5Ki",
        "1h30m0.5s",
        "-2562047h47m16.854775807s",
        "2026-01-01T00:00:00.000001Z",
        "1.34.4",
        "18446744073709551615",
        "1..1000",
        "0.000000001n",
        "170141183460469231731687303715884105727",
    ];
    robust(quantity, &texts, 6_000);
}

#[test]
fn recordings() {
    const LINES: usize = 60;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded/1.34.4/registration");
    let read = |name: &str| -> Vec<u8> {
        let mut text = Vec::new();
        let file = std::fs::File::open(root.join(format!("{name}.jsonl.gz"))).expect("the recording is there");
        flate2::read::GzDecoder::new(file).read_to_end(&mut text).expect("it can be unpacked");
        text.split_inclusive(|byte| *byte == b'\n').take(LINES).collect::<Vec<_>>().concat()
    };
    let about = std::fs::read(root.join("about.yaml")).expect("the recording is there");
    let parts = [about, read("watch"), read("writes"), read("actions")];
    robust(recording, &[parts.join(&0x1e)], 40);
}

#[test]
fn lines_of_the_control_interface() {
    let conversations = [
        include_str!("../../fixtures/control/machines.jsonl"),
        include_str!("../../fixtures/control/rules.jsonl"),
        include_str!("../../fixtures/control/lines.jsonl"),
        include_str!("../../fixtures/control/settings.jsonl"),
        include_str!("../../fixtures/control/watches.jsonl"),
    ];
    let said = |text: &str| text.lines().filter_map(|line| line.strip_prefix("> ")).collect::<Vec<_>>().join("\n");
    robust(control, &conversations.map(said), 60);
}
