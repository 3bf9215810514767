//! One case for each way in which a feature file can go wrong unnoticed.

use crate::load::{FeatureFile, Requirements, Source, check_one};

fn load(text: &str) -> FeatureFile {
    check_one(&Source::new("features/a/b.feature", text.as_bytes().to_vec()), &Requirements::default())
}

/// Checks a file against the one problem that it must have: line, column, words of message and help.
#[track_caller]
fn check(text: &str, line: usize, column: usize, message: &str, help: &str) {
    let problems = load(text).problems;
    let [problem] = problems.as_slice() else { panic!("one problem wanted, got {problems:#?}") };
    assert!(problem.message.contains(message), "{problem}");
    assert!(problem.to_string().contains(help), "{problem}");
    assert_eq!((problem.line, problem.column), (line, column), "{problem}");
}

const HEAD: &str = "Feature: x\n  Scenario: y\n";

#[test]
fn a_typo_in_the_first_keyword() {
    for typo in ["Givn", "given", "Givne", "Wehn", "Givens"] {
        check(&format!("{HEAD}    {typo} a\n    When b\n"), 3, 5, "no step", "did you mean");
    }
}

#[test]
fn prose_may_begin_like_a_keyword() {
    let text = format!("{HEAD}    The kubelet is quiet.\n    Any node will do.\n\n    When b\n");
    let problems = load(&text).problems;
    assert!(problems.is_empty(), "{problems:#?}");
    check(&format!("{HEAD}    The Node \"a\" of zone \"b\"\n    When b\n"), 3, 5, "no step", "Then");
}

#[test]
fn a_rule_without_scenario_before_another() {
    let text = "Feature: x\n  Rule: a\n  Rule: b\n    Scenario: y\n      When b\n";
    check(text, 3, 3, "the rule above has no scenario", "leave it out");
}

#[test]
fn a_typo_in_the_first_keyword_that_resembles_nothing() {
    check(&format!("{HEAD}    Whilst Node \"w\" is there\n    When b\n"), 3, 5, "no step", "Given, When, Then");
}

#[test]
fn a_typo_in_a_later_keyword() {
    check(&format!("{HEAD}    Given a\n    Wen b\n    Then c\n\n\n"), 4, 5, "no keyword \"Wen\"", "\"When\"");
}

#[test]
fn a_typo_in_the_last_line_without_line_feed() {
    check(&format!("{HEAD}    Given a\n    Thn b"), 4, 5, "no keyword", "\"Then\"");
}

#[test]
fn a_typo_in_a_later_heading() {
    check(&format!("{HEAD}    Given a\n\n  Scenaro: z\n    Given b\n"), 5, 3, "neither", "`Scenario:`");
}

#[test]
fn a_typo_in_the_first_heading() {
    check("Feature: x\n  Scenaro: y\n  Scenario: z\n    Given b\n", 2, 3, "no heading", "`Scenario:`");
}

#[test]
fn a_typo_in_feature() {
    check("Featur: x\n  Scenario: y\n    Given z\n", 1, 1, "begins with `Feature:`", "`Feature:`");
}

#[test]
fn examples_without_rows() {
    check("Feature: x\n  Scenario Outline: y\n    Given <a>\n    Examples:\n      | a |\n", 4, 5, "no rows", "");
}

#[test]
fn examples_without_a_table() {
    check("Feature: x\n  Scenario Outline: y\n    Given a\n    Examples:\n", 4, 5, "no table", "");
}

#[test]
fn an_outline_without_examples() {
    check("Feature: x\n  Scenario Outline: y\n    Given <a>\n", 2, 3, "no `Examples:`", "");
}

#[test]
fn a_placeholder_in_a_plain_scenario() {
    check(&format!("{HEAD}    Given a <b>\n"), 3, 13, "no `Examples:`", "");
}

#[test]
fn an_unknown_placeholder() {
    let table = "    Examples:\n      | type |\n      | a |\n";
    check(&format!("Feature: x\n  Scenario Outline: y\n    Given <typ>\n{table}"), 3, 11, "\"typ\"", "<type>?");
    check(
        &format!("Feature: x\n  Scenario Outline: y\n    Given a\n      | <q> |\n{table}"),
        4,
        9,
        "\"q\"",
        "columns are type",
    );
}

#[test]
fn two_columns_of_one_name() {
    check(
        "Feature: x\n  Scenario Outline: y\n    Given <a>\n    Examples:\n      | a | a |\n      | 1 | 2 |\n",
        5,
        9,
        "two columns",
        "",
    );
}

