//! Bytes to batches.
