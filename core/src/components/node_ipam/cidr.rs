//! Networks of IPv4 and IPv6 as the allocator handles them, and the set of blocks of one cluster network.
//!
//! Mirrors pkg/controller/nodeipam/ipam/cidrset/cidr_set.go (v1.34) and, for reading, `net.ParseCIDR` of Go with the
//! leading zeros that k8s.io/utils `ParseCIDRSloppy` lets pass. Inputs: networks to occupy, to release or to allocate.
//! Outputs: blocks, or upstream's error. Invariant: the search for a free block starts after the last block that was
//! allocated and wraps around, so a released block is not allocated again before the end was reached.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};

use crate::components::controller::Histogram;

/// By how many bits the mask of a node may be longer than that of an IPv6 cluster network.
/// Source: pkg/controller/nodeipam/ipam/cidrset/cidr_set.go (v1.34), `clusterSubnetMaxDiff`.
const IPV6_DIFFERENCE_MAX: u32 = 16;
/// The ranges of the number of taken blocks that a search passes.
/// Source: pkg/controller/nodeipam/ipam/cidrset/metrics.go (v1.34), `cidrSetAllocationTriesPerRequest`.
const TRIES: &[f64] = &[1.0, 5.0, 25.0, 125.0, 625.0];

/// A network: its first address and the length of its mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cidr {
    /// The first address, in the low 32 bits for IPv4.
    first: u128,
    /// Bits of the mask.
    prefix: u32,
    is_ipv6: bool,
}

impl Cidr {
    /// Reads `10.244.0.0/16` or `fd00::/56`; bits of the address beyond the mask are cut off.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let prefix: u32 = prefix.parse().ok().filter(|_| prefix.bytes().all(|byte| byte.is_ascii_digit()))?;
        let (address, width): (u128, u32) = match parse_ipv4(address) {
            Some(address) => (u128::from(u32::from(address)), 32),
            None => (u128::from(address.parse::<Ipv6Addr>().ok()?), 128),
        };
        let first = address & !low_bits(width.checked_sub(prefix)?);
        Some(Self { first, prefix, is_ipv6: width == 128 })
    }

    /// Tells whether this is a network of IPv6.
    #[must_use]
    pub const fn is_ipv6(&self) -> bool {
        self.is_ipv6
    }

    /// Returns the number of bits of the mask.
    #[must_use]
    pub const fn prefix(&self) -> u32 {
        self.prefix
    }

    const fn width(&self) -> u32 {
        if self.is_ipv6 { 128 } else { 32 }
    }

    fn last(&self) -> u128 {
        self.first | low_bits(self.width() - self.prefix)
    }

    /// Tells whether two networks have addresses in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.is_ipv6 == other.is_ipv6 && self.first <= other.last() && other.first <= self.last()
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_ipv6 {
            write!(out, "{}/{}", Ipv6Addr::from(self.first), self.prefix)
        } else {
            let low = u32::try_from(self.first).unwrap_or(u32::MAX);
            write!(out, "{}/{}", Ipv4Addr::from(low), self.prefix)
        }
    }
}

const fn low_bits(count: u32) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

fn parse_ipv4(text: &str) -> Option<Ipv4Addr> {
    let mut parts = [0_u8; 4];
    let mut read = text.split('.');
    for part in &mut parts {
        let digits = read.next()?;
        *part = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    }
    read.next().is_none().then(|| Ipv4Addr::from(parts))
}

/// The blocks of one cluster network, of which some are taken.
#[derive(Clone, Debug)]
pub struct CidrSet {
    cluster: Cidr,
    /// Bits of the mask of a block.
    node_prefix: u32,
    /// The number of blocks.
    blocks: u64,
    /// One bit for each block, up to the highest one ever taken.
    used: Vec<u64>,
    taken: u64,
    next: u64,
    /// What is measured of it.
    tally: BlockTally,
}

