#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use priory::{Learnt, Schema, Settings};
use priory_input::{Hints, ReadOptions, Table, Understood, store};
use tower::ServiceExt;

use super::*;
use crate::Options;

const TOKEN: &str = "0123456789abcdef";

/// A folder with models, and a server for them.
struct Test {
    folder: tempfile::TempDir,
}

impl Test {
    fn new() -> Self {
        Test { folder: tempfile::tempdir().unwrap() }
    }

    /// A model of an example, in a file of this name.
    fn trained(self, name: &str, example: &str, target: &str) -> Self {
        store::replace_file(self.path(name), &trained(&example_path(example), target).to_bytes()).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.priory"))
    }

    fn server(&self, names: &[&str], options: Options) -> Arc<Server> {
        let models: Vec<_> = names.iter().map(|&name| (name.to_owned(), self.path(name))).collect();
        Server::open(&models, options).unwrap()
    }

    fn tennis() -> (Self, Arc<Server>) {
        let test = Test::new().trained("tennis", "tennis.csv", "play");
        let server = test.server(&["tennis"], changeable());
        (test, server)
    }
}

fn changeable() -> Options {
    Options {
        token: Some(TOKEN.into()),
        rewrite_after: Duration::from_secs(3600),
        look_every: Duration::from_millis(10),
        ..Options::default()
    }
}

fn example_path(name: &str) -> String {
    FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).display().to_string()
}

fn trained(path: &str, target: &str) -> Learnt {
    let open = || Table::open(path, &ReadOptions::default());
    let missing = priory::schema::MISSING_SPELLINGS.map(String::from).to_vec();
    let hints = Hints { target: target.into(), missing, ..Hints::default() };
    let understood =
        Understood::new(&mut open().unwrap(), &mut std::iter::empty::<priory_input::Result<_>>(), &hints);
    learnt_from(open().unwrap(), &understood.unwrap().schema)
}

fn learnt_from(table: Table, schema: &Schema) -> Learnt {
    let mut learnt = Learnt::empty(schema, Settings::default());
    let mut batches = table.batches(schema, priory_input::Purpose::Learning).unwrap();
    let mut batch = batches.reader().empty_batch();
    while batches.read(&mut batch).unwrap() {
        learnt.learn(&batch).unwrap();
    }
    learnt
}

/// What comes of a request.
struct Got {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Got {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }
}

async fn got(server: &Arc<Server>, request: axum::http::Request<Body>) -> Got {
    let response = app(Arc::clone(server)).oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Got { status: parts.status.as_u16(), headers: parts.headers, body }
}

