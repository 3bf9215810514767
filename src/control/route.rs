//! The table of control calls: method, path, and the function that answers.
//!
//! Input: the method and target of a call. Output: the row of the table with the parts of the path and the query, or a
//! refusal with the nearest call. Pure.

use nodeproof_core::objects::{FieldError, Json};

use super::{Control, Refusal, Reply};

/// The parts of one call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// The parts of the path that stand in place of `*` in the pattern.
    pub(super) names: Vec<String>,
    /// The query, decoded.
    pub(super) query: Vec<(String, String)>,
    /// The body; `null` for none.
    pub(super) body: &'a Json,
}

impl Call<'_> {
    /// Refuses query parameters that are not in the list.
    pub(super) fn parameters(&self, known: &[&'static str]) -> Result<(), Refusal> {
        match self.query.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) if known.is_empty() => {
                Err(FieldError::new(name.clone(), "this call has no parameters").into())
            }
            Some((name, _)) => Err(FieldError::unknown(name.clone(), "parameter", name, known.iter().copied()).into()),
        }
    }

    /// Returns a query parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

pub(super) type Handler = fn(&mut Control, &Call<'_>) -> Result<Reply, Refusal>;

/// Every call of a simulated cluster; `*` stands for one part of the path, `**` for all the rest.
pub(super) const ROUTES: &[(&str, &str, Handler)] = &[
    ("GET", "help", Control::help),
    ("GET", "clock", Control::clock),
    ("POST", "clock/advance", Control::advance),
    ("POST", "clock/rate", Control::rate),
    ("POST", "reset", Control::reset),
    ("GET", "settings", Control::settings),
    ("POST", "machines", Control::add_machine),
    ("GET", "machines", Control::machines),
    ("GET", "machines/*", Control::machine),
    ("GET", "machines/*/containers", Control::containers),
    ("POST", "machines/*/do", Control::machine_do),
    ("POST", "machines/*/request", Control::request_machine),
    ("PUT", "machines/*/hints", Control::tell_hints),
    ("POST", "network/rules", Control::add_rule),
    ("GET", "network/rules", Control::rules),
    ("GET", "network/rules/*", Control::rule),
    ("DELETE", "network/rules/*", Control::remove_rule),
    ("POST", "pods/*/*/behave", Control::behave),
    ("GET", "nodes/*/describe", Control::describe),
    ("POST", "nodes/*/drain", Control::drain),
    ("GET", "drains/*", Control::drain_so_far),
    ("GET", "controllers", Control::controllers),
    ("POST", "controllers/*/do", Control::controller_do),
    ("PUT", "cloud/instances/*", Control::put_instance),
    ("GET", "cloud/instances/*", Control::instance),
    ("DELETE", "cloud/instances/*", Control::remove_instance),
    ("GET", "decisions", Control::decisions),
    ("GET", "trace", Control::trace),
    ("GET", "metrics/**", Control::metrics),
    ("GET", "watches/*", Control::look_at_watch),
    ("DELETE", "watches/*", Control::close_watch),
];

/// Answers one control call, `METHOD` and `path?query`.
pub(super) fn answer(control: &mut Control, method: &str, target: &str, body: &Json) -> Result<Reply, Refusal> {
    let (handler, call) = find(ROUTES, method, target, body)?;
    handler(control, &call).map_err(|mut refusal| {
        if refusal.code == 400 && refusal.error.field.is_empty() {
            refusal.error.field = String::from("body");
        }
        refusal
    })
}

/// Finds the call of a method and path in a table.
pub(super) fn find<'a, H: Copy>(
    routes: &[(&str, &str, H)],
    method: &str,
    target: &str,
    body: &'a Json,
) -> Result<(H, Call<'a>), Refusal> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parts: Vec<&str> = path.split('/').collect();
    let found: Vec<_> = routes.iter().filter_map(|route| Some((route, names(route.1, &parts)?))).collect();
    if let Some(((_, _, handler), names)) = found.iter().find(|((own, ..), _)| *own == method) {
        let names = names.iter().map(|name| decoded(name)).collect::<Result<Vec<_>, _>>()?;
        let mut parameters = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters.push((decoded(name)?, decoded(value)?));
        }
        if method != "POST" && method != "PUT" && !body.is_empty() {
            return Err(FieldError::new("body", format!("{method} {path} takes no body")).into());
        }
        return Ok((*handler, Call { names, query: parameters, body }));
    }
    if found.is_empty() {
        let known = routes.iter().map(|(_, pattern, _)| pattern.trim_end_matches("/**").trim_end_matches("/*"));
        let mut error = FieldError::unknown("call", "call", &format!("{method} {path}"), []);
        error.message = format!("there is no call {method} {path}: a path of the Kubernetes API begins with /");
        error.did_you_mean = nodeproof_core::objects::nearest(path, known).map(String::from);
        // The path is that of calls about one of several, whose name is missing.
        let mut longer = routes.iter().map(|(_, pattern, _)| *pattern);
        if let Some(pattern) = longer.find(|own| own.strip_prefix(path).is_some_and(|rest| rest.starts_with("/*"))) {
            error.did_you_mean = Some(pattern.replace("**", "NAME").replace('*', "NAME"));
        }
        return Err(error.into());
    }
    let methods: Vec<&str> = found.iter().map(|((own, ..), _)| *own).collect();
    let message = format!("{path} cannot be called with {method}: it takes {}", methods.join(" or "));
    Err(Refusal { code: 405, error: FieldError::new("call", message) })
}

fn names<'a>(pattern: &str, parts: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut names = Vec::new();
    let mut pieces = pattern.split('/');
    for (at, part) in parts.iter().enumerate() {
        match pieces.next()? {
            "**" => {
                names.extend(&parts[at..]);
                return Some(names);
            }
            "*" if !part.is_empty() => names.push(*part),
            piece if piece == *part => {}
            _ => return None,
        }
    }
    pieces.next().is_none().then_some(names)
}

/// Decodes `%2F` and the like.
fn decoded(text: &str) -> Result<String, FieldError> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
            let (Some(high), Some(low)) = (digit(), digit()) else {
                return Err(FieldError::new("call", format!("{text:?} is not percent-encoded as a URL has to be")));
            };
            bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).map_err(|_| FieldError::new("call", format!("{text:?} does not decode to UTF-8")))
}
