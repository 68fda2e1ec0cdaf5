//! The Rust half of the Python package: arrays and Arrow streams in, arrays out. What is computed is computed in `priory`.
//!
//! Python's lock is released while rows are worked on. Ctrl-C is looked for between blocks of rows.

mod answers;
mod arrays;
mod choices;
mod counts;
mod error;
mod evaluate;
mod few;
mod interrupt;
mod matrix;
mod model;
mod parts;
mod scores;
mod shared;
mod sheet;
mod table;
mod work;

use pyo3::prelude::*;

/// `priory._priory`, which the Python half wraps.
#[pymodule(gil_used = false)]
mod _priory {
    #[pymodule_export]
    use crate::choices::choice_names;
    #[pymodule_export]
    use crate::counts::{Counts, Queries};
    #[pymodule_export]
    use crate::evaluate::evaluate;
    #[pymodule_export]
    use crate::few::FewRows;
    #[pymodule_export]
    use crate::matrix::{
        CodeSums, CountSums, CovarianceSums, GaussianSums, NegativeError, NotFiniteError, code_logs, encode,
    };
    #[pymodule_export]
    use crate::model::{Learnt, Snapshot, write_text};
    #[pymodule_export]
    use crate::parts::{
        PartSum, columns_of_part, evaluate_part, learn_first_part, learn_part, merge_evaluations,
        report_of_evaluations, schema_of,
    };
    #[pymodule_export]
    use crate::scores::{CodeScorer, GaussianScorer, LinearScorer};
    #[pymodule_export]
    use crate::sheet::read_sheet;
    #[pymodule_export]
    use crate::table::{Column, PyTable};
    #[pymodule_export]
    use crate::work::{set_threads, threads};

    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "that is what Python calls it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