#[test]
fn rows_that_are_too_short_or_too_long() {
    for row in ["| 1 |", "| 1 | 2 | 3 |"] {
        check(&format!("{HEAD}    Given t\n      | a | b |\n      {row}\n    When x\n"), 5, 7, "cells", "");
    }
    let outline = "Feature: x\n  Scenario Outline: y\n    Given <a>\n    Examples:\n      | a |\n      | 1 | 2 |\n";
    check(outline, 6, 7, "2 cells, the first has 1", "");
}

#[test]
fn a_bar_in_a_cell_parts_nothing() {
    let file = load(&format!("{HEAD}    Given t\n      | a\\|b | c |\n      | 1 | 2 |\n"));
    assert_eq!(file.problems, []);
    assert_eq!(file.cases[0].steps[0].step.table.as_ref().unwrap().rows[0], ["a|b", "c"]);
}

#[test]
fn a_doc_string_loses_its_media_type_and_its_indentation() {
    let text = format!(
        "{HEAD}    Given t\n      \"\"\"yaml\n      a:\n        - b # no comment\n\n    c\n      \"\"\"\n    When z\n"
    );
    let file = load(&text);
    assert_eq!(file.problems, []);
    assert_eq!(file.cases[0].steps[0].step.docstring.as_deref(), Some("a:\n  - b # no comment\n\nc"));
    assert_eq!(file.cases[0].steps.len(), 2);
    let plain = load(&format!("{HEAD}    Given t\n      ```\n      x\n      ```\n"));
    assert_eq!(plain.cases[0].steps[0].step.docstring.as_deref(), Some("x"));
}

#[test]
fn a_doc_string_that_does_not_end() {
    check(&format!("{HEAD}    Given t\n      \"\"\"\n      a\n"), 4, 7, "does not end", "");
}

#[test]
fn an_unsupported_language() {
    check("# language: tlhx\nFeature: x\n  Scenario: y\n    Given z\n", 1, 13, "no language", "language: en");
    check("# language: de-AT\nFunktion: x\n", 1, 13, "no language", "language: de");
}

#[test]
fn a_language_that_comes_too_late() {
    check(
        "# remark\n# language: de\nFunktion: x\n  Szenario: y\n    Angenommen z\n",
        2,
        1,
        "not the first line",
        "top",
    );
}

#[test]
fn other_languages_work_with_their_keywords() {
    let file = load("# language: de \nFunktionalität: x\n  Szenario: y\n    Angenommen z\n    Wenn a\n    Dann b\n");
    assert_eq!(file.problems, []);
    assert_eq!(file.cases[0].steps.len(), 3);
    let typo = load("# language: de\nFunktionalität: x\n  Szenario: y\n    Angenommen z\n    Wnn a\n    Dann b\n");
    assert_eq!(typo.problems[0].line, 5, "{}", typo.problems[0]);
}

#[test]
fn two_scenarios_of_one_name() {
    check(&format!("{HEAD}    Given a\n  Scenario: Y!\n    Given b\n"), 4, 3, "there already, on line 2", "");
}

#[test]
fn two_rows_of_one_name() {
    let text =
        "Feature: x\n  Scenario Outline: y\n    Given <a>\n    Examples:\n      | a |\n      | 1 |\n      | 1 |\n";
    check(text, 7, 7, "there already, on line 6", "rows");
}

#[test]
fn names_that_are_missing() {
    check("Feature: x\n  Scenario:\n    Given a\n", 2, 3, "no name", "");
    check("Feature: x\n  Scenario: ---\n    Given a\n", 2, 3, "no name", "");
}

#[test]
fn headings_without_content() {
    check("Feature: x\n", 1, 1, "no scenario", "");
    check("Feature: x\n  Rule: y\n", 2, 3, "no scenario", "");
    check(HEAD, 2, 3, "no steps", "");
}

#[test]
fn things_in_the_wrong_place() {
    check(&format!("{HEAD}    Given a\nFeature: z\n"), 4, 1, "one feature", "");
    check(&format!("{HEAD}    Given a\n  Background:\n    Given b\n"), 4, 3, "background", "");
    check(&format!("{HEAD}    Given a\n  @core\n"), 4, 3, "tags", "");
    check("\n# only\n", 2, 1, "no feature", "`Feature:");
}