fn request(
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> axum::http::Request<Body> {
    let request = axum::http::Request::builder().method(method).uri(path);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(body.into()).unwrap()
}

async fn get_path(server: &Arc<Server>, path: &str) -> Got {
    got(server, request("GET", path, &[], Body::empty())).await
}

async fn post_json(server: &Arc<Server>, path: &str, body: &Value) -> Got {
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
    got(server, request("POST", path, &headers, body.to_string())).await
}

async fn post_table(server: &Arc<Server>, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Got {
    got(server, request("POST", path, headers, body.to_vec())).await
}

fn saturday() -> Value {
    json!({ "outlook": "S", "temperature": "C", "humidity": "H", "wind": "S" })
}

#[tokio::test]
async fn rows_are_predicted_as_by_the_library() {
    let (_test, server) = Test::tennis();
    let body = json!({ "rows": [saturday(), { "wind": null, "colour": "red" }, { "outlook": "fog" }] });
    let answer = post_json(&server, "/v1/models/tennis/predict?log_evidence=true", &body).await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    let answer = answer.json();
    let current = server.models["tennis"].current();
    let frozen = current.frozen.as_ref().unwrap();
    let text = "outlook,temperature,humidity,wind\nS,C,H,S\n,,,\nfog,,,\n";
    let table = Table::from_reader("rows", text.as_bytes(), &ReadOptions::default()).unwrap();
    let mut batches = table.batches(frozen.model.schema(), priory_input::Purpose::Scoring).unwrap();
    let mut batch = batches.reader().empty_batch();
    assert!(batches.read(&mut batch).unwrap());
    let scores = frozen.model.score(&batch).unwrap();
    let posterior = scores.normalize();
    for row in 0..3 {
        let said = &answer["rows"][row];
        assert_eq!(said["prediction"], frozen.model.classes()[posterior.best(row)]);
        for (class, p) in frozen.model.classes().iter().zip(posterior.row(row)) {
            assert_eq!(said["posterior"][class].as_f64().unwrap(), *p);
        }
        assert_eq!(said["log_evidence"].as_f64().unwrap(), scores.log_evidence(row));
        assert_eq!(said["no_evidence"], row == 1);
    }
    assert_eq!(answer["version"], hash(&server));
    assert_eq!(answer["unknown_columns"], json!({ "colour": 1 }));
    assert_eq!(answer["unseen_values"], 1);
    let columns = json!({ "columns": { "outlook": ["S", null, "fog"], "temperature": ["C", null, null],
        "humidity": ["H", null, null], "wind": ["S", null, null], "colour": [null] } });
    assert_eq!(post_json(&server, "/v1/models/tennis/predict", &columns).await.status, 422);
    let columns = json!({ "columns": { "outlook": ["S", null, "fog"], "temperature": ["C", null, null],
        "humidity": ["H", null, null], "wind": ["S", null, null] } });
    let of_columns = post_json(&server, "/v1/models/tennis/predict?log_evidence=1", &columns).await.json();
    assert_eq!(of_columns["rows"], answer["rows"]);
}

fn hash(server: &Server) -> String {
    server.models["tennis"].current().version.clone()
}

#[tokio::test]
async fn contributions_add_up() {
    let (_test, server) = Test::tennis();
    let body = json!({ "rows": [saturday()] });
    let answer = post_json(&server, "/v1/models/tennis/explain", &body).await.json();
    let row = &answer["rows"][0];
    for class in ["+", "-"] {
        let mut sum = row["log_prior"][class].as_f64().unwrap();
        for contribution in row["contributions"].as_array().unwrap() {
            sum += contribution["log_likelihood"][class].as_f64().unwrap();
        }
        assert_eq!(sum, row["log_joint"][class].as_f64().unwrap());
    }
    let predicted = post_json(&server, "/v1/models/tennis/predict", &body).await.json();
    assert_eq!(row["prediction"], predicted["rows"][0]["prediction"]);
}

#[tokio::test]
async fn tables_are_answered_by_tables() {
    let test = Test::new().trained("penguins", "penguins.csv", "species");
    let server = test.server(&["penguins"], Options::default());
    let csv = fs::read(example_path("penguins.csv")).unwrap();
    let path = "/v1/models/penguins/predict?probabilities=true&log_evidence=true";
    let as_csv = post_table(&server, path, &[("content-type", "text/csv")], &csv).await;
    assert_eq!((as_csv.status, &as_csv.headers["content-type"]), (200, &"text/csv".parse().unwrap()));
    let as_csv = String::from_utf8(as_csv.body).unwrap();
    assert_eq!(as_csv.lines().count(), 345);
    assert!(as_csv.starts_with("prediction,P(Adelie),P(Chinstrap),P(Gentoo),log_evidence\n"));
    let headers = [("content-type", "text/csv"), ("accept", "application/x-ndjson")];
    let lines = post_table(&server, path, &headers, &csv).await.body;
    for (line, row) in String::from_utf8(lines).unwrap().lines().zip(as_csv.lines().skip(1)) {
        let line: Value = serde_json::from_str(line).unwrap();
        let fields: Vec<&str> = row.split(',').collect();
        assert_eq!(line["prediction"], fields[0]);
        assert_eq!(line["posterior"]["Gentoo"].as_f64(), fields[3].parse().ok());
    }
    let headers = [("content-type", "text/csv"), ("accept", "application/vnd.apache.arrow.stream")];
    let stream = post_table(&server, path, &headers, &csv).await.body;
    let batches: Vec<_> =
        arrow_ipc::reader::StreamReader::try_new(&stream[..], None).unwrap().map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 344);
    // A stream is a table as well.
    let rows =
        serde_json::from_str::<Value>(r#"{"rows": [{"bill_depth_mm": 15.0, "island": "Biscoe"}]}"#).unwrap();
    let expected = post_json(&server, "/v1/models/penguins/predict", &rows).await.json();
    let schema = std::sync::Arc::new(arrow_schema());
    let depth: arrow_array::ArrayRef = Arc::new(arrow_array::Float64Array::from(vec![15.0]));
    let island: arrow_array::ArrayRef = Arc::new(arrow_array::StringArray::from(vec!["Biscoe"]));
    let batch = arrow_array::RecordBatch::try_new(Arc::clone(&schema), vec![depth, island]).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&batch).unwrap();
    let stream = writer.into_inner().unwrap();
    let headers =
        [("content-type", "application/vnd.apache.arrow.stream"), ("accept", "application/x-ndjson")];
    let line = post_table(&server, "/v1/models/penguins/predict?probabilities", &headers, &stream).await;
    let line: Value = serde_json::from_slice(&line.body).unwrap();
    assert_eq!(line["posterior"], expected["rows"][0]["posterior"]);
}

fn arrow_schema() -> arrow_schema::Schema {
    use arrow_schema::{DataType, Field};
    arrow_schema::Schema::new(vec![
        Field::new("bill_depth_mm", DataType::Float64, true),
        Field::new("island", DataType::Utf8, true),
    ])
}

#[tokio::test]
async fn rows_are_tested_on() {
    let (_test, server) = Test::tennis();
    let csv = fs::read(example_path("tennis.csv")).unwrap();
    let evaluated =
        post_table(&server, "/v1/models/tennis/evaluate", &[("content-type", "text/csv")], &csv).await;
    assert_eq!(evaluated.json()["rows"], 14);
    let mut row = saturday();
    row["play"] = "-".into();
    let one = post_json(&server, "/v1/models/tennis/evaluate", &json!({ "rows": [row] })).await.json();
    assert_eq!((&one["rows"], &one["accuracy"]), (&json!(1), &json!(1.0)));
    let without_class =
        post_json(&server, "/v1/models/tennis/evaluate", &json!({ "rows": [saturday()] })).await;
    assert_eq!((without_class.status, without_class.error().contains("`play`")), (422, true));
}

/// What was learnt over HTTP is what the same rows in a file would have made, to the last bit.
#[tokio::test]
async fn what_is_learnt_is_what_training_learns() {
    let (test, server) = Test::tennis();
    let before = fs::read(test.path("tennis")).unwrap();
    let rows = json!({ "rows": [
        { "play": "+", "outlook": "S", "temperature": "M", "humidity": null, "wind": "S" },
        { "play": "perhaps", "outlook": "fog" },
    ], "id": "monday" });
    let first = post_json(&server, "/v1/models/tennis/learn", &rows).await;
    assert_eq!(first.status, 200, "{}", String::from_utf8_lossy(&first.body));
    let first = first.json();
    assert_eq!((&first["learnt"], &first["repeated"]), (&json!(2), &json!(false)));
    let again = post_json(&server, "/v1/models/tennis/learn", &rows).await.json();
    assert_eq!((&again["learnt"], &again["repeated"]), (&json!(2), &json!(true)));
    let mut other = rows.clone();
    other["rows"][0]["wind"] = "W".into();
    assert_eq!(post_json(&server, "/v1/models/tennis/learn", &other).await.status, 409);
    assert_eq!(post_json(&server, "/v1/models/tennis/forget", &rows).await.status, 409);
    let headers = [("content-type", "text/csv"), ("authorization", &format!("Bearer {TOKEN}"))];
    let csv = b"play,outlook,temperature,humidity,wind\n-,R,C,N,W\n";
    let learnt = post_table(&server, "/v1/models/tennis/learn", &headers, csv).await;
    assert_eq!(learnt.json()["learnt"], 1);
    let body = json!({ "rows": [saturday()] });
    let latest = post_json(&server, "/v1/models/tennis/predict?consistency=latest", &body).await.json();
    assert!(latest["rows"][0]["posterior"]["perhaps"].is_number());
    assert!(latest["version"].as_str().unwrap().ends_with("+2"), "{latest}");
    server.close();

    let text = fs::read_to_string(example_path("tennis.csv")).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let more: [&[(&str, &str)]; 3] = [
        &[("play", "+"), ("outlook", "S"), ("temperature", "M"), ("wind", "S")],
        &[("play", "perhaps"), ("outlook", "fog")],
        &[("play", "-"), ("outlook", "R"), ("temperature", "C"), ("humidity", "N"), ("wind", "W")],
    ];
    let line = |row: &&[(&str, &str)]| {
        let value = |name: &&str| row.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value);
        header.iter().map(value).collect::<Vec<_>>().join(",")
    };
    let all = format!("{}\n{}\n", text.trim_end(), more.iter().map(line).collect::<Vec<_>>().join("\n"));
    let table = Table::from_reader("all", std::io::Cursor::new(all), &ReadOptions::default()).unwrap();
    let schema = trained(&example_path("tennis.csv"), "play").statistics.schema().clone();
    assert_eq!(fs::read(test.path("tennis")).unwrap(), learnt_from(table, &schema).to_bytes());

    // Opened again, it knows what was counted, and forgets it to the last bit.
    let server = test.server(&["tennis"], changeable());
    assert_eq!(post_json(&server, "/v1/models/tennis/learn", &rows).await.json()["repeated"], true);
    let mut to_forget = rows.clone();
    to_forget["id"] = "tuesday".into();
    assert_eq!(post_json(&server, "/v1/models/tennis/forget", &to_forget).await.json()["forgotten"], 2);
    assert_eq!(post_table(&server, "/v1/models/tennis/forget", &headers, csv).await.status, 200);
    let never = post_table(
        &server,
        "/v1/models/tennis/forget",
        &headers,
        b"play,outlook,temperature,humidity,wind\nnever,R,C,N,W\n",
    )
    .await;
    assert_eq!((never.status, never.error().contains("never")), (422, true), "{}", never.error());
    server.close();
    assert_eq!(fs::read(test.path("tennis")).unwrap(), before);
}

