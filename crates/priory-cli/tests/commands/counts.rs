//! Models of counts: the same bytes as those of the rows that were counted.

use std::collections::BTreeMap;

use crate::{Folder, text};

/// Rows of a table in which everything is that counts have to tell apart: class, then colour, size, flag and day, all as they are
/// written.
fn rows() -> Vec<[String; 5]> {
    let mut state = 7_u64;
    let mut next = move |below: u64| {
        // xorshift64*, by Vigna.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % below
    };
    let colours = ["red", "light blue, almost", "O'Brien \"x\"", "灰", "Red", "", "NA", "-", "N/A"];
    let classes = ["yes", "no", "O'Brien \"x\"", "?"];
    let row = |_| {
        let class = classes[next(40).min(3) as usize];
        let size = match next(8) {
            0 => String::new(),
            1 => "-0.0".to_owned(),
            2 => "NaN".to_owned(),
            3 => "1e90".to_owned(),
            _ => (next(50) as f64 * 0.1 - 2.0).to_string(),
        };
        [
            class.to_owned(),
            colours[next(9) as usize].to_owned(),
            size,
            ["0", "1", "null"][next(3) as usize].to_owned(),
            format!("2024-{:02}-{:02}", 1 + next(12), 1 + next(28)),
        ]
    };
    (0..5_000).map(row).collect()
}

fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}

const COLUMNS: [&str; 5] = ["kind", "colour", "si\"ze", "flag", "day"];

fn table(rows: &[[String; 5]]) -> String {
    let line =
        |fields: &[String]| fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",") + "\n";
    let header = COLUMNS.map(str::to_owned);
    [&header].into_iter().chain(rows).map(|fields| line(fields)).collect()
}

/// The same rows, counted.
fn counts(rows: &[[String; 5]]) -> Vec<String> {
    let mut counts: BTreeMap<(usize, &str, &str), u64> = BTreeMap::new();
    for row in rows {
        *counts.entry((0, &row[0], "")).or_default() += 1;
        for column in 1..5 {
            *counts.entry((column, &row[0], &row[column])).or_default() += 1;
        }
    }
    let line = |((column, class, value), count): ((usize, &str, &str), u64)| {
        let column = if column == 0 { "" } else { COLUMNS[column] };
        format!("{},{},{},{count}\n", quoted(column), quoted(class), quoted(value))
    };
    counts.into_iter().map(line).collect()
}

const HEADER: &str = "column,class,value,weight\n";

#[test]
fn counts_give_the_bytes_of_the_rows() {
    let (folder, rows) = (Folder::new(), rows());
    let lines = counts(&rows);
    folder.write("rows.csv", &table(&rows)).write("counts.csv", &(HEADER.to_owned() + &lines.concat()));
    for options in [
        "",
        " --as si\"ze=gaussian",
        " --as flag=number,day=date+weekday",
        " --missing red,NaN,null, --when-missing counted",
    ] {
        let whole = folder.train(&format!("rows.csv --target kind --judge none{options}"));
        for way in ["counts.csv", "counts.csv --threads 1"] {
            assert!(
                folder.train(&format!("--counts {way} --target kind{options}")) == whole,
                "{way}{options}"
            );
        }
        folder.stdout(&format!(
            "schema rows.csv --target kind -o schema.json{}",
            options.replace(" --when-missing counted", "")
        ));
        let when = if options.contains("counted") { " --when-missing counted" } else { "" };
        assert!(
            folder.train(&format!("--counts counts.csv --schema schema.json{when}")) == whole,
            "schema{options}"
        );
    }

    // In any order, without what is missing, in several files, from a pipe.
    let whole = folder.train("rows.csv --target kind --judge none");
    let (even, odd): (Vec<_>, Vec<_>) = lines.iter().enumerate().partition(|(i, _)| i % 2 == 0);
    let known = |lines: Vec<(usize, &String)>| -> String {
        let kept =
            lines.into_iter().rev().filter(|(_, line)| line.starts_with("\"\"") || !line.contains(",\"\","));
        kept.map(|(_, line)| line.as_str()).collect()
    };
    folder.stdout("schema rows.csv --target kind -o schema.json");
    folder
        .write("even.csv", &(HEADER.to_owned() + &known(even)))
        .write("odd.csv", &(HEADER.to_owned() + &known(odd)));
    assert!(folder.train("--counts odd.csv even.csv --schema schema.json") == whole);
    let piped = folder.command("train --counts - --target kind -o piped.priory");
    let piped =
        assert_cmd::Command::from_std(piped).write_stdin(folder.bytes("counts.csv")).output().unwrap();
    assert!(piped.status.success(), "{}", text(&piped.stderr));
    assert!(folder.bytes("piped.priory") == whole);
}

#[test]
fn weighted_rows_say_how_many_they_are() {
    let folder = Folder::new();
    folder.write("rows.csv", "y,colour,w\na,red,2\na,blue,3.5\nb,red,0.25\na,red,1\n");
    let whole = folder.train("rows.csv --target y --weight w --judge none --as colour=category");
    folder.write("counts.csv", "column,class,value,weight\n,a,3,6.5\n,b,1,0.25\ncolour,a,red,3\ncolour,a,blue,3.5\ncolour,b,red,.25\n");
    folder.stdout("schema rows.csv --target y --weight w --as colour=category -o schema.json");
    assert!(folder.train("--counts counts.csv --schema schema.json") == whole);
}

