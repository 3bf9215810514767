//! The flags of the control plane that a scenario sets, as pairs of `PROGRAM.FLAG` and value.

use nodeproof_core::objects::Text;

/// The flags of one scenario.
pub(super) type Flags = [(Text, Text)];

/// Returns the flags of a program, without its name.
pub(super) fn of_program<'a>(program: &'a str, flags: &'a Flags) -> impl Iterator<Item = (&'a str, &'a str)> {
    flags.iter().filter_map(move |(flag, value)| {
        let (component, flag) = flag.split_once('.')?;
        (component == program).then_some((flag, value.as_str()))
    })
}
