//! Hostile inputs of the maximum size, which make super-linear costs visible. They are generated instead of stored.

use std::fmt::Write;

/// The maximum size of an input in bytes.
pub const SIZE: usize = 1 << 20;

/// Returns the large inputs of a target, by name.
pub fn of(target: &str) -> Vec<(&'static str, String)> {
    match target {
        "yaml" => yaml(),
        "json" => json(),
        "expressions" => expressions(),
        "packs" => packs(),
        _ => Vec::new(),
    }
}

/// Returns `head`, numbered pieces and `tail`, up to the largest size.
fn filled(head: &str, piece: impl Fn(usize) -> String, tail: &str) -> String {
    let mut text = head.to_owned();
    for n in 0.. {
        let next = piece(n);
        if text.len() + next.len() + tail.len() > SIZE {
            break;
        }
        text.push_str(&next);
    }
    text + tail
}

fn same(head: &str, piece: &str, tail: &str) -> String {
    filled(head, |_| piece.to_owned(), tail)
}

/// Aliases of aliases.
fn bomb(levels: usize) -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..levels {
        let _ = writeln!(text, "a{i}: &a{i} [{}]", vec![format!("*a{}", i - 1); 10].join(", "));
    }
    text
}

fn yaml() -> Vec<(&'static str, String)> {
    let effect = "Kind: gameplay_effect\nName: GE\nDurationPolicy: Infinite\n";
    vec![
        ("a list of numbers", same("[", "1,", "1]")),
        ("a list of maps", same("", "- {a: 1}\n", "")),
        ("a list of nothings", same("", "-\n", "")),
        ("a map of many keys", filled("", |n| format!("k{n}:\n"), "")),
        ("a set of many keys", filled("{", |n| format!("k{n},"), "}")),
        ("an alias bomb", bomb(30)),
        ("a small alias bomb", bomb(5)),
        (
            "an alias bomb of maps",
            filled("b: &b {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9}\nc:\n", |_| "- *b\n".to_owned(), ""),
        ),
        ("an alias bomb of texts", format!("- &a {}\n{}", "x".repeat(100_000), "- *a\n".repeat(180_000))),
        ("anchors in anchors", filled("", |n| format!("- {}x{}\n", format!("&a{n} [").repeat(60), "]".repeat(60)), "")),
        ("anchors everywhere", filled("", |n| format!("- &a{n} x\n"), "")),
        ("a tower", "[".repeat(SIZE)),
        ("towers", filled("", |_| format!("- {}{}\n", "[".repeat(60), "]".repeat(60)), "")),
        ("towers of maps", filled("", |_| format!("- {}1{}\n", "{a: ".repeat(60), "}".repeat(60)), "")),
        ("questions", "? ".repeat(SIZE / 2)),
        ("comments", same("", "#\n", "")),
        ("comments at the end", same("A: 1\n", "  #\n", "")),
        ("comments in a list", same("A:\n", "  # c\n   - 1\n", "")),
        ("empty lines", same("A: 1\n", "\n", "B: 2\n")),
        ("spaces", same("A: 1\n", " ", "\nB: 2\n")),
        ("tabs", same("A:", "\t", "1\n")),
        ("carriage returns", same("A: 1", "\r", "B: 2")),
        ("dashes", same("", "--- \n", "")),
        ("a long key", same("Kind: curve\n", "k", ": 1\n")),
        ("a long word", same("Name: ", "w", "\n")),
        ("a long number", same("A: ", "9", "\n")),
        ("a long kind", same("Kind: ", "gameplay_", "\n")),
        ("a long literal", same("A: |\n", "  x y\n", "")),
        ("a long folded text", same("A: >\n", "  x\n\n", "")),
        ("a long quoted text", same("A: \"", "\\u00e9 ", "\"\n")),
        ("a quoted text over lines", same("A: \"", "x\n\n ", "\"\n")),
        ("a plain text over lines", same("A: b\n", "  c\n", "")),
        ("tags", same("", "- !!str x\n", "")),
        ("unknown tags", same("", "- !x x\n---\n", "")),
        ("directives", same("", "%YAML 1.2\n---\nA: 1\n...\n", "")),
        ("small documents", filled("", |n| format!("Kind: curve\nName: C{n}\nPoints: [{{X: 0, Y: 0}}]\n---\n"), "")),
        ("wrong documents", same("", "Kind: curve\nNaem: C\n---\n", "")),
        ("a document of points", filled("Kind: curve\nName: C\nPoints:\n", |n| format!("  - {{X: {n}, Y: 1}}\n"), "")),
        ("a document of wrong points", same("Kind: curve\nName: C\nPoints:\n", "  - {X: a, Z: 1}\n", "")),
        ("a document of unknown fields", filled(effect, |n| format!("Granted{n}: 1\n"), "")),
        ("a document of tags", filled(&format!("{effect}GrantedTags:\n"), |n| format!("  - State.S{n}\n"), "")),
        ("a document of keys that stand twice", same("", "A: 1\n", "")),
        ("one line of maps", same("A: [", "{B: [1 ,2], \"c\":3},", "1]\n")),
    ]
}