/// How often blocks were taken and given back, and how many taken ones were passed in search of a free one.
#[derive(Clone, Debug)]
pub struct BlockTally {
    /// Blocks that were taken.
    pub allocations: u64,
    /// Blocks that were given back.
    pub releases: u64,
    /// Blocks passed by each search.
    pub tries: Histogram,
    /// Whether anything was taken or given back.
    pub is_touched: bool,
}

impl CidrSet {
    /// Divides a network into blocks.
    ///
    /// # Errors
    /// Upstream's message: the mask of a block is shorter than that of the network, or too much longer.
    pub fn new(cluster: Cidr, node_prefix: u32) -> Result<Self, String> {
        if cluster.prefix > node_prefix {
            return Err(String::from(
                "Controller: Invalid --cluster-cidr, mask size of cluster CIDR must be less than or equal to \
                    --node-cidr-mask-size configured for CIDR family",
            ));
        }
        if node_prefix > cluster.width() {
            return Err(format!("a mask of {node_prefix} bits is longer than an address of {cluster}"));
        }
        if cluster.is_ipv6 && node_prefix - cluster.prefix > IPV6_DIFFERENCE_MAX {
            return Err(String::from("New CIDR set failed; the node CIDR size is too big"));
        }
        let blocks = 1 << (node_prefix - cluster.prefix);
        let tally = BlockTally { allocations: 0, releases: 0, tries: Histogram::new(TRIES), is_touched: false };
        Ok(Self { cluster, node_prefix, blocks, used: Vec::new(), taken: 0, next: 0, tally })
    }

    /// Returns the network that is divided.
    #[must_use]
    pub const fn cluster(&self) -> &Cidr {
        &self.cluster
    }

    /// Returns how many blocks there are, and how many of them are taken.
    #[must_use]
    pub const fn counts(&self) -> (u64, u64) {
        (self.blocks, self.taken)
    }

    /// Returns what is measured of it.
    #[must_use]
    pub const fn tally(&self) -> &BlockTally {
        &self.tally
    }

    /// Takes the next free block; `None` if all are taken.
    pub fn allocate_next(&mut self) -> Option<Cidr> {
        if self.taken == self.blocks {
            return None;
        }
        let mut candidate = self.next;
        let mut passed: u32 = 0;
        while self.is_used(candidate) {
            candidate = (candidate + 1) % self.blocks;
            passed = passed.saturating_add(1);
        }
        self.tally.tries.add(f64::from(passed));
        self.next = (candidate + 1) % self.blocks;
        self.mark(candidate, true);
        let first = self.cluster.first | u128::from(candidate) << (self.cluster.width() - self.node_prefix);
        Some(Cidr { first, prefix: self.node_prefix, is_ipv6: self.cluster.is_ipv6 })
    }

    /// Takes all blocks that a network touches.
    ///
    /// # Errors
    /// Upstream's message: the network lies outside.
    pub fn occupy(&mut self, cidr: &Cidr) -> Result<(), String> {
        self.mark_all(cidr, true)
    }

    /// Gives back all blocks that a network touches.
    ///
    /// # Errors
    /// As for [`Self::occupy`].
    pub fn release(&mut self, cidr: &Cidr) -> Result<(), String> {
        self.mark_all(cidr, false)
    }

    fn mark_all(&mut self, cidr: &Cidr, used: bool) -> Result<(), String> {
        if !cidr.overlaps(&self.cluster) {
            let (cidr, cluster) = (cidr.to_string(), self.cluster);
            return Err(format!("cidr {cidr} is out the range of cluster cidr {cluster}"));
        }
        let index = |address: u128| {
            let offset = (address - self.cluster.first) >> (self.cluster.width() - self.node_prefix);
            u64::try_from(offset).unwrap_or(u64::MAX)
        };
        let begin = index(cidr.first.max(self.cluster.first));
        let end = index(cidr.last().min(self.cluster.last()));
        for at in begin..=end {
            self.mark(at, used);
        }
        Ok(())
    }