#[test]
fn a_model_of_counts_is_judged_by_its_rows() {
    let folder = Folder::new();
    let rows = rows();
    folder
        .write("rows.csv", &table(&rows))
        .write("counts.csv", &(HEADER.to_owned() + &counts(&rows).concat()));
    let said = folder.remarks("train --counts counts.csv --target kind -o m.priory");
    assert!(
        said.contains("not judged: counts are not rows; `priory judge m.priory DATA` judges it by the rows"),
        "{said}"
    );
    folder.stdout("judge m.priory rows.csv");
    assert!(folder.bytes("m.priory") == folder.train("rows.csv --target kind"));
}

#[test]
fn what_was_not_counted_is_told() {
    let folder = Folder::new();
    folder.write("c.csv", "column,class,value,weight\n,a,,9\n,b,,4\nx,a,red,6\nx,b,red,4\nx,,red,1\n");
    let said = folder.remarks("train --counts c.csv --target y");
    assert!(said.contains("taken as missing, since it was not counted: x (3)"), "{said}");
    assert!(said.contains("1 count passed over: `class` is missing"), "{said}");
    folder.write("s.json", r#"{"schema": {"target": "y", "missing": [""], "columns": [{"name": "x", "kind": "category"}, {"name": "z", "kind": "number"}]}}"#);
    let said = folder.remarks("train --counts c.csv --schema s.json");
    assert!(said.contains("there are no counts of `z`: it counts as missing in every row"), "{said}");
}

#[test]
fn what_cannot_be_counts_is_refused() {
    let folder = Folder::new();
    let refused = |counts: &str, options: &str| {
        folder.write("c.csv", counts);
        let refusal = folder.refusal(&format!("train --counts c.csv --target y -o c.priory{options}"));
        let refusal = refusal.lines().next().unwrap_or_default().to_owned();
        assert!(!folder.path("c.priory").exists());
        refusal
    };
    let table = |lines: &str| format!("{HEADER}{lines}");
    for (lines, options, expected) in [
        ("x,a,1,-1\n", "", "c.csv: row 1: the weight -1 is not a finite number of zero or more"),
        ("x,a,1,many\n", "", "c.csv: row 1, column `weight`: the weight `many` is not a number"),
        ("x,a,1,1\nx,b,2,inf\n", "", "c.csv: row 2: the weight inf is not a finite number of zero or more"),
        (
            ",a,nine,9\nx,a,1,1\n",
            "",
            "c.csv: row 1 is about a class: its value says in how many rows it is, and `nine` does not",
        ),
        (",a,,2\nx,a,1,3\n", "", "the counts of the column `x` add up to 3 in the class `a`, which weighs 2"),
        (
            "x,a,1,1\nx,b,red,1\n",
            " --as x=number",
            "c.csv: row 2, column x: `red` is not a number; read the column with --as x=category, or such values with --on-bad-value missing",
        ),
        (
            "x,a,1,1\nx,b,inf,1\n",
            " --as x=number",
            "c.csv: row 2, column `x`: `inf` is infinite; numbers must be finite, or read as missing with --on-bad-value missing",
        ),
        ("y,a,1,1\n", "", "`y` is the target, and there are counts of it as of a column"),
        ("x,a,1,1\n", " --as z=number", "there are no counts of a column `z`; there are of `x`"),
        (
            "x,a,to be or not to be,9\n",
            " --as x=text",
            "the column `x` is text, which nobody divides into tokens as it is done here; its rows have to be read, or it has to be left out: --ignore x, or --as x=category if its values are few",
        ),
        (
            "x,a,1,1\n",
            " --as x=joint",
            "the column `x` is counted together with others, which counts of each by itself do not tell; its rows have to be read, or it has to be left out",
        ),
        (
            "x,a,1,1\n",
            " --judge full",
            "--judge full needs rows, which counts are not; train without it, and `priory judge MODEL DATA` judges by the rows",
        ),
        (
            "x,a,1,1\n",
            " --judge later",
            "--judge later needs rows, which counts are not; train without it, and `priory judge MODEL DATA` judges by the rows",
        ),
        (
            "x,a,1,1\n",
            " --weight w",
            "--weight: in a table of counts the column `weight` says how much values count",
        ),
        (
            "x,a,1,1\n",
            " --half-life 9",
            "--half-life: rows age one after the other, and --counts does not tell their order",
        ),
        ("", "", "no columns are left to learn from"),
        (",a,,2\n", "", "no columns are left to learn from"),
    ] {
        assert_eq!(refused(&table(lines), options), expected, "{lines:?}{options}");
    }
    let refusal = refused("a,b\n1,2\n", "");
    assert_eq!(
        refusal,
        "c.csv: a table of counts has the columns column, class, value and weight; this one has `a`, `b`"
    );
}

#[test]
fn queries_are_printed() {
    let folder = Folder::new();
    folder.write("t.csv", "play,out\"look\nyes,rain\nno,sun\n");
    let printed = folder.stdout("sql t.csv --target play --table a.b --dialect postgresql");
    assert!(
        printed.contains("FROM \"a\".\"b\"")
            && printed.contains("'out\"look'")
            && printed.contains("\"out\"\"look\""),
        "{printed}"
    );
    let printed = folder.stdout("sql t.csv --target play --query SELECT/**/*/**/FROM/**/t;");
    assert!(printed.contains("FROM (\nSELECT/**/*/**/FROM/**/t\n) AS counted"), "{printed}");
    folder.fails(2, "sql t.csv --target play");
    folder.fails(2, "sql --target play --table t");
}
