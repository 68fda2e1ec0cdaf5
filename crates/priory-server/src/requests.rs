//! What requests are held to before anything is done for them: who may, how much, how long, and in which format.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::answer::Format;
use crate::log::{Level, log};
use crate::metrics::Route;
use crate::refusal::Refusal;
use crate::server::Server;

/// A body that is longer than this may take long to answer.
const SHORT: usize = 64 << 10;

/// How the rows of a request are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Json,
    Table(Format),
}

impl Server {
    /// Answers a request within the limits, and counts it.
    pub(crate) async fn answer(
        &self,
        route: Route,
        work: impl Future<Output = Result<Response, Refusal>>,
    ) -> Response {
        let begun = Instant::now();
        let result = match self.requests.try_acquire() {
            Ok(_permit) => work.await,
            Err(_) => Err(Refusal::unavailable("too many requests at the same time")),
        };
        let mut response = match result {
            Ok(response) => response,
            Err(refusal) => {
                if refusal.status.is_server_error() {
                    log(Level::Warn, "a request failed", &[("route", route.name()), ("why", &refusal.why)]);
                }
                refusal.into_response()
            }
        };
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        if self.is_ending() {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let duration = begun.elapsed();
        self.metrics.answered(route, response.status(), duration);
        if self.options.log_requests {
            let (status, micros) = (response.status().as_u16().to_string(), duration.as_micros().to_string());
            log(
                Level::Info,
                "request",
                &[("route", route.name()), ("status", &status), ("microseconds", &micros)],
            );
        }
        response
    }

    /// Whether the request may change models.
    pub(crate) fn authorize(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let forbidden = |why: &str| Err(Refusal::new(StatusCode::FORBIDDEN, why));
        if self.options.read_only {
            return forbidden("models cannot be changed: the server was started with --read-only");
        }
        let Some(token) = &self.options.token else {
            return forbidden(
                "models cannot be changed: the server was started without a token, see `priory serve --help`",
            );
        };
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let bearer = match (given.next(), given.next()) {
            (Some(only), None) => only.as_bytes(),
            _ => b"",
        };
        let (scheme, rest) = bearer.split_at(bearer.len().min(b"Bearer ".len()));
        if scheme.eq_ignore_ascii_case(b"Bearer ") && is_same(rest.trim_ascii(), token.as_bytes()) {
            return Ok(());
        }
        Err(Refusal::new(StatusCode::UNAUTHORIZED, "the token that may change models is missing or wrong"))
    }

    /// The body of a request, all of it.
    pub(crate) async fn body(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Refusal> {
        let most = self.options.most_bytes;
        let too_large = || Refusal::too_large(format!("more than {most} bytes at once"));
        if headers.contains_key(header::CONTENT_ENCODING) {
            let why = "the body is packed; send it as it is";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let length =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: u64| length > most as u64) {
            return Err(too_large());
        }
        let read = tokio::time::timeout(self.options.timeout, Limited::new(body, most).collect()).await;
        match read {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(_)) => Err(Refusal::malformed("the body ended too early")),
            Err(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to come")),
        }
    }

    /// Does what may take long on a thread where nobody waits, unless the request is short.
    pub(crate) async fn compute<R: Send + 'static>(
        self: &Arc<Self>,
        bytes: usize,
        work: impl FnOnce() -> Result<R, Refusal> + Send + 'static,
    ) -> Result<R, Refusal> {
        if bytes <= SHORT {
            return work();
        }
        let permit =
            tokio::time::timeout(self.options.timeout, Arc::clone(&self.long_requests).acquire_owned());
        let Ok(Ok(permit)) = permit.await else {
            return Err(Refusal::unavailable("too many long requests at the same time"));
        };
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        done.await.unwrap_or_else(|_| {
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong, see the log"))
        })
    }
}

/// Compares in the same time wherever the two differ; only their lengths can be told from it.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    if given.len() != token.len() {
        return false;
    }
    let difference = given.iter().zip(token).fold(0, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
    difference == 0
}

/// How the body is written. It must be said: what a form on another page could send is not taken.
pub(crate) fn content(headers: &HeaderMap) -> Result<Content, Refusal> {
    let unsupported = |why: &str| Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    let Some(given) = headers.get(header::CONTENT_TYPE) else {
        return unsupported("the header content-type is missing, for example content-type: application/json");
    };
    let kind = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let is = |name: &str| kind.eq_ignore_ascii_case(name);
    if is("application/json") {
        return Ok(Content::Json);
    }
    if is("application/jsonl") {
        return Ok(Content::Table(Format::Jsonl));
    }
    match Format::ALL.into_iter().find(|format| is(format.media_type())) {
        Some(format) => Ok(Content::Table(format)),
        None => unsupported(
            "the content-type is none of application/json, application/x-ndjson, text/csv and application/vnd.apache.arrow.stream",
        ),
    }
}

/// The format of the answer to a table: the one that is accepted, or else that of the request.
pub(crate) fn accepted(headers: &HeaderMap, given: Format) -> Format {
    let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let accepted = accepted.split(',').map(|one| one.split(';').next().unwrap_or_default().trim());
    let format =
        |name: &str| Format::ALL.into_iter().find(|format| format.media_type().eq_ignore_ascii_case(name));
    accepted.filter_map(format).next().unwrap_or(given)
}

/// What may stand after the `?`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) probabilities: bool,
    pub(crate) log_evidence: bool,
    pub(crate) latest: bool,
}

impl Asked {
    pub(crate) fn read(uri: &Uri) -> Result<Self, Refusal> {
        let mut asked = Asked::default();
        let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        for pair in pairs {
            match pair.split_once('=').unwrap_or((pair, "true")) {
                ("probabilities", value) => asked.probabilities = truth(value)?,
                ("log_evidence", value) => asked.log_evidence = truth(value)?,
                ("consistency", "latest") => asked.latest = true,
                ("consistency", "any") => asked.latest = false,
                ("consistency", _) => {
                    return Err(Refusal::malformed("consistency is `any` or `latest`"));
                }
                // Others may stand there for whoever is in between.
                _ => {}
            }
        }
        Ok(asked)
    }
}

fn truth(value: &str) -> Result<bool, Refusal> {
    match value {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(Refusal::malformed("what is asked for in the address is `true` or `false`")),
    }
}

/// What a request consists of.
pub(crate) fn parts(request: Request) -> (HeaderMap, Uri, Body) {
    let (parts, body) = request.into_parts();
    (parts.headers, parts.uri, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_same_or_not() {
        assert!(is_same(b"secret", b"secret") && !is_same(b"secreT", b"secret"));
        assert!(!is_same(b"", b"secret") && !is_same(b"secret!", b"secret"));
    }

    #[test]
    fn what_stands_after_the_question_mark() {
        let asked = |uri: &'static str| Asked::read(&Uri::from_static(uri)).ok();
        assert_eq!(asked("/x"), Some(Asked::default()));
        let all = Asked { probabilities: true, log_evidence: true, latest: true };
        assert_eq!(asked("/x?probabilities&log_evidence=true&consistency=latest&utm=1"), Some(all));
        assert_eq!(asked("/x?probabilities=yes"), None);
        assert_eq!(asked("/x?consistency=all"), None);
    }
}