/// Numbers are spelt as the columns spell them, also where they are categories.
#[tokio::test]
async fn numbers_are_spelt_as_the_table_spells_them() {
    let test = Test::new();
    let text = "code,size,y\n1.0,3,1\n2.0,4,0\n1.0,5,1\n2.0,7,0\n";
    let table = || Table::from_reader("t", text.as_bytes(), &ReadOptions::default()).unwrap();
    let columns = vec![
        priory::Column::new("code", priory::Kind::Category),
        priory::Column::new("size", priory::Kind::Number),
    ];
    let schema = Schema::new("y", columns).unwrap();
    let bytes = learnt_from(table(), &schema).to_bytes();
    store::replace_file(test.path("t"), &bytes).unwrap();
    let server = test.server(&["t"], changeable());
    let rows = json!({ "rows": [{ "code": 1, "size": 3, "y": 1 }, { "code": 2.0, "size": "4", "y": 0.0 }] });
    assert_eq!(post_json(&server, "/v1/models/t/forget", &rows).await.json()["forgotten"], 2);
    let rows_of_one = json!({ "rows": [{ "code": 1 }, { "code": true }] });
    let unseen = post_json(&server, "/v1/models/t/predict", &rows_of_one);
    assert_eq!(unseen.await.json()["unseen_values"], 1);
    let bad =
        post_json(&server, "/v1/models/t/predict", &json!({ "rows": [{ "size": 1 }, { "size": "big" }] }))
            .await;
    assert_eq!(bad.status, 422);
    assert!(bad.error().contains("row 2, column size"), "{}", bad.error());
    assert_eq!(post_json(&server, "/v1/models/t/learn", &rows).await.status, 200);
    server.close();
    assert_eq!(fs::read(test.path("t")).unwrap(), bytes);
}

