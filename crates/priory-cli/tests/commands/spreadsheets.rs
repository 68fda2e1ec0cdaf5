//! Tables as spreadsheets export them: every column is understood without a flag but the target, and what is learnt is, byte for
//! byte, what the same table gives when it is written plainly.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Folder;

/// One row of a table of orders, before anybody writes it down.
struct Order {
    /// In cents.
    price: i64,
    pieces: i64,
    /// In tenths of a percent.
    discount: i64,
    balance: Option<i64>,
    /// Month and day of the year 2024, and hour.
    ordered: (i64, i64, i64),
    express: bool,
    city: &'static str,
    class: &'static str,
}

/// Orders without anything random: large and small numbers, negative ones, missing ones.
fn orders() -> Vec<Order> {
    let order = |i: i64| Order {
        price: (i * 7_919) % 250_000 + if i % 3 == 0 { 90_000 } else { 5 },
        pieces: (i * i * 31) % 9_000 + 1,
        discount: (i * 37) % 400,
        balance: (i % 7 != 0).then_some((i * 1_237) % 500_000 - 200_000),
        ordered: (i / 14 % 12 + 1, i * 5 % 28 + 1, i * 7 % 24),
        express: i * i % 5 == 1,
        city: ["Bern", "Paris", "Wien", "Genève"][(i * i % 4) as usize],
        class: if (i * 7_919) % 250_000 > 120_000 || i % 11 == 0 { "late" } else { "paid" },
    };
    (0..160).map(order).collect()
}

/// How somebody writes a table.
struct Writing {
    delimiter: char,
    decimal: char,
    thousands: &'static str,
    price: fn(String) -> String,
    percent: &'static str,
    negative: fn(String) -> String,
    missing: &'static str,
    ordered: fn(i64, i64, i64) -> String,
    /// What is written for yes and for no, one after the other.
    express: [&'static [&'static str]; 2],
    byte_order_mark: &'static str,
    line_end: &'static str,
}

impl Writing {
    fn number(&self, hundredths: i64, decimals: usize) -> String {
        let unit = 10_i64.pow(decimals as u32);
        let (whole, fraction) = ((hundredths.abs() / unit).to_string(), hundredths.abs() % unit);
        let mut text = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                text.push_str(self.thousands);
            }
            text.push(digit);
        }
        if decimals > 0 {
            text = format!("{text}{}{fraction:0decimals$}", self.decimal);
        }
        if hundredths < 0 { (self.negative)(text) } else { text }
    }

    fn table(&self, orders: &[Order]) -> String {
        let quoted = |field: String| match field.contains(self.delimiter) {
            true => format!("\"{field}\""),
            false => field,
        };
        let mut text =
            format!("{}price,pieces,discount,balance,ordered,express,city,class", self.byte_order_mark);
        text = text.replace(',', &self.delimiter.to_string()) + self.line_end;
        for (row, order) in orders.iter().enumerate() {
            let (month, day, hour) = order.ordered;
            let express = self.express[usize::from(!order.express)];
            let discount = match self.percent {
                // Plainly, a percentage is a hundredth.
                "" => self.number(order.discount, 3),
                percent => format!("{}{percent}", self.number(order.discount, 1)),
            };
            let fields = [
                (self.price)(self.number(order.price, 2)),
                self.number(order.pieces, 0),
                discount,
                order.balance.map_or(self.missing.to_owned(), |balance| self.number(balance, 2)),
                (self.ordered)(month, day, hour),
                express[row % express.len()].to_owned(),
                order.city.to_owned(),
                order.class.to_owned(),
            ];
            text += &fields.map(quoted).join(&self.delimiter.to_string());
            text += self.line_end;
        }
        text
    }
}

const PLAIN: Writing = Writing {
    delimiter: ',',
    decimal: '.',
    thousands: "",
    price: |number| number,
    percent: "",
    negative: |number| format!("-{number}"),
    missing: "",
    ordered: |month, day, hour| format!("2024-{month:02}-{day:02}T{hour:02}:30:00"),
    express: [&["yes"], &["no"]],
    byte_order_mark: "",
    line_end: "\n",
};

