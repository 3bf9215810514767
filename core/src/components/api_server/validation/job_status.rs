//! Validation of changes of a Job's status: its counts, and whether the change is a possible one.
//!
//! Mirrors `validateJobStatus` and `ValidateJobStatusUpdate` of pkg/apis/batch/validation/validation.go, and
//! `getStatusValidationOptions` of pkg/registry/batch/job/strategy.go (v1.34): most rules hold only of what changes.
//! Inputs: the changed Job and the stored one. Outputs: errors. A release in which Jobs do not name their manager
//! checks the counts and SuccessCriteriaMet alone.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::amount::not_negative;
use super::{FieldError, IMMUTABLE, Problem, print};
use crate::objects::lifecycle::is_condition_true;
use crate::objects::{Json, time};
use crate::profile::Settings;

/// Checks a change of a Job's status.
pub(in super::super) fn validate(tree: &Json, old: &Json, settings: &Settings, errors: &mut Vec<FieldError>) {
    counts(tree.get("status"), errors);
    let is = |row| settings.profile().is(row);
    let (is_checked, is_newer) = (is("jobs-name-their-manager"), is("errors-print-json"));
    let mut change = StatusChange { tree, old, is_newer, errors };
    if is_checked {
        change.check_ends();
        change.check_finished();
        change.check_indexes();
        change.check_pods();
    }
    change.check_criteria();
    if is_checked {
        change.check_what_stays(is("job-start-times-are-immutable"));
    }
    change.check_kept_criteria();
}

fn counts(status: &Json, errors: &mut Vec<FieldError>) {
    for field in ["active", "succeeded", "failed", "ready", "terminating"] {
        not_negative(status, "status", field, errors);
    }
    let mut seen: Vec<&str> = Vec::new();
    for list in ["succeeded", "failed"] {
        for (at, uid) in status.at(&["uncountedTerminatedPods", list]).items().iter().enumerate() {
            let (name, path) = (uid.as_str().unwrap_or(""), format!("status.uncountedTerminatedPods.{list}[{at}]"));
            if name.is_empty() {
                errors.push(FieldError::invalid_text(path, name, "must not be empty"));
            } else if seen.contains(&name) {
                errors.push(FieldError::duplicate(path, uid));
            } else {
                seen.push(name);
            }
        }
    }
}

/// A change of a status, with the errors found in it.
struct StatusChange<'a> {
    tree: &'a Json,
    old: &'a Json,
    /// Whether the release words the errors as 1.34 does.
    is_newer: bool,
    errors: &'a mut Vec<FieldError>,
}

