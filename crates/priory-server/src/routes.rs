//! What can be asked for. `openapi.json` says the same for programs, and a test compares the two.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::answer::{Format, Question, check_unpacked, of_input};
use crate::books::NotDone;
use crate::change::{Action, Change, Described};
use crate::describe::describe;
use crate::frozen::Frozen;
use crate::hosted::{Current, Hosted};
use crate::lines::{self, Written};
use crate::metrics::Route;
use crate::page;
use crate::refusal::{self, Refusal};
use crate::requests::{Asked, Content, accepted, content, parts};
use crate::server::Server;

type Answer = Result<Response, Refusal>;
type Name = Result<Path<String>, PathRejection>;
type Served = State<Arc<Server>>;

/// The longest id that a request may have.
const LONGEST_ID: usize = 200;

/// A router for these models.
pub fn app(server: Arc<Server>) -> Router {
    let mut router = Router::new();
    for (path, methods) in routes() {
        router = router.route(path, methods);
    }
    router.fallback(nothing_here).method_not_allowed_fallback(other_method).with_state(server)
}

fn routes() -> Vec<(&'static str, MethodRouter<Arc<Server>>)> {
    let mut routes = vec![
        ("/", get(start_page)),
        ("/healthz", get(healthz)),
        ("/readyz", get(readyz)),
        ("/metrics", get(metrics)),
        ("/openapi.json", get(openapi)),
        ("/v1/models", get(models)),
        ("/v1/models/{name}", get(model)),
        ("/v1/models/{name}/versions", get(versions)),
        ("/v1/models/{name}/predict", post(predict)),
        ("/v1/models/{name}/explain", post(explain)),
        ("/v1/models/{name}/evaluate", post(evaluate)),
        ("/v1/models/{name}/learn", post(learn)),
        ("/v1/models/{name}/forget", post(forget)),
        ("/v1/models/{name}/rollback", post(roll_back)),
    ];
    routes.extend(page::FILES.iter().map(|file| (file.path, get(async || page::file(file)))));
    routes
}

async fn nothing_here(State(server): Served) -> Response {
    let refusal =
        Refusal::new(StatusCode::NOT_FOUND, "there is nothing here; /openapi.json lists what there is");
    server.answer(Route::Other, async { Err(refusal) }).await
}

async fn other_method(State(server): Served) -> Response {
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "the method is none that can be used here");
    server.answer(Route::Other, async { Err(refusal) }).await
}

async fn start_page(State(server): Served) -> Response {
    server.answer(Route::Page, async { Ok(page::start(&server)) }).await
}

/// The process lives.
async fn healthz(State(server): Served) -> Response {
    server
        .answer(Route::Health, async { Ok(refusal::json(StatusCode::OK, &json!({ "status": "ok" }))) })
        .await
}

/// Every model can answer, and requests are welcome.
async fn readyz(State(server): Served) -> Response {
    let answer = async {
        if server.is_ending() {
            return Err(Refusal::unavailable("the server is being ended"));
        }
        for model in server.models.values() {
            frozen(&model.current()).map_err(|refusal| Refusal::unavailable(refusal.why))?;
        }
        Ok(refusal::json(StatusCode::OK, &json!({ "status": "ready" })))
    };
    server.answer(Route::Ready, answer).await
}

async fn metrics(State(server): Served) -> Response {
    let answer = async {
        let text = server.metrics.to_text(server.models.values());
        Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
    };
    server.answer(Route::Metrics, answer).await
}

async fn openapi(State(server): Served) -> Response {
    let document =
        ([(header::CONTENT_TYPE, "application/json")], include_str!("openapi.json")).into_response();
    server.answer(Route::OpenApi, async { Ok(document) }).await
}