const GERMAN: Writing = Writing {
    delimiter: ';',
    decimal: ',',
    thousands: ".",
    price: |number| format!("{number} €"),
    percent: " %",
    missing: "k. A.",
    ordered: |month, day, hour| format!("{day:02}.{month:02}.2024 {hour:02}:30"),
    express: [&["yes", "Yes"], &["no", "NO"]],
    byte_order_mark: "\u{feff}",
    line_end: "\r\n",
    ..PLAIN
};

const FRENCH: Writing = Writing {
    thousands: "\u{202f}",
    price: |number| format!("{number}\u{a0}€"),
    percent: "\u{a0}%",
    negative: |number| format!("−{number}"),
    missing: "N/A",
    ordered: |month, day, hour| format!("{day}/{month}/2024 {hour}:30"),
    ..GERMAN
};

const AMERICAN: Writing = Writing {
    thousands: ",",
    price: |number| format!("${number}"),
    percent: "%",
    negative: |number| format!("({number})"),
    missing: "#N/A",
    ordered: |month, day, hour| {
        let (half, hour) = (if hour < 12 { "AM" } else { "PM" }, (hour + 11) % 12 + 1);
        format!("{month}/{day}/2024 {hour}:30 {half}")
    },
    express: [&["YES", "Yes", "yes"], &["No"]],
    ..PLAIN
};

const SWISS: Writing = Writing {
    delimiter: '\t',
    thousands: "'",
    price: |number| format!("CHF {number}"),
    negative: |number| format!("{number}-"),
    missing: "-",
    ordered: |month, day, hour| format!("2024-{month:02}-{day:02} {hour:02}:30:00+00:00"),
    express: PLAIN.express,
    ..AMERICAN
};

/// What every way to write the table shall be understood as.
const COLUMNS: [(&str, &str); 7] = [
    ("price", "number"),
    ("pieces", "number"),
    ("discount", "number"),
    ("balance", "number"),
    ("ordered", "date"),
    ("express", "category"),
    ("city", "category"),
];

/// The sections of a model file by their names, without padding and checksums.
fn sections(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let data = &bytes[8 + length..];
    let sections = header.as_object().unwrap().iter().filter_map(|(name, section)| {
        let [start, end] = ["0", "1"].map(|i| section["data_offsets"][i.parse::<usize>().unwrap()].as_u64());
        let is_data = name != "checksums" && !name.starts_with("pad.");
        is_data.then(|| Some((name.clone(), data[start? as usize..end? as usize].to_vec()))).flatten()
    });
    sections.collect()
}

/// The settings and everything else that a model file says of itself, without its schema.
fn metadata(bytes: &[u8]) -> Value {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    header["__metadata__"].as_object_mut().unwrap().remove("schema");
    header["__metadata__"].take()
}

#[test]
fn every_way_to_write_a_table_gives_the_same_model() {
    let orders = orders();
    let folder = Folder::new();
    folder.write("plain.csv", &PLAIN.table(&orders));
    let parts = "--as ordered=date+weekday+month+hour";
    folder.run(&format!("train plain.csv --target class {parts} -o parts.priory"));
    let with_parts = folder.bytes("parts.priory");
    folder.run("train plain.csv --target class");
    let plain = folder.bytes("plain.priory");
    let predicted = folder.stdout("predict plain.priory plain.csv --probabilities");
    for (name, writing) in [("german", GERMAN), ("french", FRENCH), ("american", AMERICAN), ("swiss", SWISS)]
    {
        folder.write(&format!("{name}.csv"), &writing.table(&orders));
        let schema = folder.stdout(&format!("schema {name}.csv --target class"));
        let kinds: Vec<(&str, &str)> = schema
            .lines()
            .filter_map(|line| line.split_whitespace().next().zip(line.split_whitespace().nth(1)))
            .filter(|(column, _)| COLUMNS.map(|(name, _)| name).contains(column))
            .collect();
        assert_eq!(kinds, COLUMNS, "{name}: {schema}");
        folder.run(&format!("train {name}.csv --target class"));
        let model = folder.bytes(&format!("{name}.priory"));
        assert!(metadata(&model) == metadata(&plain), "{name}");
        assert!(sections(&model) == sections(&plain), "{name}");
        let rows = folder.stdout(&format!("predict {name}.priory {name}.csv --probabilities"));
        assert_eq!(rows, predicted, "{name}");
        folder.run(&format!("train {name}.csv --target class {parts} -o parts.priory"));
        assert!(sections(&folder.bytes("parts.priory")) == sections(&with_parts), "{name}");
        // Rows that were written in this style can be forgotten, and learnt again.
        folder.run(&format!("forget {name}.priory {name}.csv"));
        folder.run(&format!("learn {name}.priory {name}.csv"));
        assert!(sections(&folder.bytes(&format!("{name}.priory"))) == sections(&plain), "{name}");
    }
}

