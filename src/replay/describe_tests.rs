//! Holds `kubectl describe node` against recorded sessions of a real kubectl.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use nodeproof_core::components::describe::DescribedNode;
use nodeproof_core::objects::{Json, time};
use nodeproof_core::profile::Profile;

#[test]
fn a_node_is_described_as_a_real_kubectl_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded/kubectl-1.34.4/describe-nodes.jsonl.gz");
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    let mut count = 0;
    for line in lines {
        let case = Json::parse(&line.unwrap()).unwrap();
        let node = case.get("node");
        let name = node.at(&["metadata", "name"]).as_str().unwrap();
        let missing = format!("leases.coordination.k8s.io {name:?} not found");
        let lease = case.get("lease");
        let described = DescribedNode {
            node,
            lease: if lease.is_object() { Ok(lease) } else { Err(&missing) },
            pods: case.get("pods").items(),
            events: case.get("events").is_array().then(|| case.get("events").items()),
            slices: &[],
            profile: &Profile::default(),
            now: time::parse(case.get("at").as_str().unwrap()).unwrap(),
        };
        let printed = described.lines().join("\n") + "\n";
        let real = case.get("stdout").as_str().unwrap();
        let differ = printed.lines().zip(real.lines()).find(|(own, real)| own != real);
        assert_eq!(printed, real, "{}: {differ:?}", case.get("name"));
        count += 1;
    }
    assert_eq!(count, 6);
}