fn json() -> Vec<(&'static str, String)> {
    vec![
        ("numbers", same("[", "1,", "1]")),
        ("maps", same("[", r#"{"a":1},"#, "1]")),
        ("empty maps", same("[", "{},", "1]")),
        ("keys", filled("{", |n| format!("\"{n}\":{n},"), "\"a\":1}")),
        ("texts", same("[", r#""a","#, "1]")),
        ("a long text", same("\"", "a", "\"")),
        ("a long escaped text", same("\"", "\\u00e9", "\"")),
        ("a long key", same("{\"", "k", "\": 1}")),
        ("long keys", filled("{", |n| format!("\"{n}{}\": 1,\n", "k".repeat(2000)), "\"a\": 1}")),
        ("a long number", same("", "9", "")),
        ("a long fraction", same("0.", "3", "")),
        ("a tower", "[".repeat(SIZE)),
        ("towers", filled("[", |_| format!("{}{},", "[".repeat(60), "]".repeat(60)), "1]")),
        ("white space", same("[1,", " \n\t", "2]")),
        (
            "points",
            filled(
                r#"{"Kind":"curve","Name":"C","Points":["#,
                |n| format!("{{\"X\":{n},\"Y\":1}},"),
                r#"{"X":9e9,"Y":1}]}"#,
            ),
        ),
        (
            "wrong points",
            same(r#"{"Kind":"curve","Name":"C","Points":["#, r#"{"X":"a","Z":1},"#, r#"{"X":9e9,"Y":1}]}"#),
        ),
    ]
}

fn expressions() -> Vec<(&'static str, String)> {
    let short = |text: &str| text.repeat(4000 / text.len());
    vec![
        ("too long", same("", "1+", "1")),
        ("long", short("1+") + "1"),
        ("brackets", "(".repeat(4000)),
        ("signs", "-".repeat(4000) + "1"),
        ("powers", short("pow(")),
        ("choices", short("if(Health,")),
        ("many lines", same("", "1\n", "v0")),
        ("many long lines", filled("", |_| short("Health*") + "2\n", "v0")),
        (
            "lines of lines",
            filled("", |n| format!("{}1\n", (0..n.min(30)).map(|i| format!("v{i}*")).collect::<String>()), "v1"),
        ),
        ("an unknown word", short("Heal")),
        ("unknown words", short("Healt + ") + "1"),
        ("a long number", short("9")),
        ("a large number", "1e308 * 1e308".to_owned()),
        ("curves", short("curve(C, ")),
    ]
}

fn packs() -> Vec<(&'static str, String)> {
    let pack = "=== a/pack.yaml\nName: a\nSpecification: v1.0.0-draft.3\n=== a/a.yaml\n";
    let set = "Kind: attribute_set\nName: S\nAttributes: [{Name: Health, DefaultBaseValue: 1}]\n---\n";
    let effect = |n: usize| format!("Kind: gameplay_effect\nName: GE_{n}\nDurationPolicy: Infinite\n");
    let files =
        |body: &dyn Fn(usize) -> String| (0..60).map(|f| format!("=== p{f}/a.yaml\n{}", body(f))).collect::<String>();
    vec![
        (
            "effects",
            filled(
                &format!("{pack}{set}"),
                |n| {
                    format!(
                        "{}Modifiers: [{{Attribute: Health, Operation: Add, Magnitude: {{Type: ScalableFloat, Value: 1}}}}]\n---\n",
                        effect(n)
                    )
                },
                "",
            ),
        ),
        (
            "effects of unknown attributes",
            filled(
                &format!("{pack}{set}"),
                |n| {
                    format!(
                        "{}Modifiers: [{{Attribute: Helth{n}, Operation: Add, Magnitude: {{Type: ScalableFloat, Value: 1}}}}]\n---\n",
                        effect(n)
                    )
                },
                "",
            ),
        ),
        (
            "misspelt attributes",
            filled(
                &format!("{pack}{set}"),
                |n| {
                    format!(
                        "{}Modifiers: [{{Attribute: Helth, Operation: Add, Magnitude: {{Type: ScalableFloat, Value: 1}}}}]\n---\n",
                        effect(n)
                    )
                },
                "",
            ),
        ),
        (
            "ignored channels",
            filled(
                &format!("{pack}{set}Kind: gameplay_effect\nName: GE\nDurationPolicy: Infinite\nModifiers:\n"),
                |_| {
                    "  - {Attribute: Health, Channel: X, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}\n"
                        .into()
                },
                "",
            ),
        ),
        ("unknown tags", filled(&format!("{pack}{}GrantedTags:\n", effect(0)), |n| format!("  - State.S{n}\n"), "")),
        ("tags", filled(&format!("{pack}Kind: gameplay_tag\nTags:\n"), |n| format!("  - {{Tag: State.S{n}}}\n"), "")),
        (
            "deep tags",
            filled(
                &format!("{pack}Kind: gameplay_tag\nTags:\n"),
                |n| format!("  - {{Tag: A{n}{}}}\n", ".B".repeat(30)),
                "",
            ),
        ),
        ("one deep tag", format!("{pack}Kind: gameplay_tag\nTags:\n  - {{Tag: A{}}}\n", ".B".repeat(500_000))),
        ("the same name", filled(pack, |_| format!("{}---\n", effect(0)), "")),
        ("names without documents", filled(pack, |n| format!("Kind: gameplay_effect\nName: GE_{n}\n---\n"), "")),
        (
            "derived attributes",
            filled(
                &format!("{pack}Kind: attribute_set\nName: S\nAttributes:\n"),
                |n| {
                    format!(
                        "  - {{Name: A{n}, DefaultBaseValue: 1, DerivedFrom: {{Expression: \"A{} + 1\"}}}}\n",
                        n + 1
                    )
                },
                "",
            ),
        ),
        (
            "attributes",
            filled(
                &format!("{pack}Kind: attribute_set\nName: S\nAttributes:\n"),
                |n| format!("  - {{Name: A{n}, DefaultBaseValue: 1}}\n"),
                "",
            ),
        ),
        (
            "attribute sets",
            filled(
                pack,
                |n| {
                    format!("Kind: attribute_set\nName: S{n}\nAttributes: [{{Name: A{n}, DefaultBaseValue: 1}}]\n---\n")
                },
                "",
            ),
        ),
        (
            "abilities",
            filled(
                &format!("{pack}{set}"),
                |n| {
                    format!(
                        "Kind: gameplay_ability\nName: GA_{n}\nTags: {{ActivationRequiredTags: [State.A{n}]}}\n---\n"
                    )
                },
                "",
            ),
        ),
        (
            "tasks",
            filled(
                &format!("{pack}Kind: gameplay_ability\nName: GA\nTasks:\n"),
                |_| "  - {Type: WaitDelay, Params: {Duration: 1}}\n".into(),
                "",
            ),
        ),
        (
            "unknown tasks",
            filled(
                &format!("{pack}Kind: gameplay_ability\nName: GA\nTasks:\n"),
                |n| format!("  - {{Type: WatDelay{n}, Params: {{Duration: 1}}}}\n"),
                "",
            ),
        ),
        (
            "chains",
            filled(&format!("{pack}{set}"), |n| format!("{}OnApplyEffects: [GE_{}]\n---\n", effect(n), n + 1), ""),
        ),
        (
            "required packs",
            filled("", |n| format!("=== p{n}/pack.yaml\nName: p{n}\nRequires: [p{}, p{}]\n", n + 1, n + 2), ""),
        ),
        ("a requirement of everything", filled("=== p/pack.yaml\nName: p\nRequires:\n", |n| format!("  - q{n}\n"), "")),
        ("bombs", files(&|_| bomb(6))),
        ("small bombs", files(&|_| bomb(4))),
        (
            "bombs of maps",
            files(&|_| {
                "Kind: curve\nName: &n C\nPoints: &p [{X: 1, Y: 2}]\nb: &b {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6}\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e, *e, *e, *e, *e, *e]\n".into()
            }),
        ),
        ("comments", same(pack, "#\n", "")),
        (
            "one line of json",
            filled(
                "=== a.json\n{\"Kind\":\"gameplay_effect\",\"Name\":\"GE\",\"DurationPolicy\":\"Infinite\",\"GrantedTags\":[",
                |n| format!("\"State.S{n}\","),
                "\"State.A\"]}",
            ),
        ),
        ("permissions", filled(&format!("{pack}{set}"), |n| format!("# ugas-allow: naming\n{}---\n", effect(n)), "")),
        (
            "a pack of hosts",
            filled("=== a/pack.yaml\nName: a\nHost:\n  Calculations:\n", |n| format!("    - ExecCalc_{n}\n"), ""),
        ),
        ("curves", filled(pack, |n| format!("Kind: curve\nName: C{n}\nPoints: [{{X: 0, Y: 0}}]\n---\n"), "")),
        (
            "calculations",
            filled(
                &format!("{pack}{set}"),
                |n| {
                    format!(
                        "Kind: calculation\nName: Calc{n}\nResults: [{{Attribute: Health, Operation: Add, Value: \"-max(0, Helth{n} - 1)\"}}]\n---\n"
                    )
                },
                "",
            ),
        ),
        (
            "controllers",
            filled(
                &format!("{pack}{set}"),
                |n| format!("Kind: gameplay_controller\nOwnerActorID: a{n}\nAttributeSets: [S]\n---\n"),
                "",
            ),
        ),
        ("a text of brackets", same(&format!("{pack}{}Metadata: {{Description: \"", effect(0)), "{", "}\"}\n")),
        ("scenarios", same(pack, "Scenario: a\n---\n", "")),
    ]
}
