//! Model files on disk.
