//! A run as one HTML file: what failed first, each with its picture, then the others; no network, no framework.
//!
//! The size is bounded: failed scenarios are shown whole until [`BYTES_MAX`] is reached, passed ones with their picture
//! as long as there is room, the rest by name.

use super::objects::LineTable;
use super::svg::svg;
use super::timeline::Picture;

/// How large the file becomes at most.
const BYTES_MAX: usize = 1_900_000;
/// How much of it the pictures of a scenario that passed take at most, if there are others.
const SHARE_MAX: usize = BYTES_MAX / 20;
/// What a line of a list takes at most, beside the name.
const LINE: usize = 160;
/// What stands around a picture.
const FRAME: usize = 640;

/// A scenario of the page.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// What it belongs to, a feature: those that follow each other with the same stand below one heading. May be empty.
    pub heading: String,
    /// What it is called for people; the name, if this is empty.
    pub title: String,
    /// Its name.
    pub name: String,
    /// `passed`, `failed` and so on.
    pub verdict: &'static str,
    /// Whether it counts as a failure.
    pub is_failure: bool,
    /// Why, for people, with the line that runs it again; empty if it passed.
    pub text: String,
    /// Its pictures, each with what it is a picture of, above each other; none if it was not run.
    pub pictures: Vec<(String, Picture)>,
}

/// What the page is of.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// A line below the title: release, backend, counts.
    pub about: String,
    /// What is wrong with feature files.
    pub problems: Vec<String>,
    /// The scenarios, in the order of the run.
    pub scenarios: Vec<Shown>,
}

/// Makes the page.
///
/// # Panics
/// The template is wrong: a mistake in this crate, which its test shows.
#[must_use]
pub fn page(page: &Page) -> String {
    let mut order: Vec<&Shown> = page.scenarios.iter().collect();
    order.sort_by_key(|shown| !shown.is_failure);
    let mut left = BYTES_MAX
        .saturating_sub(TEMPLATE.len() + PAGE_STYLE.len() + page.problems.iter().map(String::len).sum::<usize>());
    let line = |own: &&Shown| own.name.len() * 2 + own.title.len() + own.text.len() + LINE;
    let heading = |pair: &[&Shown]| if pair[0].heading == pair[1].heading { 0 } else { pair[1].heading.len() + LINE };
    left = left.saturating_sub(order.iter().map(line).sum());
    left = left.saturating_sub(order.windows(2).map(heading).sum());
    let mut without = 0_usize;
    let pictures: Vec<Vec<(String, String)>> = order
        .iter()
        .map(|shown| {
            let drawn: Vec<(String, String)> = shown.pictures.iter().map(|(of, own)| (of.clone(), svg(own))).collect();
            let size = drawn.iter().map(|(of, drawn)| of.len() + drawn.len() + FRAME).sum::<usize>();
            let most = if shown.is_failure || order.len() == 1 { left } else { left.min(SHARE_MAX) };
            let fits = size < most;
            left -= if fits { size } else { 0 };
            without += usize::from(!fits && !drawn.is_empty());
            if fits { drawn } else { Vec::new() }
        })
        .collect();
    // Objects take what the pictures have left.
    let mut lines = LineTable::default();
    let mut objects = |picture: &Picture| {
        if picture.objects.is_empty() {
            return None;
        }
        let (json, size) = lines.told(&picture.objects, left)?;
        left -= size;
        Some(json)
    };
    let entries: Vec<minijinja::Value> = order
        .iter()
        .zip(pictures)
        .map(|(shown, drawn)| {
            let of = drawn.into_iter().zip(&shown.pictures);
            let pictures: Vec<_> = of.map(|((of, svg), (_, own))| (of, svg, objects(own))).collect();
            let closest = shown.pictures.first().and_then(|(_, own)| own.closest());
            minijinja::context! {
                heading => &shown.heading, title => if shown.title.is_empty() { &shown.name } else { &shown.title },
                closest => closest, name => &shown.name, verdict => shown.verdict, failed => shown.is_failure,
                text => &shown.text, pictures => pictures,
            }
        })
        .collect();
    let mut environment = minijinja::Environment::new();
    environment.add_template("page.html", TEMPLATE).expect("the template is well-formed");
    let template = environment.get_template("page.html").expect("it was added");
    let context = minijinja::context! {
        style => PAGE_STYLE, about => &page.about, problems => &page.problems, scenarios => entries, without => without,
        lines => lines.json(),
    };
    template.render(context).expect("the template asks for what it gets")
}

const TEMPLATE: &str = include_str!("page.html");

/// The style of all pages that the program writes: light and dark, for wide and narrow windows.
pub const PAGE_STYLE: &str = include_str!("page.css");