#[tokio::test]
async fn only_who_knows_the_token_changes_models() {
    let (test, server) = Test::tennis();
    let before = fs::read(test.path("tennis")).unwrap();
    let body = json!({ "rows": [{ "play": "+" }] }).to_string();
    let long = format!("Bearer {TOKEN}0");
    let right = format!("bearer {TOKEN}");
    let twice = [("authorization", right.as_str()), ("authorization", right.as_str())];
    for route in ["learn", "forget", "rollback"] {
        let path = format!("/v1/models/tennis/{route}");
        let given: [&[(&str, &str)]; 7] = [
            &[],
            &[("authorization", "")],
            &[("authorization", TOKEN)],
            &[("authorization", "Bearer ")],
            &[("authorization", "Basic 0123456789abcdef")],
            &[("authorization", &long)],
            &twice,
        ];
        for headers in given {
            let headers = [&[("content-type", "application/json")], headers].concat();
            let refused = got(&server, request("POST", &path, &headers, body.clone())).await;
            assert_eq!(
                (refused.status, &refused.headers["www-authenticate"]),
                (401, &"Bearer".parse().unwrap())
            );
        }
        for options in
            [Options::default(), Options { read_only: true, token: Some(TOKEN.into()), ..Options::default() }]
        {
            let other = Test::new().trained("tennis", "tennis.csv", "play");
            let server = other.server(&["tennis"], options);
            let headers = [("content-type", "application/json"), ("authorization", right.as_str())];
            let refused = got(&server, request("POST", &path, &headers, body.clone())).await;
            assert_eq!(refused.status, 403);
        }
    }
    assert_eq!(fs::read(test.path("tennis")).unwrap(), before);
    let headers = [("content-type", "application/json"), ("authorization", right.as_str())];
    assert_eq!(got(&server, request("POST", "/v1/models/tennis/learn", &headers, body)).await.status, 200);
}

