//! What was asked and how long it took, and what is known of each model, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;

use crate::held;
use crate::hosted::Hosted;

/// The upper ends of the classes of durations, in seconds.
const SECONDS: [f64; 12] = [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 1e-1, 5e-1, 2.5, 10.0];

/// What is asked for, as metrics call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Route {
    Page,
    Health,
    Ready,
    Metrics,
    OpenApi,
    Models,
    Model,
    Versions,
    Predict,
    Explain,
    Evaluate,
    Learn,
    Forget,
    RollBack,
    Other,
}

impl Route {
    const COUNT: usize = Route::Other as usize + 1;

    const ALL: [Route; Route::COUNT] = [
        Route::Page,
        Route::Health,
        Route::Ready,
        Route::Metrics,
        Route::OpenApi,
        Route::Models,
        Route::Model,
        Route::Versions,
        Route::Predict,
        Route::Explain,
        Route::Evaluate,
        Route::Learn,
        Route::Forget,
        Route::RollBack,
        Route::Other,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Route::Page => "page",
            Route::Health => "healthz",
            Route::Ready => "readyz",
            Route::Metrics => "metrics",
            Route::OpenApi => "openapi",
            Route::Models => "models",
            Route::Model => "model",
            Route::Versions => "versions",
            Route::Predict => "predict",
            Route::Explain => "explain",
            Route::Evaluate => "evaluate",
            Route::Learn => "learn",
            Route::Forget => "forget",
            Route::RollBack => "rollback",
            Route::Other => "other",
        }
    }
}

/// Sums since the server was started.
#[derive(Default)]
pub(crate) struct Metrics {
    routes: [OfRoute; Route::COUNT],
    /// Answers other than 200, by route and status.
    others: Mutex<BTreeMap<(Route, u16), u64>>,
    pub(crate) refused_connections: AtomicU64,
    pub(crate) open_connections: AtomicU64,
}

#[derive(Default)]
struct OfRoute {
    ok: AtomicU64,
    nanoseconds: AtomicU64,
    durations: [AtomicU64; SECONDS.len() + 1],
}

