//! Tests of the rules: planted mistakes, and code that looks like a mistake and is none.

use super::exceptions::Exceptions;
use super::{code, problems};

const NONE: Exceptions = Exceptions { files: &[], functions: &[] };

/// Finds the problems of a tree of files, each of which gets a head.
fn found(files: &[(&str, &str)], exceptions: &Exceptions) -> Vec<String> {
    let texts: Vec<_> = files.iter().map(|(path, text)| (*path, format!("//! Purpose.\n{text}"))).collect();
    let texts: Vec<_> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    problems(&texts, exceptions)
}

#[test]
fn each_planted_mistake_is_found() {
    for (path, text, problem) in [
        ("core/src/objects/json.rs", "use crate::sim::Simulation;\n", "objects must not use sim"),
        ("core/src/network/rule.rs", "use crate::{sim::Outbox, objects::Json};\n", "network must not use sim"),
        ("core/src/components/client.rs", "fn f() { crate::sim::run(); }\n", "components must not use sim"),
        ("core/src/components/events.rs", "use super::kubelet::f;\n", "events must not use kubelet"),
        ("core/src/components/events.rs", "use super::{events, f as kubelet_f};\n", "events must not use kubelet"),
        ("core/src/scenario/action.rs", "use crate::scenario::run::Run;\n", "action must not use run"),
        ("src/live/clock.rs", "fn f() -> super::kind::Kind {}\n", "clock must not use kind"),
        ("src/load/mod.rs", "use crate::harness::run;\n", "load must not use harness"),
        ("src/live/mod.rs", "use nodeproof_core::sim::Simulation;\n", "live must not see the simulator"),
        ("src/control/mod.rs", "use crate::harness::Report;\n", "control must not use harness"),
        ("fuzz/x.rs", "use nodeproof::harness::Report;\n", "fuzz must not use harness"),
        ("src/odd/mod.rs", "\n", "module odd has no place among the layers"),
        ("src/live/odd.rs", "\n", "module odd has no place among the layers"),
        ("core/src/objects/text.rs", "async fn f() {}\n", "async has no place in the core"),
        ("core/src/objects/mod.rs", "use std::collections::HashMap;\n", "HashMap has no place in the core"),
        ("core/src/objects/mod.rs", "let now = jiff::Timestamp::now();\n", "Timestamp::now has no place in the core"),
        ("core/src/objects/mod.rs", "let text = std::fs::read(path);\n", "std::fs has no place in the core"),
        ("src/load/mod.rs", "let a = 1; \n", "a blank at the end of the line"),
        ("src/load/mod.rs", "\tlet a = 1;\n", "a tab"),
        ("src/load/mod.rs", "let a = 1;", "the last line does not end"),
    ] {
        let neighbours = [
            ("core/src/components/mod.rs", "pub use kubelet::f;\n"),
            ("core/src/components/kubelet.rs", "pub fn f() {}\n"),
            ("core/src/scenario/run.rs", "pub struct Run;\n"),
            ("core/src/sim/mod.rs", "pub struct Simulation;\n"),
            ("src/live/kind.rs", "pub struct Kind;\n"),
            ("src/harness/mod.rs", "pub struct Harness;\n"),
        ];
        let found = found(&[&neighbours[..], &[(path, text)]].concat(), &NONE);
        assert!(found.len() == 1 && found[0].contains(problem), "{path}: {text}: {found:?}");
    }
    assert!(problems(&[("src/load/mod.rs", "use std::fs;\n")], &NONE)[0].contains("begins with //!"));
}

#[test]
fn a_breakage_stands_once_in_its_file() {
    let list = "# All.\n\n[kubelet] two for one\nchance.rs\n- let a = «1»;\n+ 2\n";
    let of = |text: &str| found(&[("ci/breakages", list), ("core/src/chance.rs", text)], &NONE);
    assert_eq!(of("let a =\n    1;\n"), Vec::<String>::new());
    for (text, times) in [("let a = 3;\n", 0), ("let a = 1;\nlet a = 1;\n", 2)] {
        let why = format!("core/src/chance.rs has its text {times} times, not once");
        assert_eq!(of(text), [format!("ci/breakages: [kubelet] two for one: {why}")]);
    }
}