#[test]
fn a_comment_above_a_step_does_not_move_its_place() {
    let file = load(&format!("{HEAD}    # first\n    When b\n    # second\n\n    # third\n    Then c\n"));
    let lines: Vec<usize> = file.cases[0].steps.iter().map(|step| step.line).collect();
    assert_eq!((file.problems.len(), lines), (0, vec![4, 8]));
}

#[test]
fn a_description_in_prose_is_allowed() {
    let text = "Feature: x\n  Source: pkg/x.go (v1.34)\n\n  Scenario: y\n    It is as the code has it.\n    Given a\n";
    assert_eq!(load(text).problems, []);
}

#[test]
fn a_remark_behind_a_name_is_no_part_of_it() {
    let file = load("Feature: x\n  Scenario: The kubelet stops      # as in 1.32\n    Given a\n");
    assert_eq!(file.cases[0].id, "a::b::the_kubelet_stops");
}

#[test]
fn backgrounds_come_before_their_scenarios() {
    let text = "Feature: x\n  Background:\n    Given a\n  Rule: r\n    Background:\n      Given b\n    Scenario: \
        y\n      When c\n";
    let file = load(text);
    let steps: Vec<&str> = file.cases[0].steps.iter().map(|line| line.step.value.as_str()).collect();
    assert_eq!(steps, ["a", "b", "c"]);
    assert_eq!(file.cases[0].rule.as_deref(), Some("r"));
}

#[test]
fn an_outline_is_expanded_row_by_row() {
    let text = "Feature: x\n  Scenario Outline: Node with <type>\n    Given <type>=<status>\n    Examples: old\n      \
        | type | status |\n      # remark\n      | Ready | False |\n\n    Examples: new\n      | type | status \
        |\n      | Ready | False |\n";
    let file = load(text);
    assert_eq!(file.problems, []);
    let ids: Vec<&str> = file.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["a::b::node_with_type::old_ready_false", "a::b::node_with_type::new_ready_false"]);
    assert_eq!((file.cases[0].line, file.cases[1].line), (7, 11));
    assert_eq!(file.cases[0].name, "Node with Ready");
    assert_eq!(file.cases[0].steps[0].step.value, "Ready=False");
}

#[test]
fn no_bytes_make_it_panic() {
    let seeds: [&[u8]; 6] = [
        b"@core\nFeature: x\n  Scenario Outline: y\n    Given <a>\n      | b |\n    Examples:\n      | a |\n      | 1 \
            |\n",
        b"# language: de\nFunktion: x\n  Szenario: y\n    Angenommen z\n      \"\"\"yaml\n      a\n      \"\"\"\n",
        b"Feature: \xc3\xa9\n  Rule: z\n    Background:\n      * a\n    Scenario: b\n      When \xe2\x82\xac\n",
        b"|||\\|\\\\|\n\"\"\"\n```\n@@@ : # language:\n",
        b"Feature:Feature:\nRule:\nScenario:\nExamples:\n||\n",
        b"\xe3\x81\x82: x\n\xc2\xa0Given y\n",
    ];
    let mut state = 1_u64;
    let mut next = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or_default() % limit
    };
    for round in 0..600 {
        let mut bytes = seeds[round % seeds.len()].to_vec();
        for _ in 0..=next(4) {
            let at = next(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
            if bytes.is_empty() {
                break;
            }
            match next(4) {
                0 => bytes[at] = b"\n\"|<>@#:\\ \0\xff"[next(12)],
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"\n\"|<>@#:`*"[next(10)]),
                _ => bytes.truncate(at + 1),
            }
        }
        let file = check_one(&Source::new("features/a/b.feature", bytes), &Requirements::default());
        file.problems.iter().for_each(|problem| drop(problem.to_string()));
        assert!(!file.cases.is_empty() || !file.problems.is_empty(), "a file without scenarios and problems");
    }
}

#[test]
fn deep_and_long_input_is_read_in_time() {
    let many = format!("{HEAD}{}", "    Given a\n".repeat(4_000));
    assert_eq!(load(&many).cases[0].steps.len(), 4_000);
    let broken = format!("{HEAD}{}    Givn b\n", "    Given a\n".repeat(2_000));
    assert_eq!(load(&broken).problems[0].line, 2_003);
    let deep = format!("{HEAD}    Given {}\n", "<".repeat(100_000));
    drop(load(&deep));
    let tags = format!("{}\n{HEAD}    Given a\n", "@core".repeat(5_000));
    drop(load(&tags));
}