impl Metrics {
    /// Counts an answer.
    pub(crate) fn answered(&self, route: Route, status: StatusCode, duration: Duration) {
        let of_route = &self.routes[route as usize];
        match status {
            StatusCode::OK => {
                of_route.ok.fetch_add(1, Ordering::Relaxed);
            }
            status => *held(&self.others).entry((route, status.as_u16())).or_default() += 1,
        }
        let seconds = duration.as_secs_f64();
        let class = SECONDS.partition_point(|&end| end < seconds);
        of_route.durations[class].fetch_add(1, Ordering::Relaxed);
        of_route.nanoseconds.fetch_add(duration.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Everything as text.
    pub(crate) fn to_text<'a>(&self, models: impl Iterator<Item = &'a Hosted> + Clone) -> String {
        let mut page = Page::default();
        self.requests(&mut page);
        for of_models in [about_rows, about_learning, about_columns, about_files] {
            of_models(&mut page, &mut models.clone());
        }
        page.text
    }

    fn requests(&self, page: &mut Page) {
        let loaded = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        page.family("priory_requests_total", "counter", "Requests answered, by route and status.");
        let others = held(&self.others).clone();
        for route in Route::ALL {
            let ok = loaded(&self.routes[route as usize].ok);
            if ok > 0 {
                page.line("", &[("route", route.name()), ("status", "200")], ok as f64);
            }
        }
        for ((route, status), count) in others {
            page.line("", &[("route", route.name()), ("status", &status.to_string())], count as f64);
        }
        page.family("priory_request_seconds", "histogram", "How long answers took.");
        for route in Route::ALL {
            let of_route = &self.routes[route as usize];
            let mut sum = 0;
            let counts: Vec<u64> = of_route.durations.iter().map(loaded).collect();
            if counts.iter().all(|&count| count == 0) {
                continue;
            }
            let ends = SECONDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
            for (end, count) in ends.zip(counts) {
                sum += count;
                page.line("_bucket", &[("route", route.name()), ("le", &end)], sum as f64);
            }
            let seconds = loaded(&of_route.nanoseconds) as f64 / 1e9;
            page.line("_sum", &[("route", route.name())], seconds);
            page.line("_count", &[("route", route.name())], sum as f64);
        }
        page.family("priory_connections", "gauge", "Connections that are open.");
        page.line("", &[], loaded(&self.open_connections) as f64);
        page.family(
            "priory_refused_connections_total",
            "counter",
            "Connections refused because there were too many.",
        );
        page.line("", &[], loaded(&self.refused_connections) as f64);
    }
}

type Models<'m, 'a> = dyn Iterator<Item = &'a Hosted> + 'm;

fn about_rows(page: &mut Page, models: &mut Models<'_, '_>) {
    let all: Vec<_> = models.map(|model| (model.name.as_str(), model.drift.seen())).collect();
    let mut of = |name: &str, help: &str, value: &dyn Fn(&crate::drift::Seen) -> f64| {
        page.family(name, "counter", help);
        all.iter().for_each(|(model, seen)| page.line("", &[("model", model)], value(seen)));
    };
    of("priory_rows_scored_total", "Rows that were scored.", &|seen| seen.rows as f64);
    of("priory_rows_without_evidence_total", "Rows of which nothing was known.", &|seen| {
        seen.without_evidence as f64
    });
    of("priory_rows_impossible_total", "Rows that every class calls impossible.", &|seen| {
        seen.impossible as f64
    });
    of("priory_unseen_tokens_total", "Tokens of documents that were never met in training.", &|seen| {
        seen.unseen_tokens as f64
    });
    of("priory_unknown_columns_total", "Values of columns that the model does not have.", &|seen| {
        seen.unknown_columns as f64
    });
    page.family("priory_log_evidence", "summary", "log P(x) of rows that were scored.");
    for (model, seen) in &all {
        page.line("_sum", &[("model", model)], seen.log_evidence.sum);
        page.line("_count", &[("model", model)], seen.log_evidence.count as f64);
    }
    page.family("priory_predictions_total", "counter", "Rows by the class that was answered.");
    for (model, seen) in &all {
        for (class, rows) in &seen.answers {
            page.line("", &[("model", model), ("class", class)], *rows as f64);
        }
    }
}

fn about_learning(page: &mut Page, models: &mut Models<'_, '_>) {
    let all: Vec<_> = models.map(|model| (model.name.as_str(), model.drift.seen().learnt)).collect();
    let mut of = |name: &str,
                  kind: &str,
                  help: &str,
                  lines: &dyn Fn(&crate::drift::Learnt) -> Vec<(&'static str, f64)>| {
        page.family(name, kind, help);
        for (model, learnt) in &all {
            for (suffix, value) in lines(learnt) {
                page.line(suffix, &[("model", model)], value);
            }
        }
    };
    of("priory_learnt_rows_total", "counter", "Rows that were learnt.", &|learnt| {
        vec![("", learnt.rows as f64)]
    });
    of(
        "priory_learnt_rows_judged_total",
        "counter",
        "Rows that were predicted before they were learnt, by a model that knew their class.",
        &|learnt| vec![("", learnt.judged as f64)],
    );
    of(
        "priory_learnt_rows_correct_total",
        "counter",
        "Rows that were predicted rightly before they were learnt.",
        &|learnt| vec![("", learnt.correct as f64)],
    );
    of("priory_learnt_log_loss", "summary", "-log P(class) of rows before they were learnt.", &|learnt| {
        vec![("_sum", learnt.log_loss.sum), ("_count", learnt.log_loss.count as f64)]
    });
    of("priory_learnt_log_evidence", "summary", "log P(x) of rows before they were learnt.", &|learnt| {
        vec![("_sum", learnt.log_evidence.sum), ("_count", learnt.log_evidence.count as f64)]
    });
}

fn about_columns(page: &mut Page, models: &mut Models<'_, '_>) {
    let all: Vec<_> = models.map(|model| (model.name.as_str(), model.drift.seen())).collect();
    let mut of = |name: &str, help: &str, value: &dyn Fn(&crate::drift::OfColumn) -> u64| {
        page.family(name, "counter", help);
        for (model, seen) in &all {
            for column in &seen.columns {
                page.line("", &[("model", model), ("column", &column.name)], value(column) as f64);
            }
        }
    };
    of("priory_missing_values_total", "Values that were missing, by column.", &|column| column.missing);
    of("priory_unseen_values_total", "Values that were never met in training, by column.", &|column| {
        column.unseen
    });
}

fn about_files(page: &mut Page, models: &mut Models<'_, '_>) {
    let all: Vec<&Hosted> = models.collect();
    let loaded = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
    let mut of = |name: &str, kind: &str, help: &str, value: &dyn Fn(&Hosted) -> Option<f64>| {
        page.family(name, kind, help);
        for model in &all {
            if let Some(value) = value(model) {
                page.line("", &[("model", &model.name)], value);
            }
        }
    };
    of("priory_journal_changes", "gauge", "Changes that the model file does not have yet.", &|model| {
        model.journal().map(|(changes, _)| changes as f64)
    });
    of("priory_journal_bytes", "gauge", "The size of the journal.", &|model| {
        model.journal().map(|(_, bytes)| bytes as f64)
    });
    of("priory_journal_syncs_total", "counter", "Groups of changes that were written to disk.", &|model| {
        Some(loaded(&model.counters().commits))
    });
    of("priory_model_files_written_total", "counter", "Model files that were written.", &|model| {
        Some(loaded(&model.counters().files_written))
    });
    of("priory_model_files_loaded_total", "counter", "Model files that others put in the place.", &|model| {
        Some(loaded(&model.counters().reloads))
    });
    of("priory_model_files_refused_total", "counter", "Such files that were refused.", &|model| {
        Some(loaded(&model.counters().refused_files))
    });
    of("priory_rows", "gauge", "Rows that a model has learnt.", &|model| {
        let current = model.current();
        let frozen = current.frozen.as_ref().ok()?;
        Some(frozen.learnt.statistics.rows() as f64)
    });
}

/// The text that Prometheus reads.
#[derive(Default)]
struct Page {
    text: String,
    name: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.name = name.to_owned();
        self.write(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        let name = self.name.clone();
        self.write(format_args!("{name}{suffix}"));
        for (i, (label, value)) in labels.iter().enumerate() {
            let open = if i == 0 { '{' } else { ',' };
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            self.write(format_args!("{open}{label}=\"{escaped}\""));
        }
        let close = if labels.is_empty() { "" } else { "}" };
        self.write(format_args!("{close} {value}\n"));
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("memory takes everything");
    }
}
