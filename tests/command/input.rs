//! Tests of bad input: a message with position and remedy, exit code 2, and the valid files are still run.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use super::world::{Answer, FAILING, GOOD, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("input::feature_files_that_are_broken", feature_files),
    ("input::outlines_and_languages", outlines_and_languages),
    ("input::names_that_nothing_has", names),
    ("input::options", options),
    ("input::a_line_of_a_file_and_settings_of_a_run", selected_and_set),
    ("input::variables", variables),
    ("input::a_backend_on_which_nothing_is_run", nothing_is_run),
    ("input::paths_of_built_in_features_are_known_where_no_others_are", built_in),
    ("input::places_that_cannot_be_read_or_written", places),
    ("input::recordings", recordings),
    ("input::files_of_ones_own", files_of_ones_own),
    ("input::readers_who_leave", readers_who_leave),
    ("input::help_for_each_command", help),
];

/// Runs and checks a tree that holds one good file and the given ones; each is named with its words.
fn broken(files: &[(&str, Vec<u8>, &str)]) -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    for (name, bytes, _) in files {
        world.write(&format!("features/a/{name}.feature"), bytes);
    }
    let lint = world.call(&["lint"]).ends(2)?;
    let run = world.call(&["run", "--json"]).ends(2)?.says("\"result\":\"passed\"")?;
    let passed: Vec<&str> = run.out.lines().filter(|line| line.contains("\"result\":\"passed\"")).collect();
    // One row of an outline may be sound where another is not, and so is the first of two that have one name.
    let sound = ["good::it_is_killed\"", "bad_row::it_is_killed::a\"", "twice::it_is_killed\""];
    let is_sound = |line: &&&str| sound.iter().any(|name| line.contains(name));
    require(passed.iter().all(|line| is_sound(&line)), || format!("one scenario is good: {passed:#?}"))?;
    let door = Answer::of(&mut world.door(&[])).ends(101)?.says("sim::a::good::it_is_killed")?;
    for (name, _, words) in files {
        let place = format!("features/a/{name}.feature");
        for text in [&lint.out, &run.err, &door.out] {
            let found = text
                .split("features/a/")
                .any(|part| part.starts_with(&format!("{name}.feature")) && part.contains(words));
            require(found, || format!("{place}: {words:?} is missing in\n{text}"))?;
        }
        require(door.out.contains(&format!("sim::a::{name}::feature_file")), || format!("{place} has no trial"))?;
    }
    Ok(())
}

