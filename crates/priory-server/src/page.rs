//! What a browser shows.

use std::fmt::Write;

use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::server::Server;

/// A file that belongs to the page.
pub(crate) struct File {
    pub(crate) path: &'static str,
    media_type: &'static str,
    text: &'static str,
}

/// All of them.
pub(crate) const FILES: &[File] = &[
    File { path: "/page.css", media_type: CSS, text: include_str!("../page/page.css") },
    File { path: "/page.js", media_type: SCRIPT, text: include_str!("../page/page.js") },
    File { path: "/form.js", media_type: SCRIPT, text: include_str!("../page/form.js") },
    File { path: "/pictures.js", media_type: SCRIPT, text: include_str!("../page/pictures.js") },
];

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Nothing from elsewhere, no script in the page, and in no other page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the page.
pub(crate) fn file(file: &'static File) -> Response {
    let headers = [
        (header::CONTENT_TYPE, file.media_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, file.text).into_response()
}

/// What stands at `/`: the models, and where to read more about them.
pub(crate) fn start(server: &Server) -> Response {
    let mut rows = String::new();
    for model in server.models.values() {
        let (name, current) = (&model.name, model.current());
        let said = match &current.frozen {
            Err(why) => format!("<td colspan=\"3\">{}", escaped(why)),
            Ok(frozen) => format!(
                "<td>{}<td>{}<td>{}",
                escaped(&frozen.model.schema().target),
                escaped(&frozen.model.classes().join(", ")),
                frozen.learnt.statistics.rows()
            ),
        };
        let version = escaped(&current.version);
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\"><a href=\"/v1/models/{name}\">{name}</a>{said}<td>{version}"
        );
    }
    let page = include_str!("../page/index.html").replace("<!-- models -->", &rows);
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    (headers, page).into_response()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