/// A line about each model.
async fn models(State(server): Served) -> Response {
    #[derive(Serialize)]
    struct Listed<'a> {
        name: &'a str,
        version: &'a str,
        target: Option<&'a str>,
        classes: &'a [String],
        rows: u64,
        read_only: bool,
        error: Option<&'a str>,
    }
    let answer = async {
        let current: Vec<_> = server.models.values().map(|model| (model, model.current())).collect();
        let listed: Vec<Listed<'_>> = current
            .iter()
            .map(|(model, current)| {
                let frozen = current.frozen.as_ref();
                Listed {
                    name: &model.name,
                    version: &current.version,
                    target: frozen.ok().map(|frozen| frozen.model.schema().target.as_str()),
                    classes: frozen.map_or(&[], |frozen| frozen.model.classes()),
                    rows: frozen.map_or(0, |frozen| frozen.learnt.statistics.rows()),
                    read_only: !can_be_changed(&server, model),
                    error: frozen.err().map(|why| &**why),
                }
            })
            .collect();
        Ok(refusal::json(StatusCode::OK, &json!({ "models": listed })))
    };
    server.answer(Route::Models, answer).await
}

fn can_be_changed(server: &Server, model: &Hosted) -> bool {
    !model.is_read_only() && server.options.token.is_some()
}

async fn model(State(server): Served, name: Name, request: Request) -> Response {
    let answer = async {
        let hosted = server.model(name)?;
        let (_, uri, _) = parts(request);
        let current = current(hosted, &Asked::read(&uri)?).await;
        let frozen = Arc::clone(frozen(&current)?);
        let described = server.compute(usize::MAX, move || {
            if frozen.description.get().is_none() {
                let described = describe(&frozen).map_err(|error| Refusal::conflict(error.to_string()))?;
                let _ = frozen.description.set(serde_json::to_vec(&described).unwrap_or_default());
            }
            Ok(frozen)
        });
        let frozen = described.await?;
        let mut head = Map::new();
        head.insert("name".into(), hosted.name.as_str().into());
        head.insert("version".into(), current.version.as_str().into());
        head.insert("read_only".into(), (!can_be_changed(&server, hosted)).into());
        head.insert("unwritten_changes".into(), hosted.journal().map_or(0, |(changes, _)| changes).into());
        head.insert("drift".into(), hosted.drift.seen().to_json());
        // Two objects become one.
        let mut body = serde_json::to_vec(&head).unwrap_or_default();
        body.pop();
        body.push(b',');
        body.extend_from_slice(&frozen.description.get().map_or(&b"{}"[..], Vec::as_slice)[1..]);
        Ok(json_bytes(body))
    };
    server.answer(Route::Model, answer).await
}

async fn versions(State(server): Served, name: Name) -> Response {
    let answer = async {
        let hosted = server.model(name)?;
        let versions: Vec<Value> = hosted
            .versions()
            .into_iter()
            .map(|(version, is_base)| json!({ "version": version, "is_base": is_base }))
            .collect();
        Ok(refusal::json(StatusCode::OK, &json!({ "model": hosted.name, "versions": versions })))
    };
    server.answer(Route::Versions, answer).await
}

async fn predict(State(server): Served, name: Name, request: Request) -> Response {
    let answer = async {
        let asked = Query::read(&server, name, request).await?;
        let format = match asked.content {
            Content::Json => None,
            Content::Table(from) => Some((from, accepted(&asked.headers, from))),
        };
        let media_type = format.map_or("application/json", |(_, to)| to.media_type());
        let threads = server.threads;
        let body = asked.body.clone();
        let answered = asked.answer(&server, move |question| match format {
            None => question.predict(&body),
            Some((from, to)) => question.predict_table(body, from, to, threads),
        });
        Ok(([(header::CONTENT_TYPE, media_type)], answered.await?).into_response())
    };
    server.answer(Route::Predict, answer).await
}

