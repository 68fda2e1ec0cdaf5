//! Rows that come one by one are answered one by one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use super::*;

/// A program that predicts what it is told, and what it has answered.
struct Conversation {
    program: Child,
    said: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Conversation {
    fn new(folder: &Folder, arguments: &str) -> Self {
        let mut command = folder.command(arguments);
        let mut program =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = program.stdin.take();
        let stdout: ChildStdout = program.stdout.take().unwrap();
        let (send, answers) = mpsc::channel();
        thread::spawn(move || BufReader::new(stdout).lines().try_for_each(|line| send.send(line.unwrap())));
        Conversation { program, said, answers }
    }

    fn say(&mut self, text: &str) {
        let pipe = self.said.as_mut().unwrap();
        pipe.write_all(text.as_bytes()).unwrap();
        pipe.flush().unwrap();
    }

    /// The next line; the pipe is still open. It is waited for much longer than anybody should have to.
    fn answer(&self) -> String {
        self.answers.recv_timeout(Duration::from_secs(120)).expect("an answer before the pipe is closed")
    }

    /// Closes the pipe; what is answered then, the messages, and whether all went well.
    fn end(mut self) -> (Vec<String>, String, bool) {
        drop(self.said.take());
        let output = self.program.wait_with_output().unwrap();
        (self.answers.iter().collect(), text(&output.stderr), output.status.success())
    }
}

fn tennis() -> Folder {
    let folder = Folder::new();
    folder.stdout("train examples/tennis.csv --target play -o m.priory");
    folder
}

#[test]
fn each_row_is_answered_while_the_pipe_is_open() {
    let folder = tennis();
    for flags in ["", " --stream", " --stream --threads 1"] {
        let mut conversation =
            Conversation::new(&folder, &format!("predict m.priory - --keep outlook{flags}"));
        conversation.say("outlook,temperature,humidity,wind\nO,H,H,W\n");
        assert_eq!([conversation.answer(), conversation.answer()], ["outlook,prediction", "O,+"]);
        conversation.say("S,H,H,S\nO,C");
        assert_eq!(conversation.answer(), "S,-");
        conversation.say(",N,W\n\nR,M");
        assert_eq!(conversation.answer(), "O,+");
        conversation.say(",N,W\n");
        assert_eq!(conversation.answer(), "R,+");
        conversation.say("S,H,H,S");
        let (rest, _, success) = conversation.end();
        assert_eq!(rest, ["S,-"]);
        assert!(success);
    }
}

#[test]
fn a_key_that_only_a_later_row_has_is_known() {
    let folder = tennis();
    let whole = folder.write("days.jsonl", "{\"wind\":\"S\"}\n{\"wind\":\"S\",\"outlook\":\"O\"}\n");
    let expected = whole.stdout("predict m.priory days.jsonl --probabilities --format jsonl");
    let mut conversation =
        Conversation::new(&folder, "predict m.priory - --stream --probabilities --format jsonl");
    let mut answers = Vec::new();
    for row in ["{\"wind\":\"S\"}\n", "{\"wind\":\"S\",\"outlook\":\"O\"}\n"] {
        conversation.say(row);
        answers.push(conversation.answer());
    }
    assert_eq!(answers, expected.lines().collect::<Vec<_>>());
    assert_eq!(conversation.end().0, Vec::<String>::new());
}

#[test]
fn errors_name_the_row_of_the_stream() {
    let folder = Folder::new();
    folder
        .write("t.csv", "x,y\n1.5,p\n2.5,q\n3,p\n4,q\n")
        .stdout("train t.csv --target y --as x=number -o m.priory");
    let mut conversation = Conversation::new(&folder, "predict m.priory - --stream");
    conversation.say("x\n1\n");
    assert_eq!(conversation.answer(), "prediction");
    conversation.answer();
    conversation.say("2\n");
    conversation.answer();
    conversation.say("three\n");
    let (_, messages, success) = conversation.end();
    assert!(!success && messages.contains("row 3, column x"), "{messages}");
}

#[test]
fn answers_do_not_depend_on_how_rows_come() {
    let folder = Folder::new();
    folder.write("t.csv", &large_table(20_000, 3)).stdout("train t.csv --target y --judge none -o m.priory");
    let table = fs::read_to_string(folder.path("t.csv")).unwrap();
    let expected = folder.stdout("predict m.priory t.csv --probabilities");
    for flags in ["", " --stream"] {
        let mut conversation =
            Conversation::new(&folder, &format!("predict m.priory - --probabilities{flags}"));
        let bytes = table.as_bytes();
        let mut rest = bytes;
        for length in [1, 7, 20, 1000, 13, 70_000].into_iter().cycle() {
            let (now, later) = rest.split_at(length.min(rest.len()));
            conversation.say(std::str::from_utf8(now).unwrap());
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        let (answers, messages, success) = conversation.end();
        assert!(success, "{messages}");
        assert_eq!(answers, expected.lines().collect::<Vec<_>>());
    }
}

#[test]
fn what_needs_all_rows_cannot_be_streamed() {
    let folder = tennis();
    let told = folder.fails(1, "predict m.priory examples/tennis.csv --stream --prior estimate");
    assert!(told.contains("leave out --stream"), "{told}");
    let told = folder.fails(1, "predict m.priory examples/tennis.csv --stream -o p.parquet");
    assert!(told.contains("leave out --stream") && !folder.path("p.parquet").exists(), "{told}");
}
