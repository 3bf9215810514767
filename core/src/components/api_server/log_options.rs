//! The options of a request for a container's log.
//!
//! Mirrors pkg/apis/core/validation/validation.go, `ValidatePodLogOptions`, and k8s.io/api core/v1, `PodLogOptions`
//! (v1.34). Inputs: a request. Outputs: nothing, or 400 or 422.

use alloc::vec::Vec;

use super::options::whole_number;
use super::status;
use super::validation::{FieldError, worded};
use crate::network::{Answer, Call};
use crate::objects::Json;
use crate::objects::schema::instant_error;
use crate::profile::Settings;

/// Refuses options that cannot be read, or that no kubelet could follow.
pub(super) fn check(call: &Call, name: &str, settings: &Settings) -> Result<(), Answer> {
    let since = whole_number(call.parameter("sinceSeconds"))?;
    let since_time = call.parameter("sinceTime").filter(|text| !text.is_empty());
    if let Some(why) = since_time.and_then(instant_error) {
        return Err(status::bad_request(&why));
    }
    let lines = whole_number(call.parameter("tailLines"))?;
    let bytes = whole_number(call.parameter("limitBytes"))?;
    let mut errors = Vec::new();
    if let Some(lines) = lines.filter(|lines| *lines < 0) {
        let why = "must be greater than or equal to 0";
        errors.push(FieldError::invalid("tailLines", &Json::Int(lines), why));
    }
    if let Some(bytes) = bytes.filter(|bytes| *bytes < 1) {
        errors.push(FieldError::invalid("limitBytes", &Json::Int(bytes), "must be greater than 0"));
    }
    match since {
        Some(_) if since_time.is_some() => {
            errors.push(FieldError::forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
        }
        Some(seconds) if seconds < 1 => {
            errors.push(FieldError::invalid("sinceSeconds", &Json::Int(seconds), "must be greater than 0"));
        }
        _ => {}
    }
    if call.parameter("stream").is_some() && settings.profile().is("logs-have-streams") {
        errors.push(FieldError::forbidden("stream", "may not be specified"));
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(status::invalid_of("PodLogOptions", "", name, &worded(errors, settings)))
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::check;
    use crate::network::Call;
    use crate::profile::Settings;

    #[test]
    fn what_no_kubelet_could_follow_is_refused() {
        let cases = [
            ("tailLines=5&sinceSeconds=1&limitBytes=1", ""),
            ("sinceSeconds=0", "sinceSeconds: Invalid value: 0: must be greater than 0"),
            ("limitBytes=0", "limitBytes: Invalid value: 0: must be greater than 0"),
            ("tailLines=-1", "tailLines: Invalid value: -1: must be greater than or equal to 0"),
            ("stream=All", "stream: Forbidden: may not be specified"),
        ];
        for (query, why) in cases {
            let call = Call::from_http("GET", &format!("/api/v1/namespaces/a/pods/p/log?{query}"), &[], "").unwrap();
            let said = check(&call, "p", &Settings::default()).map_or_else(|refusal| refusal.message(), |()| "".into());
            let wanted = if why.is_empty() { "".into() } else { format!("PodLogOptions \"p\" is invalid: {why}") };
            assert_eq!(said, wanted, "{query}");
        }
        let call = Call::from_http("GET", "/api/v1/namespaces/a/pods/p/log?tailLines=x", &[], "").unwrap();
        assert_eq!(check(&call, "p", &Settings::default()).unwrap_err().code, 400);
    }
}