#[test]
fn the_other_columns_say_what_a_comma_means() {
    let folder = Folder::new();
    let check = |text: &str, arguments: &str, expected: &str| {
        folder.write("t.csv", text);
        let schema = folder.stdout(&format!("schema t.csv --target y{arguments}"));
        let row = schema.lines().find(|line| line.trim_start().starts_with("x "));
        let row = row.unwrap_or_else(|| panic!("{schema}")).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(row.starts_with(expected), "{row}\n{expected}");
    };
    let thousands = "x number whole numbers, a comma between thousands, since no column has";
    let fraction = "x number numbers, decimal comma, since other columns have";
    check("x;y\n1,234\n5,678;a\n".replacen("1,234\n", "1,234;b\n", 1).as_str(), "", thousands);
    check("x;z;y\n1,234;1,5;a\n5,678;2,5;b\n", "", fraction);
    check("x;z;y\n1,234;1.5;a\n5,678;2.5;b\n", "", thousands);
    check("x;z;w;y\n1,234;1.5;1,5;a\n5,678;2.5;2,5;b\n", "", "x category 2 values values like numbers, but");
    check(
        "x;z;w;y\n1,234;1.5;1,5;a\n5,678;2.5;2,5;b\n",
        " --decimal comma",
        "x number numbers, decimal comma, as was said",
    );
    let point = "x number whole numbers, a point between thousands, since other columns";
    check("x;z;y\n1.234;1,5;a\n5.678;2,5;b\n", "", point);
    check("x;z;y\n1.234;1.5;a\n5.678;2.5;b\n", "", "x number numbers");
    check("x;y\n1.234;a\n5.678;b\n", "", "x number numbers");
    check(
        "x;y\n1,5;a\n2.5;b\n",
        "",
        "x category 2 values values like numbers, but some have a decimal comma",
    );
    check("x;y\n€ 5;a\n$ 5;b\n", "", "x category 2 values values like numbers, but some are in € and others");
}

#[test]
fn words_for_missing_are_missing_where_the_rest_are_numbers() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b,c,y\n1.5,None,-,p\nN/A,red,-,q\n2,None,,p\n#DIV/0!,blue,n/a,q\n");
    let schema = folder.stdout("schema t.csv --target y");
    assert!(schema.contains("numbers, `#DIV/0!`, `N/A` missing"), "{schema}");
    assert!(schema.contains("`None` as a value"), "{schema}");
    assert!(schema.contains("left out"), "{schema}");
    folder.write("u.csv", "a,b,c,y\n1.5,None,-,p\n,red,-,q\n2,None,,p\n,blue,n/a,q\n");
    folder.run("train t.csv --target y");
    folder.run("train u.csv --target y");
    assert!(folder.bytes("t.priory") == folder.bytes("u.priory"));
    // Whoever names the spellings means just these.
    let schema = folder.stdout("schema t.csv --target y --missing None");
    assert!(schema.contains("a       category"), "{schema}");
}

#[test]
fn columns_of_the_same_name_get_a_number() {
    let folder = Folder::new();
    folder.write("t.csv", "a,a,a 2,,,y\n1.5,2,3,4,u,p\n2.5,3,5,4,v,q\n3.5,4,7,5,u,q\n");
    let output = folder.run("train t.csv --target y");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("t.csv: the header names the column `a` again; here it is called `a 3`"), "{said}");
    assert!(said.contains("here it is called `column 2`"), "{said}");
    assert!(folder.run("learn t.priory t.csv").status.success());
    assert!(folder.run("predict t.priory t.csv").status.success());
    folder.write("u.csv", "a,y,y\n1,p,p\n");
    let output = folder.run("train u.csv --target y");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: u.csv: the header names the target column `y` twice\n");
    // What separates the fields cannot be told, but guessed.
    folder.write("v.csv", "a:b:y\n1:2:p\n");
    let said = String::from_utf8(folder.run("train v.csv --target y").stderr).unwrap();
    assert!(
        said.ends_with("the header has `a:b:y`; if that separates its fields, say --delimiter ':'\n"),
        "{said}"
    );
}

