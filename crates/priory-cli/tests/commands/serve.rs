//! `priory serve` as a process: killed at any instant, ended in peace, asked by clients that mean ill.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use serde_json::{Value, json};

use super::Folder;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server that was started, and is killed when the test ends.
struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    fn start(folder: &Folder, arguments: &str) -> Served {
        Served::from(folder.command(&format!("serve {arguments} --listen 127.0.0.1:0")))
    }

    fn from(mut command: std::process::Command) -> Served {
        command.env("PRIORY_TOKEN", TOKEN).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = String::new();
        let address = loop {
            let line = lines.next().unwrap_or_else(|| panic!("{said}")).unwrap();
            if let Some((_, address)) = line.split_once("http://") {
                break address.trim_end_matches('/').parse().unwrap();
            }
            said += &line;
        };
        // What it logs is read, so that it need not wait.
        thread::spawn(move || lines.for_each(drop));
        Served { child, address }
    }

    /// The status and the body of an answer; `None` if there is none.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<(u16, String)> {
        ask(self.address, method, path, headers, body)
    }

    fn post(&self, path: &str, body: &Value) -> Option<(u16, Value)> {
        post(self.address, path, body)
    }

    /// Ends it as a service manager does.
    fn end(mut self) {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(address: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

fn post(address: SocketAddr, path: &str, body: &Value) -> Option<(u16, Value)> {
    let headers = format!("content-type: application/json\r\nauthorization: Bearer {TOKEN}\r\n");
    let (status, body) = ask(address, "POST", path, &headers, &body.to_string())?;
    Some((status, serde_json::from_str(&body).ok()?))
}

/// Runs the program, which must succeed.
fn done(folder: &Folder, arguments: &str) {
    let output = folder.run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn trained(folder: &Folder) {
    done(folder, "train examples/tennis.csv --target play --judge none -o m.priory");
}

/// One client: what it has learnt and not forgotten, and the request that was not answered.
struct Client {
    name: String,
    random: u64,
    requests: u64,
    learnt: Vec<Value>,
    unanswered: Option<(&'static str, Value)>,
}

impl Client {
    fn random(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % below
    }

    /// Learns or forgets until there is no answer.
    fn work(&mut self, address: SocketAddr) {
        loop {
            let (action, body) = self.unanswered.take().unwrap_or_else(|| self.next());
            let Some((status, answer)) = post(address, &format!("/v1/models/m/{action}"), &body) else {
                self.unanswered = Some((action, body));
                return;
            };
            assert_eq!(status, 200, "{answer}");
            for row in body["rows"].as_array().unwrap() {
                match action {
                    "learn" => self.learnt.push(row.clone()),
                    _ => drop(
                        self.learnt.swap_remove(self.learnt.iter().position(|known| known == row).unwrap()),
                    ),
                }
            }
        }
    }

    /// One row in three is forgotten again.
    fn next(&mut self) -> (&'static str, Value) {
        self.requests += 1;
        let id = format!("{}-{}", self.name, self.requests);
        if self.random(3) == 0 && !self.learnt.is_empty() {
            let count = self.learnt.len() as u64;
            let chosen = self.random(count) as usize;
            let row = self.learnt[chosen].clone();
            return ("forget", json!({ "id": id, "rows": [row] }));
        }
        let rows: Vec<Value> = (0..=self.random(3))
            .map(|_| {
                let outlook = ["S", "O", "R", "fog"][self.random(4) as usize];
                let wind = if self.random(4) == 0 { Value::Null } else { "W".into() };
                let play = ["+", "-", "perhaps"][self.random(3) as usize];
                json!({ "play": play, "outlook": outlook, "wind": wind, "temperature": null, "humidity": "H" })
            })
            .collect();
        ("learn", json!({ "id": id, "rows": rows }))
    }
}

/// However often and whenever the process is killed: what was acknowledged is there, once, and what was not is there once as soon
/// as it is asked for again. `PRIORY_KILLS` says how often; scripts/kill-server kills 200 times.
#[test]
fn whatever_was_acknowledged_survives() {
    let kills: u64 = env::var("PRIORY_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8);
    let folder = Folder::new();
    trained(&folder);
    let mut clients: Vec<Client> = (0..4)
        .map(|number| Client {
            name: format!("client-{number}"),
            random: number + 17,
            requests: 0,
            learnt: Vec::new(),
            unanswered: None,
        })
        .collect();
    let mut instants =
        Client { name: String::new(), random: 4, requests: 0, learnt: Vec::new(), unanswered: None };
    for _ in 0..kills {
        let served = Served::start(&folder, "m.priory --rewrite-after 0 --versions 2");
        let address = served.address;
        let lifetime = Duration::from_micros(instants.random(150_000));
        thread::scope(|scope| {
            clients.iter_mut().for_each(|client| {
                scope.spawn(|| client.work(address));
            });
            thread::sleep(lifetime);
            served.kill();
        });
    }
    // Whatever has not been answered is asked for again, and then everything is counted once.
    let served = Served::start(&folder, "m.priory");
    for client in &mut clients {
        if let Some((action, body)) = client.unanswered.take() {
            let (status, answer) = served.post(&format!("/v1/models/m/{action}"), &body).unwrap();
            assert_eq!(status, 200, "{answer}");
            for row in body["rows"].as_array().unwrap() {
                match action {
                    "learn" => client.learnt.push(row.clone()),
                    _ => drop(
                        client
                            .learnt
                            .swap_remove(client.learnt.iter().position(|known| known == row).unwrap()),
                    ),
                }
            }
        }
    }
    served.end();
    let rows: Vec<String> = clients.iter().flat_map(|client| &client.learnt).map(Value::to_string).collect();
    assert!(!rows.is_empty());
    folder.write("rows.jsonl", &rows.join("\n"));
    done(&folder, "train examples/tennis.csv --target play --judge none -o expected.priory");
    done(&folder, "learn expected.priory rows.jsonl");
    assert!(folder.bytes("m.priory") == folder.bytes("expected.priory"));
    let versions = fs::read_dir(folder.path("m.priory.served")).unwrap();
    let versions = versions.filter(|entry| entry.as_ref().unwrap().path().extension().is_some()).count();
    assert!(versions <= 6, "{versions} versions are kept");
}

#[test]
fn a_second_server_on_a_model_is_refused() {
    let folder = Folder::new();
    trained(&folder);
    let first = Served::start(&folder, "m.priory");
    let mut command = folder.command("serve m.priory --listen 127.0.0.1:0");
    let second = command.env("PRIORY_TOKEN", TOKEN).output().unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("is served already"));
    assert_eq!(first.ask("GET", "/healthz", "", "").unwrap().0, 200);
    first.end();
}

/// The command line changes a model while it is served, and both are heard.
#[test]
fn the_command_line_and_a_server_change_the_same_model() {
    let folder = Folder::new();
    trained(&folder);
    let served = Served::start(&folder, "m.priory --rewrite-after 3600");
    let row = json!({ "rows": [{ "play": "+", "outlook": "S", "temperature": "H", "humidity": "H", "wind": "W" }] });
    assert_eq!(served.post("/v1/models/m/learn", &row).unwrap().0, 200);
    folder.write("more.csv", "play,outlook,temperature,humidity,wind\n-,R,C,N,S\n");
    done(&folder, "learn m.priory more.csv");
    let is_there = || {
        let (_, models) = served.ask("GET", "/v1/models", "", "").unwrap();
        serde_json::from_str::<Value>(&models).unwrap()["models"][0]["rows"] == 16
    };
    assert!((0..400).any(|_| is_there() || {
        thread::sleep(Duration::from_millis(25));
        false
    }));
    served.end();
    done(&folder, "train examples/tennis.csv --target play --judge none -o expected.priory");
    folder.write("all.csv", "play,outlook,temperature,humidity,wind\n-,R,C,N,S\n+,S,H,H,W\n");
    done(&folder, "learn expected.priory all.csv");
    assert!(folder.bytes("m.priory") == folder.bytes("expected.priory"));
}

/// A journal that is damaged is not taken for one that was cut short.
#[test]
fn a_damaged_journal_is_refused() {
    let folder = Folder::new();
    trained(&folder);
    let served = Served::start(&folder, "m.priory --rewrite-after 3600");
    for _ in 0..3 {
        let row = json!({ "rows": [{ "play": "+", "outlook": "S" }] });
        assert_eq!(served.post("/v1/models/m/learn", &row).unwrap().0, 200);
    }
    served.kill();
    let journal = folder.path("m.priory.served/journal");
    let whole = fs::read(&journal).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(&journal, &damaged).unwrap();
    let mut command = folder.command("serve m.priory --listen 127.0.0.1:0");
    let refused = command.env("PRIORY_TOKEN", TOKEN).output().unwrap();
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("damaged before its end"));
    // The last record was not written to its end, so nobody was told that it was.
    fs::write(&journal, &whole[..whole.len() - 3]).unwrap();
    let served = Served::start(&folder, "m.priory");
    let (_, models) = served.ask("GET", "/v1/models", "", "").unwrap();
    assert_eq!(serde_json::from_str::<Value>(&models).unwrap()["models"][0]["rows"], 16);
    served.end();
}

/// No file may grow beyond a few kilobytes, as if the disk were full: changes are refused and not made, and the model goes on to
/// predict.
#[test]
fn a_full_disk_refuses_changes_and_nothing_else() {
    let folder = Folder::new();
    trained(&folder);
    let largest = folder.bytes("m.priory").len() / 512 + 8;
    let served = folder.command("serve m.priory --rewrite-after 3600 --listen 127.0.0.1:0");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("trap '' XFSZ; ulimit -f {largest}; exec \"$0\" \"$@\"")]);
    command.arg(served.get_program()).args(served.get_args()).current_dir(folder.path(""));
    let served = Served::from(command);
    let (mut learnt, mut refused) = (0, 0);
    for number in 0..1_000 {
        // Some are too long for what is left where others are not.
        let outlook = "S".repeat(1 + number * 37 % 400);
        let row = json!({ "rows": [{ "play": "+", "outlook": outlook }] });
        match served.post("/v1/models/m/learn", &row).unwrap() {
            (200, _) => learnt += 1,
            (status, answer) => {
                assert_eq!(status, 503, "{answer}");
                refused += 1;
            }
        }
        if refused == 20 {
            break;
        }
    }
    assert!(learnt > 0 && refused == 20);
    let headers = "content-type: application/json\r\n";
    let body = "{\"rows\": [{\"outlook\": \"S\"}]}";
    let path = "/v1/models/m/predict?consistency=latest";
    assert_eq!(served.ask("POST", path, headers, body).unwrap().0, 200);
    served.kill();
    let served = Served::start(&folder, "m.priory");
    let (_, models) = served.ask("GET", "/v1/models", "", "").unwrap();
    assert_eq!(serde_json::from_str::<Value>(&models).unwrap()["models"][0]["rows"], 14 + learnt);
    served.end();
}

/// Whoever says nothing, says it slowly, or says too much costs little and does not keep others from being answered.
#[test]
fn clients_that_mean_ill_are_cut_off() {
    let folder = Folder::new();
    trained(&folder);
    let served = Served::start(&folder, "m.priory --timeout 1 --max-connections 100 --max-body 1");
    let idle: Vec<TcpStream> = (0..80).map(|_| TcpStream::connect(served.address).unwrap()).collect();
    assert_eq!(served.ask("GET", "/healthz", "", "").unwrap().0, 200);
    let more: Vec<TcpStream> = (0..80).map(|_| TcpStream::connect(served.address).unwrap()).collect();
    let mut refused = String::new();
    let mut last = more.last().unwrap();
    last.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    last.read_to_string(&mut refused).unwrap();
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    // A head that never ends, and a body that never comes.
    let slow = [
        "GET / HTTP/1.1\r\nhost: x\r\n",
        "POST /v1/models/m/predict HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{",
    ];
    drop(more);
    for mut stream in idle.iter().take(2) {
        // Those that were idle have been cut off.
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
    }
    drop(idle);
    for head in slow {
        let mut stream = TcpStream::connect(served.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    // Bodies that are said to be, or turn out to be, too large.
    let json = "content-type: application/json\r\n";
    let mut stream = TcpStream::connect(served.address).unwrap();
    let head =
        format!("POST /v1/models/m/predict HTTP/1.1\r\nhost: x\r\n{json}content-length: 1000000000\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut beginning = [0; 12];
    stream.read_exact(&mut beginning).unwrap();
    assert_eq!(&beginning, b"HTTP/1.1 413");
    // Two ways to say how long a body is are one too many.
    for (headers, body) in [
        (
            "transfer-encoding: chunked\r\ncontent-length: 3\r\n",
            "0\r\n\r\nGET /metrics HTTP/1.1\r\nhost: x\r\n\r\n",
        ),
        ("content-length: 3\r\ncontent-length: 4\r\n", "{}  "),
        ("transfer-encoding: chunked, identity\r\n", "0\r\n\r\n"),
        ("content-length: +2\r\n", "{}"),
    ] {
        let mut stream = TcpStream::connect(served.address).unwrap();
        let request = format!(
            "POST /v1/models/m/predict HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{json}{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(
            answer.starts_with("HTTP/1.1 400") && answer.matches("HTTP/1.1").count() == 1,
            "{headers}{answer}"
        );
    }
    let deep = format!("{{\"rows\": [{{\"outlook\": {}", "[".repeat(500_000));
    assert_eq!(served.ask("POST", "/v1/models/m/predict", json, &deep).unwrap().0, 400);
    assert_eq!(served.ask("GET", "/readyz", "", "").unwrap().0, 200);
    served.end();
}