impl<'a> StatusChange<'a> {
    fn field(&self, field: &str) -> &'a Json {
        self.tree.at(&["status", field])
    }

    fn number(&self, field: &str) -> i64 {
        self.field(field).as_i64().unwrap_or(0)
    }

    fn stored_number(&self, field: &str) -> i64 {
        self.old.at(&["status", field]).as_i64().unwrap_or(0)
    }

    fn is_changed(&self, field: &str) -> bool {
        self.field(field) != self.old.at(&["status", field])
    }

    fn is(&self, condition: &str) -> bool {
        is_condition_true(self.tree, condition)
    }

    fn was(&self, condition: &str) -> bool {
        is_condition_true(self.old, condition)
    }

    fn turns(&self, condition: &str) -> bool {
        self.is(condition) != self.was(condition)
    }

    fn is_finished(&self) -> bool {
        self.is("Complete") || self.is("Failed")
    }

    fn becomes_finished(&self) -> bool {
        self.is_finished() != (self.was("Complete") || self.was("Failed"))
    }

    fn refuse(&mut self, field: &str, value: &Json, why: impl Into<String>) {
        self.errors.push(FieldError::invalid(format!("status.{field}"), value, why));
    }

    fn refuse_number(&mut self, field: &str, why: &str) {
        self.refuse(field, &Json::Int(self.number(field)), why);
    }

    /// Refuses the conditions, whose value is not printed.
    fn refuse_conditions(&mut self, why: impl Into<String>) {
        self.errors.push(FieldError::new("status.conditions", Problem::Invalid, String::new(), why));
    }

    /// Refuses an instant, which older releases print as Go does.
    fn refuse_time(&mut self, field: &str, newer: &str, older: &str) {
        let value = self.field(field);
        let go = value.as_str().unwrap_or("").replace('T', " ").replace('Z', " +0000 UTC");
        let why = if self.is_newer { newer } else { older };
        self.errors.push(FieldError::invalid(format!("status.{field}"), value, why).in_go(go));
    }

    fn require(&mut self, field: &str, why: &str) {
        self.errors.push(FieldError::required(format!("status.{field}"), why));
    }

    /// Checks how the Job ends, and when.
    fn check_ends(&mut self) {
        let is_complete = self.is("Complete");
        if is_complete && self.is("Failed") && (self.turns("Complete") || self.turns("Failed")) {
            self.refuse_conditions("cannot set Complete=True and Failed=true conditions");
        }
        if is_complete && self.is("FailureTarget") && (self.turns("Complete") || self.turns("FailureTarget")) {
            self.refuse_conditions("cannot set Complete=True and FailureTarget=true conditions");
        }
        let time = self.field("completionTime");
        if self.turns("Complete") || self.is_changed("completionTime") {
            if !time.is_null() && !is_complete {
                self.refuse(
                    "completionTime",
                    time,
                    "cannot set completionTime when there is no Complete=True condition",
                );
            }
            if time.is_null() && is_complete {
                self.require("completionTime", "completionTime is required for Complete jobs");
            }
        }
        let instant = |time: &Json| time.as_str().and_then(time::parse);
        let is_reversed = instant(time).zip(instant(self.field("startTime"))).is_some_and(|(end, start)| end < start);
        if is_reversed && (self.is_changed("startTime") || self.is_changed("completionTime")) {
            let older = "completionTime cannot be set before startTime";
            self.refuse_time("completionTime", "must be equal to or after `startTime`", older);
        }
        let is_failed_now = self.is("Failed") && (self.turns("Failed") || self.is_changed("failedIndexes"));
        if is_failed_now && !self.is("FailureTarget") {
            self.refuse_conditions("cannot set Failed=True condition without the FailureTarget=true condition");
        }
        let criteria = "SuccessCriteriaMet";
        if is_complete && !self.is(criteria) && (self.turns("Complete") || self.turns(criteria)) {
            self.refuse_conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
        }
    }

    /// Checks what a finished Job has, and has not.
    fn check_finished(&mut self) {
        if !self.is_finished() {
            return;
        }
        let becomes = self.becomes_finished();
        let active = self.number("active");
        if active > 0 && (becomes || active != self.stored_number("active")) {
            self.refuse_number("active", "active>0 is invalid for finished job");
        }
        let spec = self.tree.get("spec");
        // One that was suspended all the time and asks for nothing has never started.
        let needs_no_start = spec.get("suspend").as_bool() == Some(true) && spec.get("completions").as_i64() == Some(0);
        let is_missing = self.field("startTime").is_null() && !needs_no_start;
        if is_missing && (becomes || self.is_changed("startTime")) {
            self.require("startTime", "startTime is required for finished job");
        }
        let pods = self.field("uncountedTerminatedPods");
        let has_some = ["succeeded", "failed"].iter().any(|list| !pods.get(list).is_empty());
        if has_some && (becomes || self.is_changed("uncountedTerminatedPods")) {
            let why = if self.is_newer { "must be" } else { "uncountedTerminatedPods needs to be" };
            // The server's own type has no names for JSON.
            let list = |of: &Json| if of.is_null() { String::from("null") } else { print(of) };
            let [succeeded, failed] = ["succeeded", "failed"].map(|field| list(pods.get(field)));
            let value = format!("{{\"Succeeded\":{succeeded},\"Failed\":{failed}}}");
            let why = format!("{why} empty for finished job");
            self.errors.push(FieldError::new("status.uncountedTerminatedPods", Problem::Invalid, value, why));
        }
    }

    /// Checks the indexes that are completed and failed.
    fn check_indexes(&mut self) {
        let spec = self.tree.get("spec");
        let (done, failed) = (self.field("completedIndexes"), self.field("failedIndexes"));
        let completed = done.as_str().unwrap_or("");
        let is_done_changed = completed != self.old.at(&["status", "completedIndexes"]).as_str().unwrap_or("");
        let is_failed_changed = self.is_changed("failedIndexes");
        let (count, has_limit) = (spec.get("completions").as_i64(), !spec.get("backoffLimitPerIndex").is_null());
        for (field, list, is_asked) in [
            ("completedIndexes", done, is_done_changed),
            ("failedIndexes", failed, is_failed_changed && has_limit && !failed.is_null()),
        ] {
            let wrong = count.filter(|_| is_asked).and_then(|count| wrong_indexes(list.as_str().unwrap_or(""), count));
            if let Some(why) = wrong {
                self.refuse(field, list, format!("error parsing {field}: {why}"));
            }
        }
        if is_done_changed && !completed.is_empty() && spec.get("completionMode").as_str() != Some("Indexed") {
            let why = "cannot set non-empty completedIndexes when non-indexed completion mode";
            self.refuse("completedIndexes", done, why);
        }
        if is_failed_changed && !failed.is_null() && !has_limit {
            let why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
            self.refuse("failedIndexes", failed, why);
        }
        let both = count.filter(|_| is_failed_changed || is_done_changed);
        if let Some(index) = both.and_then(|count| common_index(completed, failed.as_str().unwrap_or(""), count)) {
            let why = format!("failedIndexes and completedIndexes overlap at index: {index}");
            self.refuse("failedIndexes", failed, why);
        }
    }

    /// Checks the numbers of Pods that are on their way.
    fn check_pods(&mut self) {
        let is_terminating = self.number("terminating") > 0 && self.is_finished();
        if is_terminating && (self.becomes_finished() || self.is_changed("terminating")) {
            self.refuse_number("terminating", "terminating>0 is invalid for finished job");
        }
        let is_active_changed = self.number("active") != self.stored_number("active");
        let is_told = !self.field("ready").is_null();
        let are_more = is_told && self.number("ready") > self.number("active");
        if are_more && (self.is_changed("ready") || is_active_changed) {
            self.refuse_number("ready", "cannot set more ready pods than active");
        }
    }

    /// Checks that a Job that has succeeded has not failed.
    fn check_criteria(&mut self) {
        let is_met = self.is("SuccessCriteriaMet");
        if is_met && self.is("Failed") {
            self.refuse_conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions");
        }
        if is_met && self.is("FailureTarget") {
            self.refuse_conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
        }
        if !self.tree.at(&["spec", "successPolicy"]).is_null() && !is_met && self.is("Complete") {
            let why = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
            self.refuse_conditions(why);
        }
    }

    /// Checks what may not be taken back.
    fn check_what_stays(&mut self, is_start_immutable: bool) {
        for kind in ["Failed", "Complete", "FailureTarget"] {
            if self.was(kind) && !self.is(kind) {
                self.refuse_conditions(format!("cannot disable the terminal {kind}=True condition"));
            }
        }
        let spec = self.tree.get("spec");
        // A Job that has as many Pods as indexes is scaled by both numbers.
        let is_elastic = spec.get("completionMode").as_str() == Some("Indexed")
            && spec.get("completions").as_i64() == spec.get("parallelism").as_i64();
        for (field, may_fall) in [("failed", false), ("succeeded", is_elastic)] {
            if self.number(field) < self.stored_number(field) && !may_fall {
                self.refuse_number(field, &format!("cannot decrease the {field} counter"));
            }
        }
        let is_set = |tree: &Json, field: &str| !tree.at(&["status", field]).is_null();
        let has_both = is_set(self.tree, "completionTime") && is_set(self.old, "completionTime");
        if has_both && self.is_changed("completionTime") {
            self.refuse_time("completionTime", IMMUTABLE, "completionTime cannot be mutated");
        }
        let suspended =
            self.tree.at(&["status", "conditions"]).items().iter().find(|one| {
                one.get("type").as_str() == Some("Suspended") && one.get("status").as_str() == Some("False")
            });
        // The status may follow after the Job was resumed.
        let is_resumed = self.was("Suspended") && suspended.is_some();
        let is_moved = is_set(self.old, "startTime") && self.is_changed("startTime");
        if is_moved && !is_resumed && spec.get("suspend").as_bool() != Some(true) {
            if is_start_immutable {
                self.refuse("startTime", self.field("startTime"), "field is immutable for unsuspended job once set");
            } else {
                self.require("startTime", "startTime cannot be removed for unsuspended job");
            }
        }
    }

    /// Checks that SuccessCriteriaMet comes before the end, and stays.
    fn check_kept_criteria(&mut self) {
        let (is_met, was_met) = (self.is("SuccessCriteriaMet"), self.was("SuccessCriteriaMet"));
        if was_met && !is_met {
            self.refuse_conditions("cannot disable the SuccessCriteriaMet=True condition");
        }
        if self.was("Complete") && !was_met && is_met {
            let why = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
            self.refuse_conditions(why);
        }
    }
}