#[test]
fn dates_are_numbers_and_what_one_wants_of_them() {
    let folder = Folder::new();
    let days: Vec<String> = (0..60)
        .map(|i| {
            let (month, day) = (i / 28 + 1, i % 28 + 1);
            // The first of January 2024 was a Monday; there were no deliveries on Mondays.
            let weekday = (31 * (month - 1) + day - 1) % 7;
            format!("{day}/{month}/2024,{},{}", i % 3, if weekday == 0 { "closed" } else { "open" })
        })
        .collect();
    folder.write("t.csv", &format!("when,n,shop\n{}\n", days.join("\n")));
    let schema = folder.stdout("schema t.csv --target shop");
    assert!(schema.contains("when    date      dates, day first"), "{schema}");
    folder.stdout("train t.csv --target shop --as when=date+weekday --judge none");
    let explained = folder.stdout("explain t.priory --set when=29/1/2024");
    assert!(explained.contains("when = 2024-01-29"), "{explained}");
    assert!(explained.contains("when weekday = Monday"), "{explained}");
    assert!(explained.starts_with("shop = closed"), "{explained}");
}

#[test]
fn dates_that_can_be_read_in_two_ways_are_asked_about() {
    let folder = Folder::new();
    folder.write("t.csv", "when,n,y\n3/4/2024,1.5,p\n5/6/2024,2.5,q\n");
    let schema = folder.stdout("schema t.csv --target y");
    assert!(schema.contains("when    category"), "{schema}");
    assert!(schema.contains("--as when=date:dmy"), "{schema}");
    let said = folder.fails(1, "train t.csv --target y --as when=date");
    assert_eq!(
        said,
        "error: the column `when` cannot be read as dates: `3/4/2024` and all others are dates with the day first and \
         with the month first; --as when=date:dmy or --as when=date:mdy says which\n"
    );
    folder.stdout("train t.csv --target y --as when=date:mdy");
    // Another column with the day first settles it.
    folder.write("u.csv", "when,paid,y\n3/4/2024,13/4/2024,p\n5/6/2024,14/6/2024,q\n");
    let schema = folder.stdout("schema u.csv --target y");
    assert!(schema.contains("when    date      dates, day first"), "{schema}");
    folder.write("v.csv", "when,y\n2024-05-31,p\nsoon,q\n");
    let said = folder.fails(1, "train v.csv --target y --as when=date");
    assert!(said.contains("row 2, column when: `soon` is not a date as the others are"), "{said}");
    folder.stdout("train v.csv --target y --as when=date --on-bad-value missing");
}

#[test]
fn a_column_of_numbers_without_any_is_refused() {
    let folder = Folder::new();
    folder.write("t.csv", "x,y\na,p\nb,q\n");
    let said = folder.fails(1, "train t.csv --target y --as x=number --on-bad-value missing");
    let sentence = "error: no value of the column `x` is a number, so that all of them are missing; read it with \
                    --as x=category, or leave it out with --ignore x\n";
    assert!(said.ends_with(sentence), "{said}");
    assert!(!folder.path("t.priory").exists());
}