fn feature_files() -> Result<(), String> {
    let utf16: Vec<u8> = [0xfeff].into_iter().chain(GOOD.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let twice = format!("{GOOD}{}", GOOD.split_once('\n').map_or("", |(_, scenario)| scenario));
    broken(&[
        ("empty", Vec::new(), "the file is empty"),
        ("binary", (0..=255).cycle().take(5_000).collect(), "feature:2:118: the byte 0x80 is not UTF-8"),
        ("huge", b"# x\n".repeat(50 << 18), "52428800 bytes, more than"),
        ("utf16", utf16, "save it as UTF-8"),
        (
            "latin1",
            GOOD.replace("A kubelet", "\u{1}").bytes().map(|b| if b == 1 { 0xf6 } else { b }).collect(),
            "feature:1:10: the byte 0xf6",
        ),
        ("old_mac", GOOD.replace('\n', "\r").into_bytes(), "end lines with a line feed"),
        ("prose", b"hello world\n".to_vec(), "begins with `Feature:`"),
        ("twice", twice.into_bytes(), "feature:6:3: the trial a::twice::it_is_killed is there already, on line 2"),
        ("typo", GOOD.replace("When", "Whne").into_bytes(), "did you mean \"When\"?"),
        ("first_typo", GOOD.replace("Given", "Givn").into_bytes(), "did you mean \"Given\"?"),
        ("no_sentence", GOOD.replace("is killed", "explodes").into_bytes(), "feature:4:10: there is no sentence"),
        ("no_bound", GOOD.replace(" for 39s", "").into_bytes(), "the bound is missing"),
        ("no_unit", GOOD.replace("39s", "39").into_bytes(), "the unit is missing"),
        ("tag", format!("@slwo\n{GOOD}").into_bytes(), "did you mean @slow?"),
        ("no_scenario", b"Feature: x\n".to_vec(), "the feature has no scenario"),
        (
            "open_text",
            b"Feature: x\n  Scenario: y\n    Given the object:\n      \"\"\"\n      a: b\n".to_vec(),
            "does not end",
        ),
    ])
}

fn names() -> Result<(), String> {
    let feature = |tag: &str, line: &str| {
        format!(
            "Feature: x\n  {tag}\n  Scenario: y\n    Given a ready Node \"w\"\n    \
             When the kubelet on \"w\" is killed\n    Then {line}\n"
        )
        .into_bytes()
    };
    let typo = |name: &'static str, line: &str, words: &'static str| (name, feature("", line), words);
    broken(&[
        typo(
            "taint",
            "Node \"w\" never has taint \"node.kubernetes.io/unreachabel:NoExecute\" for 5m",
            "did you mean node.kubernetes.io/unreachable?",
        ),
        typo("condition", "Node \"w\" never has condition Redy=Unknown for 5m", "did you mean Ready?"),
        // The sentences of the scenario have these words, and set none of them.
        typo("word", "Node \"w\" never has condition ready=Unknown for 5m", "did you mean Ready?"),
        typo("part", "Node \"w\" never has condition ead=Unknown for 5m", "did you mean Ready?"),
        typo("prose", "Node \"w\" never has condition kubelet=Unknown for 5m", "@custom:kubelet"),
        typo("key", "Node \"w\" never has taint \"ready:NoExecute\" for 5m", "@custom:ready"),
        typo("reason", "no Event ready about Node \"w\" for 5m", "@custom:ready"),
        typo(
            "claim",
            "PersistentVolumeClaim \"kubelet\" keeps field metadata.uid absent for 5m",
            "\"kubelet\" is declared",
        ),
        typo("event", "no Event NodeNotRedy about Node \"w\" for 5m", "did you mean NodeNotReady?"),
        typo("field", "Node \"w\" keeps field spec.unschedulabel absent for 5m", "did you mean unschedulable?"),
        typo("bound", "Node \"w\" exists at 1s after Node \"w\" has condition Redy=Unknown", "did you mean Ready?"),
        (
            "object",
            b"Feature: x\n  Scenario: y\n    Given the object:\n      \"\"\"yaml\n      apiVersion: v1\n      kind: \
                Pod\n      \
              metadata: {name: p}\n      spec: {nodeNme: w}\n      \"\"\"\n    When 1s passes\n    \
              Then Pod \"p\" exists within 1s\n"
                .to_vec(),
            "did you mean nodeName?",
        ),
        ("gate", feature("@gate:NodeSwop", "Node \"w\" exists within 1s"), "did you mean @gate:NodeSwap?"),
    ])?;
    let world = World::new();
    let line = "Node \"w\" never has taint \"example.com/broken:NoExecute\" for 5m";
    world.write("features/a/b.feature", feature("@custom:example.com/broken", line));
    world.call(&["run"]).ends(0)?;
    Ok(())
}

fn outlines_and_languages() -> Result<(), String> {
    let outline = |rows: &str| {
        format!("{}{rows}", GOOD.replace("Scenario:", "Scenario Outline:").replace("worker-1", "<name>")).into_bytes()
    };
    broken(&[
        ("no_rows", outline("    Examples:\n      | name |\n"), "the examples have no rows"),
        ("no_examples", outline(""), "the outline has no `Examples:`"),
        ("ragged", outline("    Examples:\n      | name | x |\n      | a |\n"), "this row has 1 cells"),
        ("other_column", outline("    Examples:\n      | nam |\n      | a |\n"), "did you mean <nam>?"),
        ("bad_row", outline("    Examples:\n      | name |\n      | a |\n      | B_ |\n"), "row: name=B_"),
        (
            "same_rows",
            outline("    Examples:\n      | name |\n      | a |\n      | a |\n"),
            "rows of one outline must differ",
        ),
        ("klingon", b"# language: klingon\nFeature: x\n".to_vec(), "there is no language \"klingon\""),
        (
            "german",
            "# language: de\nFunktionalit\u{e4}t: x\n  Szenario: y\n    Angenommen no other Node\n    Wen 1s passes\n"
                .into(),
            "all keywords are those of that language",
        ),
    ])?;
    let world = World::new();
    world.write(
        "features/a/german.feature",
        "# language: de\nFunktionalit\u{e4}t: x\n  Szenario: y\n    Angenommen a ready Node \"w\"\n    Wenn 1s \
            passes\n    Dann Node \"w\" exists at once\n",
    );
    world.write("features/a/windows.feature", GOOD.replace('\n', "\r\n"));
    world.write("features/a/marked.feature", format!("\u{feff}{GOOD}"));
    world.call(&["run"]).ends(0)?.says("3 passed")?;
    Ok(())
}

fn options() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    let cases: &[(&[&str], &str)] = &[
        (&["run", "--seed", "x"], "is no seed: a whole number"),
        (&["run", "--seed=-1"], "is no seed"),
        (&["run", "--seed", "18446744073709551616"], "is no seed"),
        (&["run", "--k8s", "1.30"], "known are 1.31 (1.31.0), "),
        (&["run", "--tags", "core"], "tags begin with @"),
        (&["run", "--tags", "not @slwo"], "did you mean @slow?"),
        (&["run", "--tags", "@core and"], "is no tag expression"),
        (&["run", "--tags", "@slow"], "@slow selects no scenario"),
        (&["run", "--only", "sim::a::good::it_is_kiled"], "did you mean sim::a::good::it_is_killed?"),
        (&["run", "--backend", "cloud"], "possible values: sim"),
        (&["run", "features/a/good.feature:6"], "good.feature:6: the file has the lines 1 to 5"),
        (&["run", "features/a/good.feature:0"], "the file has the lines 1 to 5"),
        (&["run", "features/a:2"], "features/a:2: a directory has no lines"),
        (&["run", "nowhere.feature:2"], "nowhere.feature: there is no such file"),
        (&["run", "--set", "x"], "FLAG=VALUE is needed"),
        (&["run", "--set", "node-monitor-grace-perod=9s"], "did you mean \"node-monitor-grace-period\"?"),
        (&["run", "--set", "node-monitor-grace-period=9"], "cannot be \"9\""),
        (&["run", "--set", "kubelet.nodeStatusUpdateFrequenc=5s"], "did you mean \"nodeStatusUpdateFrequency\"?"),
        (&["run", "--set", "kubelet.maxPods=many"], "cannot unmarshal string"),
        (&["run", "--set", "controllers=-ttl-controller"], "a scenario says `Given ttl-controller stops`"),
        (&["run", "--set", "node-monitor-grace-period=20s", "--accept"], "leave --set out"),
        (&["run", "--settings", "nowhere"], "cannot read nowhere"),
        (&["run", "nowhere"], "nowhere: there is no such file or directory"),
        (&["run", "--sed", "1"], "--seed"),
        (&["lint", "nowhere"], "nowhere: there is no such file or directory"),
        (&["explain", "NC-99999"], "there is no requirement \"NC-99999\""),
        (&["steps", "zzz"], "no sentence holds zzz"),
        (&["replay", "nowhere"], "is not a recording"),
        (&["replay"], "<DIR>"),
        (&["bench", "--nodes", "0"], "more than nothing"),
        (&["bench", "--load", "zone-outage", "--for", "5m"], "--at must be less than --for"),
        (&["bench", "--for", "soon"], "as 20m or 90s"),
        (&["bench", "--for", "-5m"], "not \"-5m\""),
        (&["bench", "--for", "0s"], "more than nothing"),
        (&["control", "--cluster", "nowhere"], "cannot read nowhere"),
        (&["control", "--set", "x"], "FLAG=VALUE is needed"),
        (&["nonsense"], "unrecognized subcommand 'nonsense'"),
        (&[], "Usage: nodeproof <COMMAND>"),
    ];
    for (arguments, words) in cases {
        world.call(arguments).ends(2)?.says(words)?;
    }
    Ok(())
}