    fn is_used(&self, at: u64) -> bool {
        let (word, bit) = place(at);
        self.used.get(word).is_some_and(|bits| bits & bit != 0)
    }

    fn mark(&mut self, at: u64, used: bool) {
        self.tally.is_touched = true;
        if self.is_used(at) == used {
            return;
        }
        *if used { &mut self.tally.allocations } else { &mut self.tally.releases } += 1;
        let (word, bit) = place(at);
        if self.used.len() <= word {
            self.used.resize(word + 1, 0);
        }
        self.used[word] ^= bit;
        self.taken = if used { self.taken + 1 } else { self.taken - 1 };
    }
}

fn place(at: u64) -> (usize, u64) {
    (usize::try_from(at / 64).unwrap_or(usize::MAX), 1 << (at % 64))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::{Cidr, CidrSet};

    fn set(cluster: &str, prefix: u32) -> CidrSet {
        CidrSet::new(Cidr::parse(cluster).unwrap(), prefix).unwrap()
    }

    fn next(set: &mut CidrSet, count: usize) -> Vec<Option<alloc::string::String>> {
        (0..count).map(|_| set.allocate_next().map(|cidr| cidr.to_string())).collect()
    }

    #[test]
    fn a_network_is_read_and_printed_as_go_does() {
        for (text, printed) in [
            ("10.244.0.0/16", "10.244.0.0/16"),
            ("10.244.7.9/16", "10.244.0.0/16"),
            ("010.1.0.0/24", "10.1.0.0/24"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("fd00:10:244:0::/56", "fd00:10:244::/56"),
            ("fd00::1/128", "fd00::1/128"),
        ] {
            assert_eq!(Cidr::parse(text).unwrap().to_string(), printed, "{text}");
        }
        for text in ["", "10.0.0.0", "10.0.0.0/33", "10.0.0/24", "10.0.0.0/+8", "fd00::/129", "fd00::/", "x/8"] {
            assert_eq!(Cidr::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_released_block_waits_until_the_search_comes_round() {
        let mut set = set("10.244.0.0/22", 24);
        let free = Cidr::parse("10.244.0.0/24").unwrap();
        assert_eq!(next(&mut set, 2), [Some("10.244.0.0/24".into()), Some("10.244.1.0/24".into())]);
        set.release(&free).unwrap();
        let after = next(&mut set, 4);
        assert_eq!(after, [Some("10.244.2.0/24".into()), Some("10.244.3.0/24".into()), Some(free.to_string()), None]);
        assert_eq!(set.counts(), (4, 4));
    }

    #[test]
    fn a_network_takes_all_blocks_that_it_touches_and_none_outside() {
        let mut set = set("10.244.0.0/22", 24);
        set.occupy(&Cidr::parse("10.244.1.128/25").unwrap()).unwrap();
        set.occupy(&Cidr::parse("10.244.2.0/23").unwrap()).unwrap();
        assert_eq!(next(&mut set, 2), [Some("10.244.0.0/24".into()), None]);
        let why = set.occupy(&Cidr::parse("10.244.9.0/24").unwrap()).unwrap_err();
        let text = "cidr 10.244.9.0/24 is out the range of cluster cidr 10.244.0.0/22";
        assert_eq!(why, text);
        set.release(&Cidr::parse("10.0.0.0/8").unwrap()).unwrap();
        assert_eq!(set.counts(), (4, 0));
    }

    #[test]
    fn masks_that_do_not_fit_are_refused() {
        for (cluster, prefix) in [("10.0.0.0/24", 16), ("10.0.0.0/24", 33), ("fd00::/48", 65)] {
            assert!(CidrSet::new(Cidr::parse(cluster).unwrap(), prefix).is_err(), "{cluster} {prefix}");
        }
        assert_eq!(set("fd00::/48", 64).counts(), (65_536, 0));
        assert_eq!(next(&mut set("10.0.0.7/32", 32), 2), [Some("10.0.0.7/32".into()), None]);
    }
}