#[test]
fn a_target_of_numbers_is_cut_into_classes() {
    let folder = Folder::new();
    let rows: Vec<String> = (0..400).map(|i| format!("{},\"{},{:02} €\"", i % 20, i % 97, i % 100)).collect();
    folder.write("t.csv", &format!("x,price\n{}\n", rows.join("\n")));
    let said = folder.fails(1, "train t.csv --target price");
    assert!(said.contains("the target `price` is a number with"), "{said}");
    assert!(said.contains("--bins 4 cuts it into four"), "{said}");
    folder.stdout("train t.csv --target price --bins 4");
    let shown = folder.json("show t.priory");
    let classes: Vec<(&str, f64)> = shown["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| (class["name"].as_str().unwrap(), class["weight"].as_f64().unwrap()))
        .collect();
    assert_eq!(classes.len(), 4);
    assert!(classes[0].0.starts_with("1: below ") && classes[3].0.ends_with(" and above"), "{classes:?}");
    assert!(classes.iter().all(|(_, weight)| (95.0..105.0).contains(weight)), "{classes:?}");
    // Later tables are cut alike.
    let before = folder.bytes("t.priory");
    folder.run("learn t.priory t.csv");
    folder.run("forget t.priory t.csv");
    assert!(sections(&folder.bytes("t.priory")) == sections(&before));
    folder.write("bad.csv", "x,price\n1,\"2,50 €\"\n1,cheap\n");
    let said = folder.fails(1, "learn t.priory bad.csv");
    assert!(said.contains("row 2, column price: `cheap` is not a number"), "{said}");
    // Whoever says so means classes.
    folder.stdout("train t.csv --target price --as price=category -o classes.priory");
}

/// What openpyxl and LibreOffice have written gives the model of the same table in plain text: a title and an empty line above the
/// header, an empty column before it, currencies, percentages, dates, truth values, and `#N/A` among numbers.
#[test]
#[cfg(feature = "spreadsheets")]
fn workbooks_give_the_model_of_plain_tables() {
    let folder = Folder::new();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/spreadsheets");
    folder.run(&format!("train {data}/orders.csv --target class -o plain.priory"));
    let plain = folder.bytes("plain.priory");
    let predicted = folder.stdout(&format!("predict plain.priory {data}/orders.csv --probabilities"));
    for book in ["orders.xlsx", "orders.ods", "hidden-first.xlsx", "hidden-first.ods"] {
        let output = folder.run(&format!("train {data}/{book} --target class -o m.priory"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        for part in [
            ": `Orders` is the first of 2 sheets: `Orders`, `Prices`; --sheet names another\n",
            ": row 3 of the sheet is the header; what is above it is not read: `Orders of 2024`\n",
            ": the value in L8 is not read: it is beside the columns of the header\n",
        ] {
            assert!(said.contains(&format!("warning: {data}/{book}{part}")), "{book}: {said}");
        }
        assert!(metadata(&folder.bytes("m.priory")) == metadata(&plain), "{book}");
        assert!(sections(&folder.bytes("m.priory")) == sections(&plain), "{book}");
        let rows = folder.stdout(&format!("predict m.priory {data}/{book} --probabilities"));
        assert_eq!(rows, predicted, "{book}");
        // A packed workbook from a pipe is read as well, and rows can be forgotten.
        folder.run(&format!("forget m.priory {data}/{book}"));
        let packed = std::fs::read(format!("{data}/{book}")).unwrap();
        std::fs::write(folder.path("packed.gz"), gzip(&packed)).unwrap();
        folder.run("learn m.priory packed.gz");
        assert!(sections(&folder.bytes("m.priory")) == sections(&plain), "{book}");
    }
}

#[cfg(feature = "spreadsheets")]
fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
#[cfg(feature = "spreadsheets")]
fn sheets_are_named_or_numbered() {
    let folder = Folder::new();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/spreadsheets");
    for book in ["orders.xlsx", "hidden-first.ods"] {
        let by_name = folder.stdout(&format!("schema {data}/{book} --target class --sheet Prices"));
        assert!(by_name.contains("pieces"), "{by_name}");
        assert!(!by_name.contains("price "), "{by_name}");
        let by_number = folder.stdout(&format!("schema {data}/{book} --target class --sheet 3"));
        assert_eq!(by_name, by_number);
        // A sheet that is not shown can be read if it is named.
        let hidden = folder.stdout(&format!("schema {data}/{book} --target class --sheet Lists"));
        assert!(hidden.contains("city"), "{hidden}");
        let said = folder.fails(1, &format!("train {data}/{book} --target class --sheet Costs"));
        let sentence = "there is no sheet `Costs`; the workbook has ";
        assert!(said.starts_with(&format!("error: {data}/{book}: {sentence}")), "{said}");
        assert!(said.contains("`Orders`") && said.contains("`Prices`") && said.contains("`Lists`"), "{said}");
    }
}