/// A place in a file selects what stands there; settings of a run hold for what says nothing of its own.
fn selected_and_set() -> Result<(), String> {
    const SEVERAL: &str = "\
Feature: A kubelet stops
  Scenario: It is killed
    Given a ready Node \"worker-1\"
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" keeps condition Ready=True for 39s

  Scenario Outline: It is killed for <how> long
    Given a ready Node \"worker-1\"
    And kube-controller-manager runs with:
      | node-monitor-grace-period | 60s |
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" keeps condition Ready=True for <how>

    Examples:
      | how |
      | 45s |
      | 46s |
";
    let world = World::new();
    world.write("features/a/several.feature", SEVERAL);
    for (line, count) in [(1, 3), (2, 1), (5, 1), (7, 2), (10, 2), (16, 1), (17, 1)] {
        let place = format!("features/a/several.feature:{line}");
        world.call(&["run", &place]).ends(0)?.says(&format!("Finished {count} passed"))?;
    }
    let shorter = ["run", "--set", "kube-controller-manager.node-monitor-grace-period=20s"];
    let failed = world.call(&shorter).ends(1)?.says("Finished 2 passed, 1 failed")?;
    failed
        .says("20.004s > grace period 20s")?
        .says("--set kube-controller-manager.node-monitor-grace-period=20s --seed 1")?;
    world.write("mine.yaml", "node-monitor-grace-period: 20s\nkubelet.nodeStatusUpdateFrequency: 5s\n");
    world.call(&["run", "--settings", "mine.yaml"]).ends(1)?.says("Finished 2 passed, 1 failed")?;
    world.write("mine.yaml", "- x\n");
    world.call(&["run", "--settings", "mine.yaml"]).ends(2)?.says("settings are FLAG: VALUE")?;
    Ok(())
}