/// Tells what is wrong with a list of indexes, as `1,3-5,7`. Source: batch, `validateIndexesFormat`.
fn wrong_indexes(list: &str, count: i64) -> Option<String> {
    let mut last = None;
    for interval in list.split(',').filter(|_| !list.is_empty()) {
        let limits: Vec<&str> = interval.split('-').collect();
        if limits.len() > 2 {
            let rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
            return Some(format!("the fragment {interval:?} {rule}"));
        }
        let mut numbers = Vec::new();
        for limit in limits {
            match limit.parse::<i64>() {
                Err(_) => return Some(format!("cannot convert string to integer for index: {limit:?}")),
                Ok(number) if number >= count => return Some(format!("too large index: {limit:?}")),
                Ok(number) => numbers.push(number),
            }
        }
        let (first, end) = (numbers[0], numbers[numbers.len() - 1]);
        let before = last.filter(|last| *last >= first);
        if let Some(previous) = before.or((numbers.len() > 1 && first >= end).then_some(first)) {
            let current = if before.is_some() { first } else { end };
            return Some(format!("non-increasing order, previous: {previous}, current: {current}"));
        }
        last = Some(end);
    }
    None
}

/// Reads an interval of indexes; `None` for a wrong one, which is told elsewhere. Source: batch, `parseIndexInterval`.
fn interval(text: &str, count: i64) -> Option<(i64, i64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number < count);
    let (first, last) = (number(first)?, number(last)?);
    (first < last || !text.contains('-')).then_some((first, last))
}

/// Finds an index that stands in both lists. Source: batch, `validateFailedIndexesNotOverlapCompleted`.
fn common_index(completed: &str, failed: &str, count: i64) -> Option<i64> {
    let [mut completed, mut failed] =
        [completed, failed].map(|list| list.split(',').filter_map(move |text| interval(text, count)).peekable());
    while let (Some((first, last)), Some((failed_first, failed_last))) = (completed.peek(), failed.peek()) {
        if first <= failed_last && failed_first <= last {
            return Some(*first.max(failed_first));
        }
        if first <= failed_first {
            completed.next();
        } else {
            failed.next();
        }
    }
    None
}
