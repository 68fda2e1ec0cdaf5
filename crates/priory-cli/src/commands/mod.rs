//! One file for each command; each reads like the line that data take.

pub(crate) mod completions;
pub(crate) mod decide;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod features;
pub(crate) mod forget;
pub(crate) mod judge;
pub(crate) mod learn;
pub(crate) mod mail;
pub(crate) mod manual;
pub(crate) mod merge;
pub(crate) mod plot;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod schema;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod sql;
pub(crate) mod train;