fn nothing_is_run() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    let none = |arguments: &[&str], summary: &str, why: &str| {
        let mut command = world.command(arguments);
        command.env_remove("KUBEBUILDER_ASSETS").env("PATH", "").env("DOCKER_HOST", "unix:///nowhere");
        Answer::of(&mut command).ends(2)?.says(summary)?.says(&format!("error: nothing was run on the backend {why}"))
    };
    let no_programs = "hollow: no etcd in KUBEBUILDER_ASSETS or PATH";
    none(&["run", "--backend", "hollow"], "0 passed, 1 skipped", no_programs)?;
    for arguments in [&["compare", "--with", "hollow"] as &[&str], &["compare", "--with", "hollow", "--json"]] {
        none(arguments, "0 inconclusive, 1 skipped", no_programs)?;
    }
    none(&["compare", "--with", "hollow", "--assets", "/nowhere"], "1 skipped", "hollow: no etcd in /nowhere")?;
    none(&["compare", "--with", "kind"], "1 skipped", "kind: ")?;
    // Nor on the simulator, where another release was meant.
    world.write("features/a/good.feature", GOOD.replace("  Scenario", "  @since:1.36\n  Scenario"));
    none(&["run"], "0 passed, 1 skipped", "sim: ")?;
    world.call(&["run", "--k8s", "1.31,1.36"]).ends(0)?.says("1 passed")?;
    Ok(())
}

fn built_in() -> Result<(), String> {
    let world = World::new();
    world.call(&["run", "features/health/unreachable.feature", "--list"]).ends(0)?.says("health::unreachable::")?;
    world.call(&["run", "features/health", "--list"]).ends(0)?.says("health::recovery::")?;
    world.call(&["run", "features/haelth"]).ends(2)?.says("features/haelth: there is no such file or directory")?;
    // Features of one's own are never mixed with them.
    world.write("features/a/good.feature", GOOD);
    world.call(&["run", "features/health"]).ends(2)?.says("features/health: there is no such file or directory")?;
    Ok(())
}

