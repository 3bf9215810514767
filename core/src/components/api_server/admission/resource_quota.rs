//! The admission plugin ResourceQuota: what the quotas of a namespace refuse, and what a write takes from them.
//!
//! Mirrors k8s.io/apiserver pkg/admission/plugin/resourcequota/{admission,controller}.go (v1.34). Inputs: a valid
//! write, the ResourceQuotas of its namespace. Outputs: the refusal, or quotas with more that is used. Upstream asks
//! a cache, which learns of a quota some milliseconds after it was made; here each quota counts at once. Left out on
//! purpose: resources that are limited without a quota, which need a file of configuration.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::admission_write::{Operation, Write};
use super::super::call::RequestInfo;
use super::super::custom::by_server;
use super::super::options::RequestOptions;
use super::super::{ApiServer, Origin};
use crate::components::pod_resources::{PodLevel, Quantities, quantities};
use crate::components::quota_usage::{Evaluator, QUOTAS, as_json, is_terminating, listed, missing};
use crate::network::{Answer, kinds};
use crate::objects::{Object, Text};

/// Refuses a write that some quota has no room for; one that is no dry run is taken from all of them.
///
/// Source: controller.go (v1.34), `CheckRequest`.
pub(super) fn charge(server: &mut ApiServer, write: &Write<'_>, is_dry_run: bool) -> Result<(), Answer> {
    let follows = server.settings.profile().is("quotas-follow-changed-scopes");
    let Some(evaluator) = Evaluator::of(&write.kind.resource).filter(|own| handles(*own, write, follows)) else {
        return Ok(());
    };
    if !server.plugins.runs("ResourceQuota") {
        return Ok(());
    }
    let mut quotas = Vec::new();
    for quota in server.objects_in(&QUOTAS, write.namespace) {
        if let Some(room) = Room::of(server, quota, evaluator, write)? {
            quotas.push(room);
        }
    }
    let mut taken = Vec::new();
    for room in &quotas {
        if let Some(used) = room.take(write)? {
            taken.push((room.quota.clone(), used));
        }
    }
    if !is_dry_run {
        for (quota, used) in taken {
            server.put_used(&quota, &used, write.origin)?;
        }
    }
    Ok(())
}

/// Tells whether a write can change what its kind uses.
///
/// Source: pkg/quota/v1/evaluator/core (v1.34), `Handles`.
fn handles(evaluator: Evaluator, write: &Write<'_>, follows_scopes: bool) -> bool {
    let is_new = write.operation == Operation::Create;
    match (evaluator, write.subresource) {
        (Evaluator::Pods, "") => {
            let turns = |old| is_terminating(old) != is_terminating(write.tree);
            is_new || follows_scopes && write.old.is_some_and(turns)
        }
        (Evaluator::Services | Evaluator::Claims, "") => true,
        (Evaluator::Claims, "status") => follows_scopes,
        (Evaluator::Pods, "resize") => !is_new,
        (Evaluator::Count, "") => is_new,
        _ => false,
    }
}

/// A quota that counts for a write, and what the write would take from it.
struct Room {
    quota: Object,
    hard: Quantities,
    used: Quantities,
    asked: Quantities,
}

impl Room {
    /// Reads a quota; `None` if the write takes nothing from it.
    fn of(server: &ApiServer, quota: &Object, evaluator: Evaluator, write: &Write<'_>) -> Result<Option<Self>, Answer> {
        let resource = &write.kind.resource;
        let level = PodLevel::of(server.settings.profile());
        let (hard, used) = (quota.stable().at(&["status", "hard"]), quota.stable().at(&["status", "used"]));
        let (hard, used) = (quantities(hard), quantities(used));
        let names = hard.keys().map(Text::as_str).filter(|name| evaluator.matches(resource, name));
        if names.clone().next().is_none() || !evaluator.is_in_scope(quota.stable(), write.tree) {
            return Ok(None);
        }
        if evaluator == Evaluator::Pods
            && let Some(why) = missing(write.tree.get("spec"), names.clone(), level)
        {
            return Err(write.refusal(&format!("failed quota: {}: {why}", quota.name())));
        }
        if names.clone().any(|name| !used.contains_key(&Text::from(name))) {
            let names = names.collect::<Vec<_>>().join(",");
            return Err(write.refusal(&format!("status unknown for quota: {}, resources: {names}", quota.name())));
        }
        let usage = |tree| evaluator.usage(resource, tree, level, write.origin.now);
        let mut asked = usage(write.tree);
        let charged = write.old.filter(|old| evaluator.is_in_scope(quota.stable(), old));
        for (name, amount) in charged.map(usage).unwrap_or_default() {
            if let Some(own) = asked.get_mut(&name) {
                *own = *own - amount;
            }
        }
        asked.retain(|name, amount| !amount.is_zero() && !amount.is_negative() && hard.contains_key(name));
        Ok(Some(Self { quota: quota.clone(), hard, used, asked }))
    }

    /// Returns what is used after the write; `None` if that does not change.
    fn take(&self, write: &Write<'_>) -> Result<Option<Quantities>, Answer> {
        let mut used = self.used.clone();
        for (name, amount) in &self.asked {
            let sum = used.get(name).map_or(*amount, |own| *own + *amount);
            used.insert(name.clone(), sum);
        }
        let exceeded = |name: &Text| self.asked.contains_key(name) && used.get(name) > self.hard.get(name);
        let of = |amounts: &Quantities| -> String {
            listed(&amounts.iter().filter(|(name, _)| exceeded(name)).map(|(name, own)| (name.clone(), *own)).collect())
        };
        if write.subresource != "status" && self.hard.keys().any(exceeded) {
            return Err(write.refusal(&format!(
                "exceeded quota: {}, requested: {}, used: {}, limited: {}",
                self.quota.name(),
                of(&self.asked),
                of(&self.used),
                of(&self.hard)
            )));
        }
        Ok((!self.asked.is_empty()).then_some(used))
    }
}

impl ApiServer {
    /// Writes what of a quota is used, as the server itself.
    fn put_used(&mut self, quota: &Object, used: &Quantities, origin: &Origin) -> Result<(), Answer> {
        let kind_index = kinds::find(&QUOTAS).expect("a kind of the table");
        let key = quota.key();
        let info = RequestInfo {
            kind_index,
            kind: self.kinds.at(kind_index),
            namespace: key.namespace,
            name: key.name,
            subresource: Text::of("status"),
        };
        let mut tree = quota.json();
        tree.set(&["status", "used"], as_json(used));
        let sent = tree.clone();
        self.update_tree(&info, &RequestOptions::default(), &by_server(origin), quota, (tree, &sent))?;
        Ok(())
    }
}
