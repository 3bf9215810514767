//! How much memory, disk and how many process ids a kind node has, and how much of it is left.
//!
//! A node shares all of it with its host. What its kubelet reads about memory and process ids are files of the kernel;
//! other files are mounted over them, as lxcfs does for containers. The disk is a file system in a file, whose space is
//! taken without being written. Inputs: the hardware of a machine, what is to be left. Outputs: scripts. Invariant: a
//! file is changed in one write of the same length, so that a kubelet never reads half of it. Left out on purpose: what
//! single containers use, which the kernel counts.

use nodeproof_core::components::machine::{Free, Hardware, MachineAction, MachineSpec, Resource};
use nodeproof_core::scenario::{Action, Scenario, ScenarioAction, Setup};

use crate::live::cleanup::op::quoted;

/// The script that gives a node its sizes at each boot.
const BOOT: &str = "/etc/nodeproof-sizes.sh";
/// The script that leaves less of a resource.
const FILL: &str = "/etc/nodeproof-fill.sh";
/// The size of a block of the file system.
const BLOCK: i64 = 4096;
/// How many inodes a file system has whose number is not told: few, so that they can be used up.
const INODES: i64 = 24_000;

/// Mounts the files. Both containerd and the kubelet wait for it: who is first does it.
///
/// Source: pkg/kubelet/stats/pidlimit/pidlimit_linux.go (v1.34), `Stats`; github.com/google/cadvisor
/// machine/machine.go, `GetMachineMemoryCapacity`; github.com/opencontainers/cgroups fs/memory.go and fs2/memory.go.
/// The option `minixdf` has the file system count its own tables as used and not as absent.
const BOOT_SCRIPT: &str = r#"exec 9> /run/nodeproof-sizes.lock; flock 9
[ -e /run/nodeproof/sized ] && exit 0
set -e
mkdir -p /run/nodeproof
over() { own=/run/nodeproof/${1##*/}; cat > $own; mount --bind $own $1; }
sed "s/^MemTotal:.*/MemTotal: $memory kB/" /proc/meminfo | over /proc/meminfo
for file in pid_max threads-max; do echo $pids | over /proc/sys/kernel/$file; done
printf '0.00 0.00 0.00 1/%-12d 1\n' 0 | over /proc/loadavg
for group in /sys/fs/cgroup/memory /sys/fs/cgroup; do
  for file in memory.usage_in_bytes memory.current; do
    if [ -e $group/$file ]; then printf '%-20d\n' 0 | over $group/$file; fi
  done
  stat=$group/memory.stat
  if [ -e $stat ]; then sed 's/inactive_file .*/inactive_file 0/' $stat | over $stat; fi
done
disk=/var/lib/nodeproof/disk; snapshots=/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs
if [ ! -e $disk.img ]; then
  mkdir -p $disk /var/lib/kubelet $snapshots
  truncate -s $size $disk.new
  mkfs.ext4 -q -F -m 0 -b 4096 $groups -N $inodes $disk.new
fi
for try in 1 2 3 4 5; do
  free=$(losetup -f); [ -e $free ] || mknod $free b 7 ${free#/dev/loop} || true
  mount -o loop,minixdf $(ls $disk.new $disk.img 2>/dev/null) $disk && break
  sleep 0.$try
done
if [ -e $disk.new ]; then
  mkdir $disk/kubelet $disk/snapshots $disk/inodes
  cp -a /var/lib/kubelet/. $disk/kubelet/; cp -a $snapshots/. $disk/snapshots/
  mv $disk.new $disk.img
fi
mount --bind $disk/kubelet /var/lib/kubelet; mount --bind $disk/snapshots $snapshots
touch /run/nodeproof/sized
"#;

/// Takes a resource, named first, until what is named second is left: an amount, or a share as `0.05x`.
const FILL_SCRIPT: &str = r#"set -e
disk=/var/lib/nodeproof/disk
left() { case $1 in *x) awk "BEGIN {printf \"%.0f\", int($2 * ${1%x})}";; *) echo $1;; esac; }
set_to() { if [ -e /run/nodeproof/$1 ]; then dd of=/run/nodeproof/$1 conv=notrunc 2>/dev/null; fi; }
bytes() { stat -f -c '%a %S' $disk | awk '{printf "%.0f", $1 * $2}'; }
case $1 in
memory)
  all=$(awk '/^MemTotal/ {printf "%.0f", $2 * 1024}' /proc/meminfo); used=$((all - $(left $2 $all)))
  for file in memory.usage_in_bytes memory.current; do printf '%-20d\n' $used | set_to $file; done;;
pids)
  all=$(cat /proc/sys/kernel/pid_max)
  printf '0.00 0.00 0.00 1/%-12d 1\n' $((all - $(left $2 $all))) | set_to loadavg;;
disk)
  left=$(left $2 $(stat -f -c '%b %S' $disk | awk '{printf "%.0f", $1 * $2}')); touch $disk/fill
  for try in 1 2 3 4 5; do
    has=$(stat -c %s $disk/fill); wants=$((has + $(bytes) - left)); [ $wants -gt 0 ] || wants=0
    if [ $wants -lt $has ]; then truncate -s $wants $disk/fill; continue; fi
    fallocate -l $wants $disk/fill 2>/dev/null || true
  done;;
