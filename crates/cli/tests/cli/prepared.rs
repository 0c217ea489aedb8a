//! Tables as people have them: the account of the columns, choices by `--auto` and by hand, the next month's table.

use super::sandbox::Sandbox;

/// Two groups of shops, with money, gaps, dates, a yes-or-no column, and a row that lies alone.
fn shops() -> String {
    let row = |row: usize| {
        let is_large = row % 2 == 1;
        let revenue = if is_large { 90_000.0 } else { 900.0 } * (1.0 + (row * 37 % 101) as f64 / 50.0);
        let staff =
            if row % 11 == 4 { "N/A".to_owned() } else { (if is_large { 30 } else { 3 } + row % 4).to_string() };
        let open = if row.is_multiple_of(3) { "no" } else { "yes" };
        format!(
            "S{row:03},{},2021-04-{:02},\"€{revenue:.2}\",{staff},{open}\n",
            ["Bern", "Basel"][row % 5 / 3],
            1 + row % 28
        )
    };
    let rows: String = (0..160).map(row).collect();
    format!("shop,city,opened,revenue,staff,open\n{rows}S999,Bern,2021-04-01,\"€1.00\",5000,yes\n")
}

#[test]
fn auto_prepares_explains_and_lists_outliers_and_predict_goes_the_same_way() {
    let sandbox = Sandbox::with("shops.csv", shops());
    let run = sandbox.lehr(&["cluster", "shops.csv", "--auto", "--id", "shop", "--append", "--out", "o"]).succeeded();
    for line in ["shop     id", "revenue  measure", "staff    measure", "city     category", "opened   date"] {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
    assert!(run.stderr.contains("filled 15 gaps, by --missing nearest"), "{}", run.stderr);
    assert!(run.stdout.contains("161 rows in 2 clusters"), "{}", run.stdout);
    assert!(run.stdout.contains("what sets them apart\n0: "), "{}", run.stdout);
    let labels = sandbox.read("o/labels.csv");
    let head = "id,cluster,probability,distance,second_cluster,second_distance,shop,city,opened,revenue,staff,open";
    let mut lines = labels.lines();
    assert_eq!(lines.next(), Some(head));
    let cluster = |line: &str| line.split(',').nth(1).unwrap().to_owned();
    let found: Vec<String> = lines.clone().map(cluster).collect();
    assert!((2..160).all(|row| found[row] == found[row % 2]) && found[0] != found[1], "{labels}");
    assert!(labels.contains(",S000,Bern,2021-04-01,900,3,no\n"), "{labels}");
    assert!(sandbox.read("o/outliers.csv").lines().nth(1).unwrap().starts_with("S999,"));
    assert!(
        sandbox
            .read("o/centers.csv")
            .lines()
            .next()
            .unwrap()
            .ends_with(",spread,probability,silhouette,merges_with,joins,joins_at,name")
    );
    let summary = sandbox.summary("o");
    let how = summary["columns"][3]["how"].as_str().unwrap();
    assert_eq!(how, "unchanged");
    assert!(summary["explanation"]["clusters"][0]["marks"].as_array().unwrap().len() >= 2);
    assert_eq!(
        summary["outlying"]["rows"].as_u64().unwrap(),
        sandbox.read("o/outliers.csv").lines().count() as u64 - 1
    );

    // The next table has other columns too, in another order.
    sandbox.write("next.csv", "new,staff,revenue,shop\nx,31,\"€95000.00\",A\ny,,€950.00,B\n");
    let predicted = sandbox.lehr(&["predict", "o", "next.csv"]).succeeded();
    let lines: Vec<&str> = predicted.stdout.lines().collect();
    assert_eq!((cluster(lines[1]), cluster(lines[2])), (found[1].clone(), found[0].clone()));
    assert!(lines[1].starts_with("A,") && predicted.stderr.contains("\"new\""), "{}", predicted.stderr);
    // A row without any value gets no label, and is reported; the others have theirs.
    sandbox.write("gaps.csv", "new,staff,revenue,shop\nx,31,\"€95000.00\",A\nz,,N/A,C\ny,,€950.00,B\n");
    let with_it = sandbox.lehr(&["predict", "o", "gaps.csv", "--memberships"]).succeeded();
    let words = "warning: gaps.csv: row 2 has no value in any of the model's columns: no label is given\n";
    assert!(with_it.stderr.contains(words), "{}", with_it.stderr);
    let labelled: Vec<&str> = with_it.stdout.lines().collect();
    assert!(labelled[1].starts_with(lines[1]) && labelled[3].starts_with(lines[2]), "{}", with_it.stdout);
    assert_eq!(labelled[2], "C,,,,,,");
    sandbox.write("less.csv", "shop,staff\nA,3\n");
    let refused = sandbox.lehr(&["predict", "o", "less.csv"]);
    assert!(refused.code == 3 && refused.stderr.contains("revenue"), "{}", refused.stderr);
}

#[test]
fn what_was_decided_is_told_with_quiet_too() {
    let sandbox = Sandbox::with("shops.csv", shops());
    let run = sandbox.lehr(&["cluster", "shops.csv", "--auto", "-q", "--out", "o"]).succeeded();
    assert!(!run.stderr.contains("the columns of") && run.stderr.contains("filled 15 gaps"), "{}", run.stderr);
    let summary = sandbox.summary("o");
    assert_eq!(summary["columns"].as_array().unwrap().len(), 6);
    assert!(summary["warnings"].to_string().contains("filled 15 gaps"), "{}", summary["warnings"]);
}

#[test]
fn choices_by_hand_go_before_those_by_the_data() {
    let sandbox = Sandbox::with("shops.csv", shops());
    let arguments =
        ["cluster", "shops.csv", "--auto", "--exclude", "staff", "--scale", "none", "-k", "2", "--out", "o"];
    sandbox.lehr(&arguments).succeeded();
    let summary = sandbox.summary("o");
    let used = |column: usize| summary["columns"][column]["is_used"].as_bool().unwrap();
    assert!(used(3) && !used(4), "{}", summary["columns"]);
    let by_hand = ["cluster", "shops.csv", "--columns", "revenue,staff", "--missing=drop", "-k", "2", "--out", "p"];
    let run = sandbox.lehr(&by_hand).succeeded();
    assert!(run.stdout.contains("146 rows in 2 clusters"), "{}", run.stdout);
    for (arguments, expected) in [
        (vec!["--missing=skip"], "this method has no way to leave gaps out"),
        (vec!["--auto", "--lonlat"], "--lonlat: positions on the sphere"),
        (vec!["--missing=often"], "expected skip, median, mode, nearest or drop"),
        (vec!["--log", "nothing"], "nothing"),
    ] {
        let line = ["cluster", "shops.csv"].into_iter().chain(arguments);
        let outcome = sandbox.lehr(&line.collect::<Vec<_>>());
        assert!(outcome.code != 0 && outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
}

#[test]
fn a_column_is_read_as_numbers_or_text_where_that_is_asked_for() {
    // The sizes, which begin with zeros, tell the groups; the class is a number that is none.
    let row = |row: usize| format!("{:05},{},{}\n", if row % 2 == 1 { 900 } else { 10 } + row, row % 3, row % 7);
    let sandbox = Sandbox::with("t.csv", format!("size,class,x\n{}", (0..80).map(row).collect::<String>()));
    let asked = ["cluster", "t.csv", "--auto", "--as-number", "size", "--as-text", "class", "--out", "o"];
    let run = sandbox.lehr(&asked).succeeded();
    assert!(run.stderr.contains("size    measure   number"), "{}", run.stderr);
    assert!(run.stderr.contains("class   category  text"), "{}", run.stderr);
    let labels = sandbox.read("o/labels.csv");
    let found: Vec<&str> = labels.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert!((2..80).all(|row| found[row] == found[row % 2]) && found[0] != found[1], "{labels}");
    // The next table is read in the same way.
    sandbox.write("next.csv", "size,class,x\n00017,2,3\n00950,1,4\n");
    let predicted = sandbox.lehr(&["predict", "o", "next.csv"]).succeeded();
    let next: Vec<&str> = predicted.stdout.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(next, [found[0], found[1]]);
    for option in ["--as-number", "--as-text"] {
        let refused = sandbox.lehr(&["cluster", "t.csv", "--auto", option, "kode", "--out", "p"]);
        assert!(refused.code == 3 && refused.stderr.contains("\"kode\""), "{}", refused.stderr);
    }
}

#[test]
fn dates_are_compared_by_weekday_and_month_where_that_is_asked_for() {
    // Half of the rows are on Mondays in January or July, half on Saturdays of any month.
    let monday = |row: usize| ["2024-01-01", "2024-01-08", "2023-01-02", "2022-01-03"][row % 4];
    let saturday = |row: usize| ["2024-07-06", "2024-07-13", "2023-07-01", "2022-07-02"][row % 4];
    let row = |row: usize| format!("{},{}\n", if row % 8 < 4 { monday(row) } else { saturday(row) }, row % 5);
    let sandbox = Sandbox::with("t.csv", format!("day,x\n{}", (0..80).map(row).collect::<String>()));
    let asked =
        ["--columns", "day", "--date-parts", "weekday,month", "--missing=median", "--clusters", "2", "--out", "o"];
    let run = sandbox.lehr(&[&["cluster", "t.csv"][..], &asked].concat()).succeeded();
    assert!(run.stderr.contains("day of the week, month"), "{}", run.stderr);
    let labels = sandbox.read("o/labels.csv");
    let found: Vec<&str> = labels.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert!((0..80).all(|row| (found[row] == found[0]) == (row % 8 < 4)), "{labels}");
    let centers = sandbox.read("o/centers.csv");
    assert!(centers.starts_with("cluster,day = Monday,day = Tuesday,"), "{centers}");
    sandbox.write("next.csv", "day,x\n2031-07-05,1\n2031-01-06,2\n");
    let predicted = sandbox.lehr(&["predict", "o", "next.csv"]).succeeded();
    let next: Vec<&str> = predicted.stdout.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(next, [found[4], found[0]]);
    // With all columns of the file, also of a row that the model can say nothing of. No score, since all rows of the
    // clustering were at their centres.
    sandbox.write("next.csv", "day,x\n2031-07-05,1\n,2\n");
    let appended = sandbox.lehr(&["predict", "o", "next.csv", "--append"]).succeeded().stdout;
    let lines: Vec<&str> = appended.lines().collect();
    assert_eq!(lines[0], "id,cluster,probability,distance,day,x");
    assert!(lines[1].ends_with(",2031-07-05,1") && lines[2] == "1,,,,,2", "{appended}");
}

#[test]
fn rows_that_repeat_others_are_reported_with_quiet_too() {
    let row = |row: usize| format!("{},{}\n", row * 37 % 101, row % 3);
    let rows: String = (0..50).chain([7, 7, 9]).map(row).collect();
    let sandbox = Sandbox::with("t.csv", format!("x,y\n{rows}"));
    sandbox.lehr(&["cluster", "t.csv", "--auto", "--quiet", "--out", "o"]).succeeded();
    let words = "3 rows of 53 repeat an earlier row in every column (row 51 repeats row 8, for example); each counts as a row of its own";
    let warnings = sandbox.summary("o")["warnings"].to_string();
    assert!(warnings.contains(words), "{warnings}");
}

#[test]
fn a_refused_table_is_described_and_a_skewed_one_is_warned_of() {
    let sandbox = Sandbox::with("shops.csv", shops());
    let refused = sandbox.lehr(&["cluster", "shops.csv"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("the columns of shops.csv"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: --auto prepares the whole table"), "{}", refused.stderr);
    let rows: String = (0..300).map(|row| format!("{},{}\n", row % 17, 10 + row % 23)).collect();
    sandbox.write("skewed.csv", format!("visits,revenue\n{rows}5,9000000\n"));
    let warned = sandbox.lehr(&["cluster", "skewed.csv", "-k", "2"]).succeeded();
    let expected = "column \"revenue\": 1 of 301 rows makes 99.7 % of its variance";
    assert!(
        warned.stderr.contains(expected) && warned.stderr.contains("--auto prepares the columns"),
        "{}",
        warned.stderr
    );
}

#[test]
fn a_row_without_any_value_has_no_influence_and_no_label() {
    let sandbox = Sandbox::with("shops.csv", shops());
    for missing in ["--missing=median", "--missing=nearest"] {
        let arguments = |table: &'static str, out| ["cluster", table, "--auto", missing, "-k", "2", "--out", out];
        sandbox.lehr(&arguments("shops.csv", "o")).succeeded();
        sandbox.write("more.csv", shops().replace("\nS080,", "\nS777,,,,,\nS778,,,,,\nS080,"));
        let run = sandbox.lehr(&arguments("more.csv", "p")).succeeded();
        let words = "2 rows have no value in any column used, and get no label: ids 80, 81";
        assert!(run.stderr.contains(words), "{}", run.stderr);
        assert!(sandbox.summary("p")["warnings"].to_string().contains(words), "{}", sandbox.summary("p")["warnings"]);
        let said = |line: &str| line.split_once(',').unwrap().1.to_owned();
        let labels = |out: &str| sandbox.read(out).lines().skip(1).map(said).collect::<Vec<_>>();
        let mut with_them = labels("p/labels.csv");
        let without: Vec<String> = with_them.drain(80..82).collect();
        assert_eq!(without, [",,,,"; 2], "all that a label says is left out");
        assert_eq!(with_them, labels("o/labels.csv"));
        // The rows are in no cluster's number of rows, and not in the picture.
        let rows = |out: &str| {
            sandbox.summary(out)["clusters"].as_array().unwrap().iter().map(|of| of["rows"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(rows("p"), rows("o"));
        let predicted = sandbox.lehr(&["predict", "p/model.json", "more.csv", "--out", "q.csv"]).succeeded();
        assert!(predicted.stderr.contains("no label"), "{}", predicted.stderr);
        let cluster = |out: &str| {
            sandbox
                .read(out)
                .lines()
                .map(|line| line.split(',').take(2).map(str::to_owned).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        assert_eq!(cluster("p/labels.csv"), cluster("q.csv"), "a run and its model label the same rows");
    }
}
