//! `priory mail`: what a mail is, by what was learnt of others, where mail is delivered.

mod teach;

use std::io::{self, Read, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use priory::Explanation;
use priory_input::lessons::{FEWEST_LESSONS, Lessons, Opinion, Rule, Verdict, filtered};
use priory_input::{Messages, store};
use serde::Serialize;

use crate::args::{Format, MailArgs, MailCommand, RuleArgs};
use crate::output::{self, Grid, data_out, note, plural, probability, report_out, shown, write_json};

/// Spam, any other class, unsure, and that something failed.
const SPAM: u8 = 0;
const OTHER: u8 = 1;
const UNSURE: u8 = 2;
const FAILED: u8 = 3;
/// What mail programs take for: try again later (EX_TEMPFAIL).
const TRY_AGAIN: u8 = 75;

/// A larger message is passed through without a verdict.
const LARGEST: u64 = 256 << 20;

/// Runs a command and says how it ended, in the way of bogofilter.
pub(crate) fn run(args: &MailArgs, threads: usize) -> ExitCode {
    let failed = |error: &anyhow::Error| {
        output::report_failure(error);
        FAILED
    };
    let done = |result: Result<()>| result.map(|()| 0);
    let folder = &args.store;
    let code = match &args.command {
        MailCommand::Check { message, rule, format } => {
            check(folder.as_deref(), message.as_deref(), rule, *format)
        }
        MailCommand::Filter { rule, tempfail } => return filter(folder.as_deref(), rule, *tempfail),
        MailCommand::Learn { class, mailboxes } => {
            done(teach::learn(folder.as_deref(), class, mailboxes, threads))
        }
        MailCommand::Forget { mailboxes } => done(teach::forget(folder.as_deref(), mailboxes, threads)),
        MailCommand::Move { class, mailboxes } => {
            done(teach::relabel(folder.as_deref(), class, mailboxes, threads))
        }
        MailCommand::Explain { message, top, spam } => {
            done(explain(folder.as_deref(), message.as_deref(), *top, spam))
        }
        MailCommand::Status { format } => done(teach::status(folder.as_deref(), *format, threads)),
        MailCommand::Compact => done(teach::compact(folder.as_deref(), threads)),
        MailCommand::Export { model } => done(export(folder.as_deref(), model)),
    };
    ExitCode::from(match code {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => 0,
        Err(error) => failed(&error),
    })
}

/// Where lessons are kept unless it is said.
fn folder(said: Option<&Path>) -> Result<PathBuf> {
    if let Some(folder) = said {
        return Ok(folder.to_owned());
    }
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = named("PRIORY_MAIL") {
        return Ok(folder);
    }
    let data = named("XDG_DATA_HOME").or_else(|| named("HOME").map(|home| home.join(".local/share")));
    match data {
        Some(data) => Ok(data.join("priory/mail")),
        None => bail!("nobody says where lessons are kept: name a folder with --store"),
    }
}

/// A store that must be there.
fn open(said: Option<&Path>) -> Result<Lessons> {
    let folder = folder(said)?;
    Lessons::open(&folder)
        .with_context(|| format!("{}: no lessons are kept there; priory mail learn begins", folder.display()))
}

/// A message: a file, or the standard input.
fn read(message: Option<&Path>) -> Result<Vec<u8>> {
    match message {
        Some(path) if path != Path::new("-") => {
            let first = Messages::open(&path.to_string_lossy())?.next();
            Ok(first.with_context(|| format!("{}: there is no message in it", path.display()))??)
        }
        _ => {
            let mut message = Vec::new();
            io::stdin()
                .take(LARGEST)
                .read_to_end(&mut message)
                .context("the standard input cannot be read")?;
            Ok(message)
        }
    }
}

impl RuleArgs {
    fn rule(&self) -> Rule {
        Rule { spam: self.spam.clone(), ham_loss: self.ham_loss }
    }
}

/// A verdict, for programs.
#[derive(Serialize)]
struct Checked<'a> {
    verdict: &'a str,
    spam: f64,
    cut_off: f64,
    lessons: u64,
    posterior: serde_json::Map<String, serde_json::Value>,
}

