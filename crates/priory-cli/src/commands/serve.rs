//! `priory serve`: models over HTTP.

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueHint};
use priory_server::{Options, Server, check_name, name_of};

use crate::output::{note, warn};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory serve tennis.priory --read-only
  priory serve spam=models/spam-7.priory tennis.priory --token-file token.txt")]
pub(crate) struct ServeArgs {
    /// The models, each called like its file or as NAME=FILE says
    #[arg(required = true, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    models: Vec<String>,
    /// Where to listen, for example `--listen 0.0.0.0:80` for everybody who can reach the machine
    #[arg(help_heading = "Access", long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Let nobody change models; nothing is written then
    #[arg(help_heading = "Access", long)]
    read_only: bool,
    /// A file with the token that lets models learn and forget, for example `--token-file /run/secrets/priory`
    ///
    /// [default: the environment variable PRIORY_TOKEN; without either, nobody may change models]
    #[arg(help_heading = "Access", long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "read_only")]
    token_file: Option<PathBuf>,
    /// How many megabytes a request may have, for example `--max-body 256`
    #[arg(help_heading = "Limits", long, value_name = "MB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4_000))]
    max_body: u32,
    /// How many rows a request in JSON may have; tables may have any number
    #[arg(help_heading = "Limits", long, value_name = "N", default_value_t = 10_000)]
    max_rows: usize,
    /// How many requests are answered at the same time; others are told to come again
    #[arg(help_heading = "Limits", long, value_name = "N", default_value_t = 1_000, value_parser = count())]
    max_requests: u32,
    /// How many connections may be open
    #[arg(help_heading = "Limits", long, value_name = "N", default_value_t = 4_000, value_parser = count())]
    max_connections: u32,
    /// How many seconds a client may take to send a request or to read an answer, or be idle
    #[arg(help_heading = "Limits", long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    timeout: u32,
    /// How many versions of a model are kept, to go back to
    #[arg(help_heading = "Files", long, value_name = "N", default_value_t = 5, value_parser = count())]
    versions: u32,
    /// How many seconds after a change the model file is written; the change itself is on disk at once
    #[arg(help_heading = "Files", long, value_name = "SECONDS", default_value_t = 10)]
    rewrite_after: u32,
    /// Log every request, not only what deserves a word
    #[arg(help_heading = "Output", long)]
    log_requests: bool,
}

/// At least one; and no more than there can be at once.
fn count() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=1_000_000)
}

pub(crate) fn run(args: &ServeArgs) -> Result<()> {
    let models = args.models.iter().map(|model| named(model)).collect::<Result<Vec<_>>>()?;
    let token = if args.read_only { None } else { token(args.token_file.as_deref())? };
    if token.is_none() && !args.read_only {
        note("without a token nobody may change models; --token-file names a file with one");
    }
    if !args.listen.ip().is_loopback() {
        warn(&format!(
            "{} can be reached by others, and anybody who does may ask; put a server with TLS in front",
            args.listen
        ));
    }
    let options = Options {
        // Without a token nothing could be written, so nothing is kept for it.
        read_only: args.read_only || token.is_none(),
        token,
        most_bytes: args.max_body as usize * 1_000_000,
        most_rows: args.max_rows,
        most_requests: args.max_requests as usize,
        most_connections: args.max_connections as usize,
        timeout: Duration::from_secs(args.timeout.into()),
        versions: args.versions as usize,
        rewrite_after: Duration::from_secs(args.rewrite_after.into()),
        log_requests: args.log_requests,
        ..Options::default()
    };
    let server = Server::open(&models, options)?;
    let names: Vec<&str> = models.iter().map(|(name, _)| name.as_str()).collect();
    priory_server::serve(server, args.listen, |address| {
        note(&format!("{}: http://{address}/", names.join(", ")));
    })
    .with_context(|| format!("{} cannot be listened to", args.listen))
}

/// The name and the path of a model.
fn named(model: &str) -> Result<(String, PathBuf)> {
    if let Some((name, path)) = model.split_once('=')
        && check_name(name).is_ok()
        && !Path::new(model).exists()
    {
        return Ok((name.to_owned(), path.into()));
    }
    let path = Path::new(model);
    let name = name_of(path).ok_or_else(|| anyhow!("{model} is no file"))?;
    check_name(&name).map_err(|why| anyhow!(why))?;
    Ok((name, path.to_owned()))
}

/// The token: what is in the file but for blanks around it, or else in the environment.
fn token(file: Option<&Path>) -> Result<Option<String>> {
    let (token, from) = match file {
        Some(file) => {
            let text = fs::read_to_string(file);
            let name = file.display().to_string();
            (text.with_context(|| format!("{name} cannot be read"))?, name)
        }
        None => match env::var("PRIORY_TOKEN") {
            Ok(token) => (token, "PRIORY_TOKEN".to_owned()),
            Err(env::VarError::NotPresent) => return Ok(None),
            Err(error) => bail!("PRIORY_TOKEN: {error}"),
        },
    };
    let token = token.trim();
    if token.len() < SHORTEST_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!(
            "{from}: a token has at least {SHORTEST_TOKEN} letters, digits or signs and no blanks; `openssl rand -hex 32` makes one"
        );
    }
    Ok(Some(token.to_owned()))
}

/// Shorter ones can be guessed.
const SHORTEST_TOKEN: usize = 16;