async fn explain(State(server): Served, name: Name, request: Request) -> Response {
    let answer = async {
        let asked = Query::read(&server, name, request).await?;
        if asked.content != Content::Json {
            let why = "explanations are for rows in JSON: content-type: application/json";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let body = asked.body.clone();
        Ok(json_bytes(asked.answer(&server, move |question| question.explain(&body)).await?))
    };
    server.answer(Route::Explain, answer).await
}

async fn evaluate(State(server): Served, name: Name, request: Request) -> Response {
    let answer = async {
        let asked = Query::read(&server, name, request).await?;
        let (body, content, most_rows) = (asked.body.clone(), asked.content, server.options.most_rows);
        let answered = asked.answer(&server, move |question| {
            let (body, format) = match content {
                Content::Table(format) => {
                    check_unpacked(&body)?;
                    (body, format)
                }
                Content::Json => {
                    let (read, lines) = question.frozen.lines.of_request(&body, most_rows)?;
                    if read.rows == 0 {
                        return Err(Refusal::unprocessable("there are no rows"));
                    }
                    (lines, Format::Jsonl)
                }
            };
            question.evaluate(body, format)
        });
        Ok(json_bytes(answered.await?))
    };
    server.answer(Route::Evaluate, answer).await
}

async fn learn(State(server): Served, name: Name, request: Request) -> Response {
    server.answer(Route::Learn, change(&server, name, request, Action::Learn)).await
}

async fn forget(State(server): Served, name: Name, request: Request) -> Response {
    server.answer(Route::Forget, change(&server, name, request, Action::Forget)).await
}

/// Learns or forgets, and answers when that is on disk.
async fn change(server: &Arc<Server>, name: Name, request: Request, action: Action) -> Answer {
    let hosted = server.model(name)?;
    let (headers, uri, body) = parts(request);
    server.authorize(&headers)?;
    let content = content(&headers)?;
    let given = id_in_header(&headers)?;
    Asked::read(&uri)?;
    let body = server.body(&headers, body).await?;
    let current = hosted.current();
    let frozen = current.frozen.clone();
    let (most_rows, bytes) = (server.options.most_rows, body.len());
    let reads = server.compute(bytes, move || {
        let (id, unknown, body, format) = match content {
            Content::Json => {
                let Ok(frozen) = &frozen else {
                    return Err(Refusal::conflict("the model is empty; let it learn a table, in CSV"));
                };
                let (read, lines) = frozen.lines.of_request(&body, most_rows)?;
                (read.id, read.unknown, lines, Written::Jsonl)
            }
            Content::Table(Format::Arrow) => {
                let why =
                    "rows to learn or to forget come as application/json, application/x-ndjson or text/csv";
                return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
            }
            Content::Table(format) => {
                check_unpacked(&body)?;
                let format = if format == Format::Csv { Written::Csv } else { Written::Jsonl };
                (None, Default::default(), body, format)
            }
        };
        if id.is_some() && given.is_some() {
            return Err(Refusal::malformed("the id is given twice, in the body and as Idempotency-Key"));
        }
        let id = id.or(given);
        check_id(id.as_deref())?;
        let schema = match &frozen {
            Ok(frozen) => frozen.learnt.statistics.schema(),
            Err(why) => return Err(Refusal::conflict(why.to_string())),
        };
        let batches = lines::labelled(body.clone(), format, schema).map_err(of_input)?;
        if batches.iter().any(|batch| batch.classes.missing() > 0) {
            let target = &schema.target;
            return Err(Refusal::unprocessable(format!("a row has no `{target}`, which says its class")));
        }
        let rows = batches.iter().map(|batch| batch.rows as u64).sum();
        let change = Change { what: Described { action, id, rows, format }, body, batches };
        Ok((change, unknown))
    });
    let (change, unknown) = reads.await?;
    let learnt = if action == Action::Learn { change.batches.clone() } else { Vec::new() };
    let done = match hosted.change(change).await {
        None if server.is_ending() => return Err(Refusal::unavailable("the server is being ended")),
        None => return Err(Refusal::too_many("too many changes wait to be written")),
        Some(Err(NotDone::Impossible(why))) => return Err(Refusal::unprocessable(why)),
        Some(Err(NotDone::OtherId(why))) => return Err(Refusal::conflict(why)),
        Some(Err(NotDone::NotRecorded(why))) => return Err(Refusal::unavailable(why)),
        Some(Ok(done)) => done,
    };
    if let (Ok(frozen), false) = (&current.frozen, done.is_repeated) {
        hosted.drift.learnt(frozen, &learnt);
    }
    let word = if action == Action::Learn { "learnt" } else { "forgotten" };
    let mut said = Map::new();
    said.insert("model".into(), hosted.name.as_str().into());
    said.insert(word.into(), done.rows.into());
    said.insert("version".into(), done.version.into());
    said.insert("repeated".into(), done.is_repeated.into());
    if !unknown.is_empty() {
        said.insert("unknown_columns".into(), json!(unknown));
    }
    Ok(refusal::json(StatusCode::OK, &said))
}

/// The id of a request whose body has no place for one.
fn id_in_header(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(id) = headers.get("idempotency-key") else { return Ok(None) };
    let id = id.to_str().map_err(|_| Refusal::malformed("the Idempotency-Key is no text"))?;
    Ok(Some(id.to_owned()))
}

fn check_id(id: Option<&str>) -> Result<(), Refusal> {
    match id {
        Some(id) if id.is_empty() || id.chars().count() > LONGEST_ID => {
            Err(Refusal::malformed(format!("an id has 1 to {LONGEST_ID} characters")))
        }
        _ => Ok(()),
    }
}

async fn roll_back(State(server): Served, name: Name, request: Request) -> Response {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        version: Option<String>,
    }
    let answer = async {
        let hosted = server.model(name)?;
        let (headers, _, body) = parts(request);
        server.authorize(&headers)?;
        if content(&headers)? != Content::Json {
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is application/json"));
        }
        let body = server.body(&headers, body).await?;
        let wanted: Wanted =
            serde_json::from_slice(&body).map_err(|error| Refusal::malformed(error.to_string()))?;
        match hosted.roll_back(wanted.version).await {
            None => Err(Refusal::unavailable("the server is being ended")),
            Some(Err(error @ crate::Error::Contradiction(_))) => Err(Refusal::conflict(error.to_string())),
            Some(Err(error)) => Err(Refusal::unavailable(error.to_string())),
            Some(Ok(version)) => {
                let said = json!({ "model": hosted.name, "version": version });
                Ok(refusal::json(StatusCode::OK, &said))
            }
        }
    };
    server.answer(Route::RollBack, answer).await
}