fn variables() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    for (name, value, words) in [
        ("NODEPROOF_SEED", "x", "NODEPROOF_SEED: \"x\" is no seed"),
        ("NODEPROOF_K8S", "9", "NODEPROOF_K8S: no profile for Kubernetes \"9\""),
        ("NODEPROOF_TAGS", "core", "NODEPROOF_TAGS: \"core\" is no tag expression"),
        ("NODEPROOF_TAGS", "not @slwo", "did you mean @slow?"),
        ("NODEPROOF_TAGS", "@slow", "selects no scenario"),
    ] {
        Answer::of(world.command(&["run"]).env(name, value)).ends(2)?.says(words)?;
        Answer::of(world.door(&[]).env(name, value)).ends(2)?.says(words)?;
    }
    let seeded = Answer::of(world.command(&["run", "--json"]).env("NODEPROOF_SEED", "7")).ends(0)?;
    seeded.says("\"seed\":7")?;
    let both = Answer::of(world.command(&["run", "--json", "--seed", "8"]).env("NODEPROOF_SEED", "7")).ends(0)?;
    both.says("\"seed\":8")?;
    Answer::of(world.command(&["run"]).env("NODEPROOF_SED", "7")).ends(0)?.says("did you mean NODEPROOF_SEED?")?;
    Ok(())
}

fn places() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    world.write("file", "x");
    fs::create_dir_all(world.path("features/b/directory.feature")).map_err(|error| error.to_string())?;
    world.call(&["run", "--report", "file/report"]).ends(2)?.says("the report cannot be written")?;
    world.call(&["run", "--report", "file"]).ends(2)?.says("file: the report cannot be written")?;
    require(world.read("file") == "x", || "the file is as it was".to_owned())?;
    world.call(&["run", "features/b/directory.feature"]).ends(2)?.says("the directory holds no feature files")?;
    world.call(&["lint", "file"]).ends(2)?.says("this is no feature file")?;
    world.call(&["run", "--report", "out"]).ends(0)?;
    let files = world.files("out/scenarios");
    let kinds = ["decisions.jsonl", "history.yaml", "trace.jsonl"];
    let expected: Vec<String> = kinds.iter().map(|kind| format!("out/scenarios/a/good/it_is_killed.{kind}")).collect();
    require(files == expected, || format!("{files:?}"))?;
    world.call(&["run", "--no-trace"]).ends(2)?.says("--report <DIR>")?;
    world.call(&["run", "--report", "brief", "--no-trace"]).ends(0)?;
    let files = world.files("brief/scenarios");
    require(files.len() == 2, || format!("{files:?}"))?;
    for kind in &kinds[..2] {
        let read = |report: &str| world.read(&format!("{report}/scenarios/a/good/it_is_killed.{kind}"));
        require(read("brief") == read("out"), || format!("without a trace, {kind} differs"))?;
    }
    Ok(())
}

fn recordings() -> Result<(), String> {
    let world = World::new();
    let real = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded/1.34.4/registration");
    let about = fs::read_to_string(real.join("about.yaml")).map_err(|error| error.to_string())?;
    let lines = ["watch.jsonl", "writes.jsonl", "actions.jsonl"];
    world.write("half/about.yaml", &about);
    lines.iter().for_each(|name| world.write(&format!("half/{name}"), "{\"t\": 1.0, \"ty"));
    world.call(&["replay", "half"]).ends(2)?.says("jsonl")?;
    world.write("garbage/about.yaml", "a: [");
    world.call(&["replay", "garbage"]).ends(2)?.says("about.yaml")?;
    world.write("empty/README", "nothing");
    world.call(&["replay", "empty"]).ends(2)?.says("empty is not a recording: it has no about.yaml")?;
    world.write("notes/topic.jsonl", "{}\n");
    world.call(&["replay", "notes"]).ends(2)?.says("notes is not a recording: it has no about.yaml")?;
    let whole = real.to_string_lossy().into_owned();
    world.call(&["replay", &whole, "--topic", "x"]).ends(2)?.says("only exchanges of an API server have topics")?;
    world.write("later/about.yaml", about.replace("1.34.4", "1.99.1"));
    lines.iter().for_each(|name| world.write(&format!("later/{name}"), ""));
    world.call(&["replay", "later"]).ends(2)?.says("no profile for Kubernetes \"1.99.1\"")?;
    world.write("late/about.yaml", format!("{}\n", about.replace("started:", "was:")));
    world.call(&["replay", "late"]).ends(2)?.says("about.yaml")?.says("started")?;
    world.write("nothing/about.yaml", &about);
    lines.iter().for_each(|name| world.write(&format!("nothing/{name}"), ""));
    world.call(&["replay", "nothing"]).ends(2)?.says("there is nothing to replay")?;
    world.write("huge/about.yaml", &about);
    let line = r#"{"t": 9e300, "type": "ADDED", "kind": "Node", "object": {"metadata": {"name": "n"}}}"#;
    lines.iter().for_each(|name| world.write(&format!("huge/{name}"), if *name == "watch.jsonl" { line } else { "" }));
    world.call(&["replay", "huge"]).ends(2)?.says("watch.jsonl:1: ")?;
    let one = real.to_string_lossy().into_owned();
    world.write("ledger.yaml", "- {recording: x}\n");
    world.call(&["replay", &one, "--ledger", "ledger.yaml"]).ends(2)?.says("ledger.yaml: ")?;
    world.call(&["replay", &one, "--ledger", "nowhere.yaml"]).ends(2)?.says("nowhere.yaml: ")?;
    world.write("api-1.34.4/nodes-crud.jsonl", "{\"request\": {}}\n{\"req");
    world.call(&["replay", "api-1.34.4"]).ends(2)?.says("nodes-crud.jsonl:2: the line is no JSON")?;
    world.call(&["replay", "api-1.34.4", "--topic", "nodes"]).ends(2)?.says("there are nodes-crud")?;
    world.write("packed/about.yaml", &about);
    lines.iter().for_each(|name| world.write(&format!("packed/{name}.gz"), b"no gzip"));
    world.call(&["replay", "packed"]).ends(2)?.says("gz")?;
    Ok(())
}

