//! What is answered when a request is refused: a status, and a sentence as JSON.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Why a request is refused.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) why: String,
    /// After how many seconds it may be worth asking again.
    retry_after: Option<u32>,
}

#[derive(Serialize)]
struct Said<'a> {
    error: &'a str,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Refusal { status, why: why.into(), retry_after: None }
    }

    /// The request is not written as it should be.
    pub(crate) fn malformed(why: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, why)
    }

    /// The request is well written, and what it says cannot be.
    pub(crate) fn unprocessable(why: impl Into<String>) -> Self {
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, why)
    }

    /// There is too much of it.
    pub(crate) fn too_large(why: impl Into<String>) -> Self {
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
    }

    /// It does not fit the state of the model.
    pub(crate) fn conflict(why: impl Into<String>) -> Self {
        Refusal::new(StatusCode::CONFLICT, why)
    }

    /// Not now.
    pub(crate) fn unavailable(why: impl Into<String>) -> Self {
        Refusal { retry_after: Some(1), ..Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why) }
    }

    /// Too much at once.
    pub(crate) fn too_many(why: impl Into<String>) -> Self {
        Refusal { retry_after: Some(1), ..Refusal::new(StatusCode::TOO_MANY_REQUESTS, why) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = json(self.status, &Said { error: &self.why });
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let bytes = serde_json::to_vec(body).expect("what is answered can be written as JSON");
    (status, [(header::CONTENT_TYPE, "application/json")], bytes).into_response()
}
