//! A scenario's run as a picture: lanes of Nodes, Pods and zones over virtual time, and what was expected of them.
//!
//! [`Picture`] is the timeline as data, made of an outcome; [`svg()`] draws it, and [`page()`] puts the pictures of a
//! run into one HTML file that needs no network. Inputs: scenarios with their outcomes. Outputs: text. The same outcome
//! gives the same bytes.

mod faults;
mod lanes;
mod objects;
mod page;
mod run_page;
mod svg;
mod timeline;

pub use self::lanes::changes;
pub use self::objects::ShownObject;
pub use self::page::{PAGE_STYLE, Page, Shown, page};
pub use self::run_page::{RunPage, picture_of};
pub use self::svg::svg;
pub use self::timeline::{Bar, FaultPeriod, Lane, LaneRow, Mark, MarkKind, Picture, Span, Tone};

#[cfg(test)]
mod tests;
