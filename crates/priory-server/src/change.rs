//! Rows to be learnt or forgotten, and how a journal records them.

use bytes::Bytes;
use priory::{Batch, Learnt, Schema, Statistics};
use serde::{Deserialize, Serialize};

use crate::lines::{self, Written};

/// What is done with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    /// They are added,
    Learn,
    /// or taken away.
    Forget,
}

/// What a client asked for, ready to be done.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) what: Described,
    /// The rows as they will be recorded.
    pub(crate) body: Bytes,
    pub(crate) batches: Vec<Batch>,
}

/// What is asked for, but for the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Described {
    pub(crate) action: Action,
    /// What the client calls the request, so that it is counted once however often it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) rows: u64,
    pub(crate) format: Written,
}

/// What is known of a request that was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    pub(crate) action: Action,
    pub(crate) rows: u64,
    /// A number that follows from the rows.
    pub(crate) digest: u64,
}

/// A record of the journal: a line of JSON, and rows if there are some.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Record {
    /// Rows were learnt or forgotten.
    Change(Described),
    /// Requests that were counted before this journal began.
    Known(Vec<(String, Known)>),
    /// The model file has this version now.
    Placed(String),
}

impl Record {
    pub(crate) fn to_bytes(&self, body: &[u8]) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("a record can be written as JSON");
        bytes.push(b'\n');
        bytes.extend_from_slice(body);
        bytes
    }

    /// The record and its rows.
    pub(crate) fn read(bytes: &[u8]) -> Result<(Record, &[u8]), String> {
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or("a record without an end")?;
        let record = serde_json::from_slice(&bytes[..end]).map_err(|error| error.to_string())?;
        Ok((record, &bytes[end + 1..]))
    }
}

impl Change {
    /// Reads the rows of a request.
    pub(crate) fn new(what: Described, body: Bytes, schema: &Schema) -> priory_input::Result<Self> {
        let batches = lines::labelled(body.clone(), what.format, schema)?;
        Ok(Change { what, body, batches })
    }

    pub(crate) fn known(&self) -> Known {
        let digest = rapidhash::v3::rapidhash_v3(&self.body);
        Known { action: self.what.action, rows: self.what.rows, digest }
    }

    pub(crate) fn record(&self) -> Vec<u8> {
        Record::Change(self.what.clone()).to_bytes(&self.body)
    }

    /// Does it. If it fails, nothing has changed when rows were to be forgotten; what was to be learnt may be there in part.
    pub(crate) fn apply(&self, learnt: &mut Learnt) -> priory::Result<()> {
        match (self.what.action, self.batches.as_slice()) {
            (Action::Learn, batches) => batches.iter().try_for_each(|batch| learnt.learn(batch)),
            (Action::Forget, [batch]) => learnt.forget(batch),
            (Action::Forget, batches) if learnt.statistics.half_life().is_none() => {
                let mut all: Statistics = learnt.statistics.empty_like();
                batches.iter().try_for_each(|batch| all.observe(batch))?;
                learnt.statistics.subtract(&all)
            }
            (Action::Forget, batches) => batches.iter().try_for_each(|batch| learnt.forget(batch)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let what =
            Described { action: Action::Forget, id: Some("a\nb".into()), rows: 2, format: Written::Csv };
        let bytes = Record::Change(what.clone()).to_bytes(b"x,y\n1,2\n");
        let (record, body) = Record::read(&bytes).unwrap();
        assert!(matches!(record, Record::Change(read) if read == what));
        assert_eq!(body, b"x,y\n1,2\n");
        assert!(Record::read(b"{}").is_err() && Record::read(b"x\n").is_err());
    }
}
