//! The flags about the networks of nodes, checked with the messages of kube-controller-manager. Inputs: settings.
//! Outputs: sets of blocks, or the flag that is refused and why.
//!
//! Mirrors cmd/kube-controller-manager/app/core.go (v1.34), `startNodeIpamController`, `validateCIDRs` and
//! `setNodeCIDRMaskSizes`, and pkg/controller/nodeipam/node_ipam_controller.go, `NewNodeIpamController`.
//! Left out on purpose: `--cidr-allocator-type`, of which one value is left.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::cidr::{Cidr, CidrSet};
use crate::profile::{Settings, Value};

/// Bits of the mask of a node's network. Source: pkg/controller/nodeipam/config (v1.34), `DefaultNodeMaskCIDRIPv4`.
const MASK_IPV4: u32 = 24;
/// As [`MASK_IPV4`], `DefaultNodeMaskCIDRIPv6`.
const MASK_IPV6: u32 = 64;

/// Flags that contradict each other: the one that is reported, and why.
pub type FlagError = (&'static str, String);

/// Makes the sets of blocks, one for each cluster network; `None` if nodes get no networks.
///
/// # Errors
/// The flags do not fit each other; kube-controller-manager does not start with them.
pub fn sets(settings: &Settings) -> Result<Option<Vec<CidrSet>>, FlagError> {
    if settings.value("allocate-node-cidrs") != Value::Bool(true) {
        return Ok(None);
    }
    let kind = settings.text("cidr-allocator-type");
    if kind != "RangeAllocator" {
        return Err(("cidr-allocator-type", format!("invalid CIDR allocator type: {kind}")));
    }
    let cluster = networks(settings.text("cluster-cidr")).map_err(|why| ("cluster-cidr", why))?;
    let masks = masks(settings, &cluster)?;
    let mut sets = Vec::new();
    for (network, mask) in cluster.into_iter().zip(masks) {
        sets.push(CidrSet::new(network, mask).map_err(|why| ("cluster-cidr", why))?);
    }
    for services in service_networks(settings.text("service-cluster-ip-range"))? {
        for set in sets.iter_mut().filter(|set| set.cluster().overlaps(&services)) {
            // What cannot be taken out is a line of the log upstream.
            drop(set.occupy(&services));
        }
    }
    Ok(Some(sets))
}

/// Returns the networks of Services, of which no Node gets a part; what cannot be read is only warned of.
///
/// Source: cmd/kube-controller-manager/app/options/nodeipamcontroller.go (v1.34), `Validate`, beside core.go.
fn service_networks(text: &str) -> Result<Vec<Cidr>, FlagError> {
    let refuse = |why: &str| Err(("service-cluster-ip-range", String::from(why)));
    if text.split(',').count() > 2 {
        return refuse("--service-cluster-ip-range can not contain more than two entries");
    }
    let networks: Vec<Cidr> = text.split(',').filter_map(Cidr::parse).collect();
    match networks.as_slice() {
        [one, other] if one.is_ipv6() == other.is_ipv6() => {
            refuse("serviceCIDR and secondaryServiceCIDR are not dualstack (from different IPfamiles)")
        }
        _ => Ok(networks),
    }
}

fn networks(text: &str) -> Result<Vec<Cidr>, String> {
    if text.trim().is_empty() {
        return Err(String::from("Controller: Must specify --cluster-cidr if --allocate-node-cidrs is set"));
    }
    let mut networks = Vec::new();
    for part in text.trim().split(',') {
        let why = || format!("failed to parse cidr value:{part:?} with error:invalid CIDR address: {part}");
        networks.push(Cidr::parse(part).ok_or_else(why)?);
    }
    let count = networks.len();
    let has = |ipv6: bool| networks.iter().any(|network| network.is_ipv6() == ipv6);
    if count > 1 && !(has(false) && has(true)) {
        return Err(format!(
            "len of ClusterCIDRs=={count} and they are not configured as dual stack (at least one from each IPFamily"
        ));
    }
    if count > 2 {
        return Err(format!("length of clusterCIDRs is:{count} more than max allowed of 2"));
    }
    Ok(networks)
}

/// Returns the bits of the mask of a node's network, for each cluster network.
fn masks(settings: &Settings, cluster: &[Cidr]) -> Result<Vec<u32>, FlagError> {
    let set = |flag: &str| match settings.number(flag) {
        bits if bits >= 1.0 => Some(bits),
        _ => None,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a flag's small whole number")]
    let bits = |flag: &str, default: u32| set(flag).map_or(default, |bits| bits as u32);
    let refuse = |flag: &'static str, why: &str| Err((flag, String::from(why)));
    let both = "node-cidr-mask-size";
    let (ipv4, ipv6) = ("node-cidr-mask-size-ipv4", "node-cidr-mask-size-ipv6");
    if cluster.len() > 1 {
        if set(both).is_some() {
            return refuse(both, "usage of --node-cidr-mask-size is not allowed with dual-stack clusters");
        }
    } else if set(both).is_some() {
        if set(ipv4).is_some() || set(ipv6).is_some() {
            return refuse(
                both,
                "usage of --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6 is not allowed if \
                    --node-cidr-mask-size is set. For dual-stack clusters please unset it",
            );
        }
        return Ok(cluster.iter().map(|_| bits(both, MASK_IPV4)).collect());
    } else {
        let is_ipv6 = cluster.first().is_some_and(Cidr::is_ipv6);
        if set(ipv4).is_some() && is_ipv6 {
            return refuse(ipv4, "usage of --node-cidr-mask-size-ipv4 is not allowed for a single-stack IPv6 cluster");
        }
        if set(ipv6).is_some() && !is_ipv6 {
            return refuse(ipv6, "usage of --node-cidr-mask-size-ipv6 is not allowed for a single-stack IPv4 cluster");
        }
    }
    let mask = |network: &Cidr| if network.is_ipv6() { bits(ipv6, MASK_IPV6) } else { bits(ipv4, MASK_IPV4) };
    Ok(cluster.iter().map(mask).collect())
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::sets;
    use crate::profile::Settings;

    fn settings(flags: &str) -> Settings {
        let mut settings = Settings::default();
        settings.set("allocate-node-cidrs", "true").unwrap();
        for flag in flags.split_whitespace() {
            let (name, value) = flag.split_once('=').unwrap();
            settings.set(name, value).unwrap();
        }
        settings
    }

    #[test]
    fn networks_and_masks_follow_the_flags() {
        for (flags, blocks) in [
            ("cluster-cidr=10.0.0.0/16", &[256][..]),
            ("cluster-cidr=10.0.0.0/16 node-cidr-mask-size=26", &[1024]),
            ("cluster-cidr=10.0.0.0/16 node-cidr-mask-size-ipv4=20", &[16]),
            ("cluster-cidr=fd00::/56", &[256]),
            ("cluster-cidr=fd00::/56 node-cidr-mask-size=60", &[16]),
            ("cluster-cidr=10.0.0.0/20,fd00::/62", &[16, 4]),
            ("cluster-cidr=fd00::/62,10.0.0.0/20 node-cidr-mask-size-ipv4=22 node-cidr-mask-size-ipv6=63", &[2, 4]),
        ] {
            let sets = sets(&settings(flags)).unwrap().unwrap();
            assert_eq!(sets.iter().map(|set| set.counts().0).collect::<Vec<_>>(), blocks, "{flags}");
        }
        assert!(sets(&Settings::default()).unwrap().is_none());
    }

    #[test]
    fn flags_that_do_not_go_together_are_refused_in_words() {
        for (flags, word) in [
            ("node-cidr-mask-size=24", "Must specify --cluster-cidr"),
            ("cluster-cidr=ten", "failed to parse cidr value:\"ten\" with error:invalid CIDR address: ten"),
            ("cluster-cidr=10.0.0.0/16,10.1.0.0/16", "len of ClusterCIDRs==2"),
            ("cluster-cidr=10.0.0.0/16,fd00::/56,fd01::/56", "length of clusterCIDRs is:3"),
            ("cluster-cidr=10.0.0.0/16,fd00::/56 node-cidr-mask-size=24", "not allowed with dual-stack"),
            ("cluster-cidr=10.0.0.0/16 node-cidr-mask-size-ipv6=64", "single-stack IPv4"),
            ("cluster-cidr=fd00::/56 node-cidr-mask-size-ipv4=24", "single-stack IPv6"),
            ("cluster-cidr=10.0.0.0/16 node-cidr-mask-size=24 node-cidr-mask-size-ipv4=24", "unset it"),
            ("cluster-cidr=10.0.0.0/25", "Invalid --cluster-cidr"),
            ("cluster-cidr=fd00::/40", "the node CIDR size is too big"),
            ("cluster-cidr=10.0.0.0/16 service-cluster-ip-range=10.96.0.0/16,10.97.0.0/16", "are not dualstack"),
            ("cluster-cidr=10.0.0.0/16 service-cluster-ip-range=10.96.0.0/16,fd00::/64,", "more than two entries"),
        ] {
            let (_, why) = sets(&settings(flags)).unwrap_err();
            assert!(why.contains(word), "{flags}: {why}");
        }
    }

    #[test]
    fn blocks_of_the_service_network_are_not_given_out() {
        let flags = "cluster-cidr=10.96.0.0/12 service-cluster-ip-range=10.96.0.0/16";
        let mut sets = sets(&settings(flags)).unwrap().unwrap();
        assert_eq!(alloc::format!("{}", sets[0].allocate_next().unwrap()), "10.97.0.0/24");
    }

    #[test]
    fn services_of_two_families_have_blocks_of_both() {
        let flags = "cluster-cidr=10.96.0.0/12,fd00::/56 service-cluster-ip-range=10.96.0.0/16,fd00::/112";
        let mut sets = sets(&settings(flags)).unwrap().unwrap();
        let next: alloc::vec::Vec<_> =
            sets.iter_mut().map(|set| alloc::format!("{}", set.allocate_next().unwrap())).collect();
        assert_eq!(next, ["10.97.0.0/24", "fd00:0:0:1::/64"]);
    }
}