fn check(folder: Option<&Path>, message: Option<&Path>, rule: &RuleArgs, format: Format) -> Result<u8> {
    let lessons = open(folder)?;
    let opinion = lessons.opinion(&read(message)?)?;
    let rule = rule.rule();
    let (verdict, spam) = rule.verdict(opinion.as_ref());
    let mut out = report_out(format);
    match format {
        Format::Text => writeln!(out, "{} {}", verdict.word(&rule), probability(spam))?,
        Format::Json => {
            let classes = opinion.iter().flat_map(|opinion| opinion.classes.iter().zip(&opinion.posterior));
            let posterior = classes.map(|(class, p)| (class.clone(), (*p).into())).collect();
            let lessons = opinion.as_ref().map_or(0, |opinion| opinion.lessons);
            let word = verdict.word(&rule);
            write_json(
                &mut out,
                &Checked { verdict: word, spam, cut_off: rule.cut_off(), lessons, posterior },
            )?;
        }
    }
    out.flush()?;
    warn_of_few_lessons(opinion.as_ref());
    Ok(code_of(&verdict))
}

fn code_of(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Spam => SPAM,
        Verdict::Other(_) => OTHER,
        Verdict::Unsure => UNSURE,
    }
}

fn warn_of_few_lessons(opinion: Option<&Opinion>) {
    if opinion.is_none_or(|opinion| !opinion.is_judged) {
        let lessons = plural(opinion.map_or(0, |opinion| opinion.lessons), "lesson");
        note(&format!("{lessons} so far: at least {FEWEST_LESSONS}, in two classes, make an opinion"));
    }
}

/// The message with a verdict in its header. Whatever happens, the message comes out.
fn filter(folder: Option<&Path>, rule: &RuleArgs, tempfail: bool) -> ExitCode {
    let failure = if tempfail { TRY_AGAIN } else { FAILED };
    let mut message = Vec::new();
    let read = io::stdin().take(LARGEST).read_to_end(&mut message);
    let judged = read.map_err(anyhow::Error::from).and_then(|_| {
        // A mistake of this program shall not cost anybody a mail.
        panic::catch_unwind(|| with_verdict(folder, rule, &message))
            .unwrap_or_else(|_| bail!("the program has a mistake; the message passes unchanged"))
    });
    let mut out = data_out();
    let (written, code) = match judged {
        Ok(judged) => (out.write_all(&judged), 0),
        Err(error) => {
            output::report_failure(&error);
            // What is beyond the limit follows what was read.
            let written =
                out.write_all(&message).and_then(|()| io::copy(&mut io::stdin(), &mut out).map(|_| ()));
            (written, failure)
        }
    };
    match written.and_then(|()| out.flush()) {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            output::report_failure(&error.into());
            ExitCode::from(failure)
        }
    }
}

fn with_verdict(folder: Option<&Path>, rule: &RuleArgs, message: &[u8]) -> Result<Vec<u8>> {
    if message.len() as u64 >= LARGEST {
        bail!("the message is longer than {LARGEST} bytes; it passes unchanged");
    }
    let lessons = open(folder)?;
    let opinion = lessons.opinion(message)?;
    let rule = rule.rule();
    let (verdict, spam) = rule.verdict(opinion.as_ref());
    let mut said = format!("{} {}", verdict.word(&rule), probability(spam));
    let reasons = match lessons.explain(message)? {
        Some(explanation) => reasons(&explanation, &rule.spam),
        None => Vec::new(),
    };
    if !reasons.is_empty() {
        said.push_str(&format!(" ({})", reasons.join(", ")));
    }
    Ok(filtered(message).with(&[("X-Priory", said), lessons.id_field(message)]))
}