#[tokio::test]
async fn what_is_too_much_is_refused() {
    let test = Test::new().trained("tennis", "tennis.csv", "play");
    let options = Options { most_bytes: 1_000, most_rows: 3, most_requests: 1, ..changeable() };
    let server = test.server(&["tennis"], options);
    let path = "/v1/models/tennis/predict";
    let rows = json!({ "rows": vec![json!({}); 4] });
    assert_eq!(post_json(&server, path, &rows).await.status, 413);
    let long = json!({ "rows": [{ "outlook": "x".repeat(1_000) }] });
    assert_eq!(post_json(&server, path, &long).await.status, 413);
    // Who says that much is coming is not listened to.
    let headers = [("content-type", "application/json"), ("content-length", "1000000000000")];
    assert_eq!(got(&server, request("POST", path, &headers, "{}")).await.status, 413);
    for (headers, status) in [
        (vec![], 415),
        (vec![("content-type", "application/x-www-form-urlencoded")], 415),
        (vec![("content-type", "application/json"), ("content-encoding", "gzip")], 415),
        (vec![("content-type", "text/csv")], 422),
        (vec![("content-type", "application/json; charset=utf-8")], 400),
    ] {
        assert_eq!(got(&server, request("POST", path, &headers, "x")).await.status, status, "{headers:?}");
    }
    let packed =
        got(&server, request("POST", path, &[("content-type", "text/csv")], &b"\x1f\x8b\x08"[..])).await;
    assert_eq!(packed.status, 415);
    let held = server.requests.try_acquire().unwrap();
    let refused = post_json(&server, path, &json!({ "rows": [] })).await;
    assert_eq!((refused.status, &refused.headers["retry-after"]), (503, &"1".parse().unwrap()));
    drop(held);
    assert_eq!(post_json(&server, path, &json!({ "rows": [] })).await.status, 200);
}