fn files_of_ones_own() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    for (bytes, words) in [
        (b"\xff\xfe\x00" as &[u8], "cannot be read"),
        (b"- a\n- b\n", "no file of requirements"),
        (b"own:\n- {says: x}\n", "missing field `id`"),
        (b"own:\n- {id: A}\n- {id: A}\n", "the id \"A\" is there twice"),
    ] {
        world.write("features/requirements.yaml", bytes);
        world.call(&["lint"]).ends(2)?.says("features/requirements.yaml:")?.says(words)?;
        world.call(&["run"]).ends(2)?.says(words)?.says("1 passed")?;
        Answer::of(&mut world.door(&[])).ends(101)?.says(words)?.says("sim::a::good::it_is_killed ... ok")?;
    }
    fs::remove_file(world.path("features/requirements.yaml")).map_err(|error| error.to_string())?;
    let fixture = "the objects in \"x.yaml\"\n    When";
    world.write("features/a/good.feature", GOOD.replace("When", &format!("And {fixture}")));
    for (bytes, words) in [
        (b"\xff\xfe" as &[u8], "x.yaml: "),
        (b"", "there is no object in it"),
        (b"kind: [", "no YAML"),
        (b"a: b\n", "the object has no kind"),
    ] {
        world.write("fixtures/x.yaml", bytes);
        world.call(&["lint"]).ends(2)?.says("good.feature:4:")?.says(words)?;
    }
    world.write("fixtures/x.yaml", b"# x\n".repeat(1 << 19));
    world.call(&["run"]).ends(2)?.says("more than the 1048576 that are read")?;
    Ok(())
}

fn readers_who_leave() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    world.write("features/a/failing.feature", FAILING);
    for (arguments, code) in [
        (&["run", "--json"] as &[&str], 1),
        (&["run", "features/a/good.feature"], 0),
        (&["steps"], 0),
        (&["profiles"], 0),
        (&["lint"], 0),
        (&["explain"], 0),
        (&["run", "--help"], 0),
    ] {
        let mut child =
            world.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().expect("it is piped").read_to_string(&mut err).expect("it is text");
        let status = child.wait().expect("it ends");
        require(status.code() == Some(code) && !err.contains("panicked"), || format!("{arguments:?}: {status} {err}"))?;
    }
    Ok(())
}

fn help() -> Result<(), String> {
    let world = World::new();
    for command in ["run", "lint", "new", "steps", "explain", "replay", "bench", "profiles", "control"] {
        let answer = world.call(&[command, "--help"]).ends(0)?;
        require(
            answer.out.contains(&format!("nodeproof {command} ")) || answer.out.contains("nodeproof control"),
            || format!("{command} has no example: {}", answer.out),
        )?;
    }
    world.call(&["--help"]).ends(0)?.says("First steps")?.says("Exit code")?;
    Ok(())
}