/// The tokens that say most, as far as they can stand in a header: `subject pills +3.1 bits`.
fn reasons(explanation: &Explanation, spam: &str) -> Vec<String> {
    const MOST: usize = 3;
    let is_plain = |token: &str| {
        token.len() <= 30 && token.bytes().all(|b| b.is_ascii_graphic() && !b"(),\\".contains(&b))
    };
    let tokens = tokens(explanation, spam).into_iter().filter(|said| is_plain(&said.token));
    tokens.take(MOST).map(|said| format!("{} {} {:+.1} bits", said.column, said.token, said.bits)).collect()
}

/// Spam, and the most probable of the other classes: evidence for one against the other adds up.
struct Sides {
    spam: usize,
    rival: usize,
}

impl Sides {
    fn new(explanation: &Explanation, spam: &str) -> Option<Sides> {
        let spam = explanation.classes.iter().position(|class| class == spam)?;
        let others = (0..explanation.classes.len()).filter(|&class| class != spam);
        let rival = others.max_by(|&a, &b| explanation.log_joint[a].total_cmp(&explanation.log_joint[b]))?;
        Some(Sides { spam, rival })
    }

    fn bits(&self, logs: &[f64]) -> f64 {
        (logs[self.spam] - logs[self.rival]) / std::f64::consts::LN_2
    }
}

/// What a token says.
struct Said {
    column: String,
    token: String,
    bits: f64,
}

/// The tokens of a message by how much each says for or against spam.
fn tokens(explanation: &Explanation, spam: &str) -> Vec<Said> {
    let Some(sides) = Sides::new(explanation, spam) else { return Vec::new() };
    let mut all = Vec::new();
    for contribution in &explanation.contributions {
        let tokens = contribution.tokens.iter().flat_map(|tokens| &tokens.tokens);
        for token in tokens {
            if let Some(logs) = &token.log_likelihood {
                let (column, token) = (contribution.feature.clone(), token.token.clone());
                all.push(Said { column, token, bits: sides.bits(logs) });
            }
        }
    }
    all.sort_by(|a, b| b.bits.abs().total_cmp(&a.bits.abs()).then_with(|| a.token.cmp(&b.token)));
    all
}

/// What speaks for and against spam, in bits: column by column, and the tokens that say most.
fn explain(folder: Option<&Path>, message: Option<&Path>, top: usize, spam: &str) -> Result<()> {
    let lessons = open(folder)?;
    let Some(explanation) = lessons.explain(&read(message)?)? else {
        bail!("nothing was learnt yet");
    };
    let Some(sides) = Sides::new(&explanation, spam) else {
        bail!(
            "there is nothing to weigh `{}` against, or nothing of it was learnt; --spam names another",
            shown(spam)
        );
    };
    let mut out = data_out();
    writeln!(out, "P({spam}) = {}\n", probability(explanation.posterior[sides.spam]))?;
    let mut grid = Grid::new();
    grid.row([
        "evidence".to_owned(),
        format!("bits for {spam} against {}", explanation.classes[sides.rival]),
    ]);
    grid.row(["prior".to_owned(), format!("{:+.2}", sides.bits(&explanation.log_prior))]);
    for contribution in &explanation.contributions {
        grid.row([contribution.feature.clone(), format!("{:+.2}", sides.bits(&contribution.log_likelihood))]);
    }
    grid.row(["together".to_owned(), format!("{:+.2}", sides.bits(&explanation.log_joint))]);
    writeln!(out, "{}", grid.render())?;
    let mut grid = Grid::new();
    grid.row(["column", "token", "bits"]);
    for said in tokens(&explanation, spam).into_iter().take(top) {
        grid.row([said.column, shown(&said.token), format!("{:+.2}", said.bits)]);
    }
    write!(out, "{}", grid.render())?;
    Ok(out.flush()?)
}

/// Writes the newest model where any other command can read it.
fn export(folder: Option<&Path>, model: &Path) -> Result<()> {
    let lessons = open(folder)?;
    let newest = lessons.newest_model()?.context("nothing was learnt yet")?;
    store::replace_file(model, &store::read_bytes(&newest)?)?;
    note(&format!("exported: {}", model.display()));
    Ok(())
}