impl Server {
    fn model(&self, name: Name) -> Result<&Hosted, Refusal> {
        let found = name.ok().and_then(|Path(name)| self.models.get(&name));
        found.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "no such model; /v1/models lists all"))
    }
}

async fn current(model: &Hosted, asked: &Asked) -> Arc<Current> {
    if asked.latest { model.latest().await } else { model.current() }
}

fn frozen(current: &Current) -> Result<&Arc<Frozen>, Refusal> {
    current.frozen.as_ref().map_err(|why| Refusal::conflict(format!("the model cannot answer: {why}")))
}

fn json_bytes(body: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// A question that was read, and the model that answers it.
struct Query {
    name: String,
    headers: HeaderMap,
    content: Content,
    asked: Asked,
    body: Bytes,
    current: Arc<Current>,
}

impl Query {
    async fn read(server: &Arc<Server>, name: Name, request: Request) -> Result<Self, Refusal> {
        let hosted = server.model(name)?;
        let (headers, uri, body) = parts(request);
        let content = content(&headers)?;
        let asked = Asked::read(&uri)?;
        let body = server.body(&headers, body).await?;
        let current = current(hosted, &asked).await;
        Ok(Query { name: hosted.name.clone(), headers, content, asked, body, current })
    }

    /// Answers with what `work` makes of the question.
    async fn answer(
        self,
        server: &Arc<Server>,
        work: impl FnOnce(&Question<'_>) -> Result<Vec<u8>, Refusal> + Send + 'static,
    ) -> Result<Vec<u8>, Refusal> {
        let shared = Arc::clone(server);
        let bytes = self.body.len();
        let answer = move || {
            let hosted = &shared.models[&self.name];
            let question = Question {
                model: &self.name,
                version: &self.current.version,
                frozen: frozen(&self.current)?,
                drift: &hosted.drift,
                most_rows: shared.options.most_rows,
                most_bytes: shared.options.most_bytes,
                probabilities: self.asked.probabilities,
                log_evidence: self.asked.log_evidence,
            };
            work(&question)
        };
        server.compute(bytes, answer).await
    }
}

#[cfg(test)]
mod tests;