#[tokio::test]
async fn nothing_but_models_has_a_name() {
    let (_test, server) = Test::tennis();
    for name in
        ["..", "%2e%2e", "tennis%2f..", "..%2ftennis", "tennis.priory", "Tennis", "%00", "%ff", "tennis%00"]
    {
        let path = format!("/v1/models/{name}");
        assert_eq!(get_path(&server, &path).await.status, 404, "{name}");
        assert_eq!(post_json(&server, &format!("{path}/predict"), &json!({ "rows": [] })).await.status, 404);
    }
    assert_eq!(get_path(&server, "/v1/models/../../etc/passwd").await.status, 404);
    let wrong = get_path(&server, "/v1/models/tennis/predict").await;
    assert_eq!((wrong.status, &wrong.headers["allow"]), (405, &"POST".parse().unwrap()));
    for name in ["", ".x", "a/b", "a b", "ä", "a\0"] {
        assert!(crate::check_name(name).is_err(), "{name}");
    }
}

#[tokio::test]
async fn a_form_can_be_made_from_the_description() {
    let test = Test::new().trained("penguins", "penguins.csv", "species");
    let schema = Schema::new("label", vec![priory::Column::new("text", priory::Kind::Text)]).unwrap();
    let mails = Table::open(&example_path("mails.csv"), &ReadOptions::default()).unwrap();
    store::replace_file(test.path("mails"), &learnt_from(mails, &schema).to_bytes()).unwrap();
    let server = test.server(&["penguins", "mails"], Options { read_only: true, ..Options::default() });
    let listed = get_path(&server, "/v1/models").await.json();
    assert_eq!(listed["models"][1]["name"], "penguins");
    let model = get_path(&server, "/v1/models/penguins").await.json();
    assert_eq!(
        (&model["target"], &model["rows"], &model["read_only"]),
        (&json!("species"), &json!(344), &json!(true))
    );
    let column = |name: &str| {
        let columns = model["columns"].as_array().unwrap();
        columns.iter().find(|column| column["name"] == name).unwrap().clone()
    };
    let island = column("island");
    let shares: f64 =
        island["values"].as_array().unwrap().iter().map(|value| value["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    assert_eq!((&island["kind"], &island["values"][0]["value"]), (&json!("category"), &json!("Biscoe")));
    let mass = column("body_mass_g");
    assert_eq!((&mass["range"], &mass["whole"]), (&json!([2700.0, 6300.0]), &json!(true)));
    for class in ["Adelie", "Chinstrap", "Gentoo"] {
        // A density, so about one in sum.
        let curve = mass["density"]["classes"][class].as_array().unwrap();
        let (low, high) =
            (mass["density"]["low"].as_f64().unwrap(), mass["density"]["high"].as_f64().unwrap());
        let sum: f64 =
            curve.iter().map(|p| p.as_f64().unwrap()).sum::<f64>() * (high - low) / curve.len() as f64;
        assert!((0.9..1.01).contains(&sum), "{sum}");
    }
    let mails = get_path(&server, "/v1/models/mails").await.json();
    let text = mails["columns"].as_array().unwrap().iter().find(|column| column["kind"] == "text");
    assert!(text.is_some_and(|text| text["text"].is_object()), "{mails}");
}

#[tokio::test]
async fn the_document_and_the_routes_say_the_same() {
    let (_test, server) = Test::tennis();
    let document = get_path(&server, "/openapi.json").await.json();
    let documented: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    let files: Vec<&str> = page::FILES.iter().map(|file| file.path).collect();
    let routed: Vec<&str> =
        routes().iter().map(|(path, _)| *path).filter(|path| !files.contains(path)).collect();
    assert_eq!(documented, routed);
    for path in documented {
        for method in ["get", "post"] {
            let is_documented = document["paths"][path].get(method).is_some();
            let concrete = path.replace("{name}", "tennis");
            let answer = got(&server, request(&method.to_uppercase(), &concrete, &[], Body::empty())).await;
            assert_eq!(answer.status != 405, is_documented, "{method} {path}");
            let status = answer.status.to_string();
            let responses = &document["paths"][path][method]["responses"];
            assert!(!is_documented || responses.get(&status).is_some(), "{method} {path} {status}");
        }
    }
}

#[tokio::test]
async fn pages_are_kept_to_themselves() {
    let (_test, server) = Test::tennis();
    let page = get_path(&server, "/").await;
    assert!(String::from_utf8_lossy(&page.body).contains("tennis"));
    for path in page::FILES.iter().map(|file| file.path).chain(["/"]) {
        let page = get_path(&server, path).await;
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(
            page.status == 200 && policy.starts_with("default-src 'none';") && !policy.contains("unsafe")
        );
    }
}

#[tokio::test]
async fn one_server_at_a_time_changes_a_model() {
    let (test, server) = Test::tennis();
    let models = [("tennis".to_owned(), test.path("tennis"))];
    let second = Server::open(&models, changeable());
    assert!(matches!(second.err(), Some(crate::Error::Taken(_))));
    // Any number may answer.
    let reader = test.server(&["tennis"], Options { read_only: true, ..Options::default() });
    assert_eq!(get_path(&reader, "/readyz").await.status, 200);
    server.close();
    drop(server);
    test.server(&["tennis"], changeable());
}

async fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it did not happen");
}

/// Whoever changes the file while it is served is heard, and what was acknowledged before stays.
#[tokio::test]
async fn a_file_that_others_replace_is_taken() {
    let (test, server) = Test::tennis();
    let path = test.path("tennis");
    let row = |class: &str| json!({ "rows": [{ "play": class, "outlook": "S" }] });
    assert_eq!(post_json(&server, "/v1/models/tennis/learn", &row("here")).await.status, 200);
    let lock = store::lock(&path).unwrap();
    let mut learnt = store::read_model(&path).unwrap();
    let other =
        b"{\"play\":\"there\",\"outlook\":\"R\",\"temperature\":null,\"humidity\":null,\"wind\":null}\n";
    let batches =
        lines::labelled(Bytes::from_static(other), Written::Jsonl, learnt.statistics.schema()).unwrap();
    learnt.learn(&batches[0]).unwrap();
    lock.replace(&learnt.to_bytes()).unwrap();
    let classes = || {
        let current = server.models["tennis"].current();
        current.frozen.as_ref().unwrap().model.classes().to_vec()
    };
    until(|| classes().contains(&"there".to_owned())).await;
    assert!(classes().contains(&"here".to_owned()));
    // What is no model is refused, and what was there goes on.
    fs::write(&path, b"no model").unwrap();
    until(|| server.models["tennis"].counters().refused_files.load(std::sync::atomic::Ordering::Relaxed) > 0)
        .await;
    assert_eq!(post_json(&server, "/v1/models/tennis/learn", &row("later")).await.status, 200);
    assert_eq!(get_path(&server, "/readyz").await.status, 200);
    server.close();
    assert_eq!(fs::read(&path).unwrap(), b"no model");
    learnt.learn(&lines_of(&learnt, &row("here"))).unwrap();
    fs::write(&path, learnt.to_bytes()).unwrap();
    // What was learnt is always the file and the changes that it did not come from.
    let server = test.server(&["tennis"], changeable());
    let found = server.models["tennis"].current();
    let rows = found.frozen.as_ref().unwrap().learnt.statistics.rows();
    assert_eq!(rows, learnt.statistics.rows() + 2);
}

fn lines_of(learnt: &Learnt, body: &Value) -> priory::Batch {
    let (_, lines) = lines::Lines::new(learnt).of_request(body.to_string().as_bytes(), 10).unwrap();
    lines::labelled(lines, Written::Jsonl, learnt.statistics.schema()).unwrap().swap_remove(0)
}

#[tokio::test]
async fn earlier_versions_come_back() {
    let (test, server) = Test::tennis();
    let path = test.path("tennis");
    let first = fs::read(&path).unwrap();
    let body = json!({ "rows": [{ "play": "+", "outlook": "S" }] });
    let none = post_json(&server, "/v1/models/tennis/rollback", &json!({})).await;
    assert_eq!(none.status, 409);
    assert_eq!(post_json(&server, "/v1/models/tennis/learn", &body).await.status, 200);
    let back = post_json(&server, "/v1/models/tennis/rollback", &json!({})).await;
    assert_eq!(back.status, 200, "{}", String::from_utf8_lossy(&back.body));
    assert_eq!(
        (fs::read(&path).unwrap(), back.json()["version"].clone()),
        (first.clone(), hash(&server).into())
    );
    let versions = get_path(&server, "/v1/models/tennis/versions").await.json()["versions"].clone();
    let versions = versions.as_array().unwrap();
    assert_eq!((versions.len(), &versions[0]["is_base"]), (2, &json!(true)));
    // And so does what was left.
    let forth = json!({ "version": versions[1]["version"] });
    assert_eq!(post_json(&server, "/v1/models/tennis/rollback", &forth).await.status, 200);
    assert_ne!(fs::read(&path).unwrap(), first);
    assert_eq!(store::read_model(&path).unwrap().statistics.rows(), 15);
    let unknown = json!({ "version": "0000000000000000" });
    assert_eq!(post_json(&server, "/v1/models/tennis/rollback", &unknown).await.status, 409);
}

#[tokio::test]
async fn what_was_seen_is_counted() {
    let (_test, server) = Test::tennis();
    let rows = json!({ "rows": [saturday(), { "outlook": "fog", "colour": 1 }, {}] });
    post_json(&server, "/v1/models/tennis/predict", &rows).await;
    let learn = json!({ "rows": [{ "play": "-", "outlook": "S" }, { "play": "new" }] });
    post_json(&server, "/v1/models/tennis/learn", &learn).await;
    let metrics = String::from_utf8(get_path(&server, "/metrics").await.body).unwrap();
    for line in [
        "priory_requests_total{route=\"predict\",status=\"200\"} 1",
        "priory_request_seconds_count{route=\"learn\"} 1",
        "priory_rows_scored_total{model=\"tennis\"} 3",
        "priory_rows_without_evidence_total{model=\"tennis\"} 1",
        "priory_unknown_columns_total{model=\"tennis\"} 1",
        "priory_missing_values_total{model=\"tennis\",column=\"wind\"} 2",
        "priory_unseen_values_total{model=\"tennis\",column=\"outlook\"} 1",
        "priory_log_evidence_count{model=\"tennis\"} 3",
        "priory_learnt_rows_total{model=\"tennis\"} 2",
        "priory_learnt_rows_judged_total{model=\"tennis\"} 1",
        "priory_learnt_rows_correct_total{model=\"tennis\"} 1",
        "priory_journal_changes{model=\"tennis\"} 1",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    let drift = get_path(&server, "/v1/models/tennis").await.json()["drift"].clone();
    assert_eq!((&drift["rows"], &drift["columns"]["outlook"]["unseen"]), (&json!(3), &json!(0.5)));
    assert_eq!(
        (&drift["learnt"]["accuracy"], &drift["columns"]["wind"]["missing"]),
        (&json!(1.0), &json!(2.0 / 3.0))
    );
}
