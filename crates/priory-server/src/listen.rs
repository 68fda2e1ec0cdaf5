//! Connections: as many as are allowed, each cut off when it is slow, and all of them ended in peace when the process is told to end.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, Sleep, sleep};

use crate::log::{Level, log};
use crate::routes::app;
use crate::server::Server;

/// The line and the headers of a request together are no longer.
const MOST_HEAD: usize = 64 << 10;
/// How many headers a request has at most.
const MOST_HEADERS: usize = 64;
/// How long requests may go on after the process was told to end.
const GRACE: Duration = Duration::from_secs(10);

/// Listens until the process is told to end by SIGTERM or SIGINT; then answers what has come, writes model files, and returns.
/// `ready` is told the address.
///
/// # Errors
/// If nothing can be listened to there.
pub fn serve(server: Arc<Server>, address: SocketAddr, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(server.threads)
        .enable_io()
        .enable_time()
        .build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        let ending = told_to_end()?;
        ready(listener.local_addr()?);
        listen(&server, listener, ending).await;
        Ok(())
    });
    // Threads that still compute are not waited for.
    runtime.shutdown_timeout(Duration::from_secs(1));
    server.close();
    served
}

/// Waits for the signal that ends the process.
#[cfg(unix)]
fn told_to_end() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        std::future::poll_fn(|context| {
            if terminate.poll_recv(context).is_ready() {
                Poll::Ready(())
            } else {
                interrupt.poll_recv(context).map(|_| ())
            }
        })
        .await;
    })
}

#[cfg(not(unix))]
fn told_to_end() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// Takes connections until it is time to end, and then waits for those that there are.
async fn listen(server: &Arc<Server>, listener: TcpListener, ending: impl Future<Output = ()>) {
    let router = app(Arc::clone(server));
    let connections = Arc::new(Semaphore::new(server.options.most_connections));
    let (end, ended) = watch::channel(false);
    let mut ending = std::pin::pin!(ending);
    loop {
        let accept = std::pin::pin!(listener.accept());
        let accepted = match first(ending.as_mut(), accept).await {
            First::Left(()) => break,
            First::Right(accepted) => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Too many open files, mostly: they become fewer.
                log(Level::Warn, "a connection cannot be accepted", &[("why", &error.to_string())]);
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else {
            server.metrics.refused_connections.fetch_add(1, Ordering::Relaxed);
            refuse(&stream);
            continue;
        };
        let (server, router, ended) = (Arc::clone(server), router.clone(), ended.clone());
        tokio::spawn(async move {
            server.metrics.open_connections.fetch_add(1, Ordering::Relaxed);
            converse(stream, router, server.options.timeout, ended).await;
            server.metrics.open_connections.fetch_sub(1, Ordering::Relaxed);
            drop(permit);
        });
    }
    drop(listener);
    log(Level::Info, "told to end", &[]);
    server.end();
    end.send_replace(true);
    let all = u32::try_from(server.options.most_connections).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(GRACE, connections.acquire_many(all)).await;
}

/// Says that there are too many, without waiting for whoever asks.
fn refuse(stream: &TcpStream) {
    const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let _ = stream.try_write(FULL);
}

/// Answers the requests of one connection.
async fn converse(stream: TcpStream, router: Router, timeout: Duration, mut ended: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let router = router.clone();
        async move { Ok::<_, Infallible>(call(router, request.map(Body::new)).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeout)
        .max_buf_size(MOST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(Patient::new(stream, timeout)), service);
    let mut connection = std::pin::pin!(connection);
    let told = async {
        let _ = ended.wait_for(|ended| *ended).await;
    };
    let told = std::pin::pin!(told);
    // What goes wrong on a connection is told to nobody: the one who would want to know is gone.
    if let First::Left(()) = first(told, connection.as_mut()).await {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}

async fn call(mut router: Router, request: Request) -> axum::response::Response {
    use axum::response::IntoResponse;
    use tower_service::Service;
    // A router is always ready.
    match router.call(request).await {
        Ok(response) => response,
        Err(never) => never.into_response(),
    }
}

enum First<A, B> {
    Left(A),
    Right(B),
}

/// What the first of two futures that is ready gives.
async fn first<A, B>(
    mut left: Pin<&mut impl Future<Output = A>>,
    mut right: Pin<&mut impl Future<Output = B>>,
) -> First<A, B> {
    std::future::poll_fn(|context| {
        if let Poll::Ready(value) = left.as_mut().poll(context) {
            return Poll::Ready(First::Left(value));
        }
        right.as_mut().poll(context).map(First::Right)
    })
    .await
}

/// A connection that fails when nothing of an answer can be sent for too long: whoever asks does not read it.
struct Patient {
    stream: TcpStream,
    patience: Duration,
    /// Until when it waits, if it does.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Patient { stream, patience, waiting: None }
    }

    fn bounded<R>(&mut self, context: &mut Context<'_>, sent: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if sent.is_ready() {
            self.waiting = None;
            return sent;
        }
        let until = Instant::now() + self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.bounded(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