inodes)
  more=$(($(stat -f -c %d $disk) - $(left $2 $(stat -f -c %c $disk)))); cd $disk/inodes
  if [ $more -gt 0 ]; then seq -f "$(date +%s%N)-%.0f" $more | xargs touch 2>/dev/null || true
  elif [ $more -lt 0 ]; then ls -U | head -n ${more#-} | xargs -r rm; fi;;
esac
"#;

/// Tells whether a scenario is about how much its machines have, or have left.
pub(super) fn is_told(scenario: &Scenario) -> bool {
    let fills = scenario.actions().any(|action| match action {
        ScenarioAction::Action(action) => match &**action {
            Action::Machine { action: MachineAction::Fill(_), .. } => true,
            Action::AddMachine(spec) => has_own(&spec.hardware),
            _ => false,
        },
        _ => false,
    });
    let has_own = |spec: &MachineSpec| has_own(&spec.hardware);
    fills
        || scenario
            .given
            .iter()
            .any(|given| matches!(&given.setup, Setup::ReadyNodes(specs) if specs.iter().any(has_own)))
}

fn has_own(hardware: &Hardware) -> bool {
    let usual = Hardware::default();
    let sizes = |of: &Hardware| (of.memory, of.ephemeral_storage, of.inodes, of.pids);
    sizes(hardware) != sizes(&usual)
}

/// Returns why a node cannot have exactly the sizes of a machine.
pub(super) fn obstacle(hardware: &Hardware) -> Option<String> {
    if hardware.memory.value() % 1024 != 0 {
        return Some("the kernel tells memory in units of 1024 bytes".to_owned());
    }
    let size = hardware.ephemeral_storage.value();
    if size % BLOCK != 0 {
        return Some(format!("a file system has whole blocks of {BLOCK} bytes"));
    }
    let inodes = hardware.inodes?;
    (group_length(size, inodes).is_none()).then(|| format!("a file system cannot have exactly {inodes} inodes"))
}

/// Returns how many blocks a group of the file system has, so that there are exactly this many inodes.
///
/// Source: mke2fs(8), `-g` and `-N`: a group has whole blocks of inodes, 16 of 256 bytes each, and a multiple of eight
/// blocks, at most as many as a block has bits.
fn group_length(size: i64, inodes: i64) -> Option<i64> {
    const IN_BLOCK: i64 = 16;
    let (blocks, groups) = (size / BLOCK, inodes / IN_BLOCK);
    if groups == 0 || inodes % IN_BLOCK != 0 {
        return None;
    }
    let length = (blocks + groups - 1) / groups;
    let length = (length + 7) / 8 * 8;
    let is_whole = (blocks + length - 1) / length == groups;
    (is_whole && (256..=BLOCK * 8).contains(&length)).then_some(length)
}

/// Returns the script that gives a node the sizes of a machine, before its kubelet starts and at each boot.
pub(super) fn script(hardware: &Hardware) -> String {
    let size = hardware.ephemeral_storage.value();
    let groups = hardware.inodes.and_then(|inodes| group_length(size, inodes));
    let boot = format!(
        "memory={}; pids={}; size={size}; inodes={}; groups='{}'\n{BOOT_SCRIPT}",
        hardware.memory.value() / 1024,
        hardware.pids,
        hardware.inodes.unwrap_or(INODES),
        groups.map(|length| format!("-g {length}")).unwrap_or_default(),
    );
    format!(
        "printf %s {} > {BOOT}; printf %s {} > {FILL}; for unit in containerd kubelet; do \
         mkdir -p /etc/systemd/system/$unit.service.d; \
         printf '[Service]\\nExecStartPre=/bin/sh {BOOT}\\n' > \
         /etc/systemd/system/$unit.service.d/70-nodeproof.conf; done; \
         systemctl daemon-reload; systemctl restart containerd; ",
        quoted(&boot),
        quoted(FILL_SCRIPT)
    )
}

/// Returns the script that leaves this much of each resource.
pub(super) fn filling(fills: &[(Resource, Free)]) -> String {
    let one = |(resource, free): &(Resource, Free)| {
        let resource = match resource {
            Resource::Memory => "memory",
            Resource::Disk => "disk",
            Resource::Inodes => "inodes",
            Resource::Pids => "pids",
        };
        match free {
            Free::Amount(amount) => format!("sh {FILL} {resource} {amount}"),
            Free::Share(share) => format!("sh {FILL} {resource} {share}x"),
        }
    };
    fills.iter().map(one).collect::<Vec<_>>().join(" && ")
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;

    use super::*;

    fn machine(hardware: &nodeproof_core::objects::Json) -> MachineSpec {
        let mut body = hardware.clone();
        body.set(&["name"], "w");
        MachineSpec::from_json(&body).unwrap()
    }

    #[test]
    fn a_node_has_exactly_the_sizes_of_its_machine() {
        let spec = machine(&json!({
            "capacity": {"memory": "4Gi", "ephemeral-storage": "10Gi"}, "inodes": 6000, "pids": 10000}));
        let script = script(&spec.hardware);
        let wanted = "memory=4194304; pids=10000; size=10737418240; inodes=6000; groups='\\''-g 6992'\\''";
        assert!(script.contains(wanted), "{script}");
        for (hardware, why) in [
            (json!({}), None),
            (json!({"capacity": {"memory": "64Mi"}}), None),
            (json!({"capacity": {"memory": "1000"}}), Some("the kernel tells memory in units of 1024 bytes")),
            (json!({"inodes": 6001}), Some("a file system cannot have exactly 6001 inodes")),
            (
                json!({"capacity": {"ephemeral-storage": "10000000000"}}),
                Some("a file system has whole blocks of 4096 bytes"),
            ),
        ] {
            assert_eq!(obstacle(&machine(&hardware).hardware).as_deref(), why, "{hardware}");
        }
    }

    #[test]
    fn what_is_left_is_an_amount_or_a_share() {
        let fills = [(Resource::Disk, Free::Share(0.149)), (Resource::Inodes, Free::Amount(299))];
        assert_eq!(filling(&fills), "sh /etc/nodeproof-fill.sh disk 0.149x && sh /etc/nodeproof-fill.sh inodes 299");
    }
}