#[test]
fn what_stands_in_comments_and_strings_is_no_mistake() {
    for text in [
        "// async HashMap crate::sim::X\n/* async */\n",
        "let text = \"crate::sim::X and \\\" HashMap\"; // Instant\n",
        "let text = (r#\"\" HashMap\"#, '\"', HashMapper, '\\'', b\"async\");\n",
        "let text = \"one\n HashMap two\";\n",
        "use crate::json;\nuse crate::network::Call;\nlet $crate::sim::Json = x;\n",
    ] {
        let found = found(&[("core/src/network/rule.rs", text), ("core/src/sim/mod.rs", "struct X;\n")], &NONE);
        assert_eq!(found, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn code_keeps_its_lines_and_loses_comments_and_strings() {
    let text = "let a = \"b // c\"; // d\n/* e\n*/ let f = r#\"g\nh\"#;\n";
    assert_eq!(code(text).collect::<Vec<_>>(), ["let a = ; ", "", " let f = ", ";"]);
}

#[test]
fn a_cycle_that_spans_two_folders_is_found() {
    let one = ("src/load/one.rs", "use super::two;\nuse crate::load::Shown;\nfn f() { two::g(); }\n");
    let two = ("src/load/two/mod.rs", "pub(super) fn g() { inner::h(); }\n");
    let inner = ("src/load/two/inner.rs", "use super::super::one;\npub fn h() { one::f(); }\n");
    let face = ("src/load/mod.rs", "mod one;\npub use two::Shown;\n");
    let files = [face, one, two, inner];
    let found_all = found(&files, &NONE);
    assert!(found_all.len() == 1 && found_all[0].starts_with("a cycle of 3 files in src/load, src/load/two"));
    assert!(found_all[0].contains("\n  src/load/one.rs -> src/load/two/mod.rs: Shown, g"), "{}", found_all[0]);
}

#[test]
fn a_cycle_inside_a_folder_has_at_most_four_files() {
    let ring = |length: usize| -> Vec<String> {
        let files = (0..length).map(|at| ((at + 1) % length, format!("src/load/f{at}.rs")));
        let files = files.map(|(next, path)| {
            let text = format!("use super::f{next}::X as Y;\n");
            (path, text)
        });
        let files: Vec<(String, String)> = files.collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        found(&files, &NONE)
    };
    let cycles = |found: Vec<String>| found.into_iter().filter(|found| found.contains("a cycle of")).count();
    assert_eq!(cycles(ring(4)), 0);
    assert_eq!(cycles(ring(5)), 1);
}

#[test]
fn what_is_no_import_closes_no_cycle() {
    for (root, part) in [
        // A declaration, a re-export, a test, and what a part takes from the folder that it is a part of.
        ("mod part;\npub mod other;\n", "use super::super::top;\nfn f() { top::g(); }\n"),
        ("pub use part::f;\n", "use crate::load::top;\npub fn f() { top::g(); }\n"),
        ("#[cfg(test)]\nmod tests {\n    use super::part::f;\n}\n", "pub fn f() { super::super::top::g(); }\n"),
        ("use part::f;\nfn top() { f(); }\n", "pub fn f() { super::top(); }\n"),
    ] {
        let files = [
            ("src/load/mod.rs", "mod top;\n"),
            ("src/load/top.rs", "pub(super) fn g() {}\n"),
            ("src/load/root/mod.rs", root),
            ("src/load/root/part.rs", part),
        ];
        assert_eq!(found(&files, &NONE), Vec::<String>::new(), "{root}");
    }
}

#[test]
fn a_type_name_in_three_modules_is_found() {
    let files = [
        ("core/src/objects/a.rs", "pub struct Step;\n"),
        ("src/load/b.rs", "enum Step { A }\nimpl X for Step { type Other = u8; }\n"),
        ("src/load/c.rs", "#[cfg(test)]\nmod tests {\n    struct Step;\n}\n"),
    ];
    assert_eq!(found(&files, &NONE), Vec::<String>::new());
    let third = [&files[..], &[("src/steps/d.rs", "type Step = u8;\n")]].concat();
    let found_all = found(&third, &NONE);
    assert!(found_all.len() == 1 && found_all[0].starts_with("type Step is defined in more than 2"), "{found_all:?}");
}

#[test]
fn what_is_too_long_is_found_and_may_only_shrink() {
    let body = "    f();\n".repeat(69);
    let long = format!("fn long() {{\n{body}}}\n#[cfg(test)]\nmod tests {{\n    fn t() {{\n{body}{body}    }}\n}}\n");
    let file = [("src/load/mod.rs", long.as_str())];
    assert_eq!(found(&file, &NONE), ["src/load/mod.rs: long: 71 lines, at most 70"]);
    for (listed, problem) in [
        (&[("src/load/mod.rs", "long", 71)][..], None),
        (&[("src/load/mod.rs", "long", 72)], Some("src/load/mod.rs: long: 71 lines, write that for 72")),
        (&[("src/load/mod.rs", "long", 71), ("x.rs", "f", 80)], Some("x.rs: f: its exception has to go")),
    ] {
        let found = found(&file, &Exceptions { functions: listed, ..NONE });
        assert_eq!(found, problem.into_iter().collect::<Vec<_>>());
    }
    let file = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "use a;\n".repeat(499), "use b;\n".repeat(9));
    assert_eq!(found(&[("src/load/mod.rs", &file)], &NONE), Vec::<String>::new());
    let file = "use a;\n".repeat(500);
    assert_eq!(found(&[("src/load/mod.rs", &file)], &NONE), ["src/load/mod.rs: 501 lines, at most 500"]);
    let map = "//! Map.\n".repeat(151);
    assert_eq!(problems(&[("ARCHITECTURE.md", &map)], &NONE), ["ARCHITECTURE.md: 151 lines, at most 150"]);
}

#[test]
fn a_line_of_more_than_120_columns_is_found() {
    let wide = "x".repeat(110);
    for (path, line, problems) in [
        ("src/load/mod.rs", format!("// é {wide}12345\n"), 0),
        ("src/load/mod.rs", format!("// é {wide}123456\n"), 1),
        ("src/load/mod.rs", format!("    regex = r\"{wide}\"\n"), 0),
        ("ci/check", format!("echo {wide}123456\n"), 1),
        ("README.md", format!("words {wide}12345\n"), 1),
        ("README.md", format!("| cell {wide}12345 |\n"), 0),
        ("features/a.feature", format!("# {wide}1234567890\n"), 0),
    ] {
        assert_eq!(found(&[(path, &line)], &NONE).len(), problems, "{path}: {line}");
    }
}
