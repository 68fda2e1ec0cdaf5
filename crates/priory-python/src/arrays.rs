//! NumPy's arrays as blocks of f64, whatever their type and order.

use std::ops::Range;
use std::sync::Arc;

use numpy::ndarray::{ArrayView1, ArrayView2, s};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use priory::matrix::{self, CountSums, Index, InvalidEntry, LinearScores, SparseRow, SparseRows};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::work::Blocks;

macro_rules! numbers {
    ($($variant:ident $type:ty;)*) => {
        /// A matrix of a type that is read as it is.
        pub(crate) enum Dense<'py> {
            $($variant(PyReadonlyArray2<'py, $type>),)*
        }

        /// What threads share of it.
        #[derive(Clone, Copy)]
        pub(crate) enum DenseView<'a> {
            $($variant(ArrayView2<'a, $type>),)*
        }

        /// A row of numbers of a type that is read as it is.
        pub(crate) enum Numbers<'py> {
            $($variant(PyReadonlyArray1<'py, $type>),)*
        }

        #[derive(Clone, Copy)]
        pub(crate) enum NumbersView<'a> {
            $($variant(ArrayView1<'a, $type>),)*
        }

        impl<'a, 'py> FromPyObject<'a, 'py> for Dense<'py> {
            type Error = PyErr;

            fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
                $(if let Ok(array) = object.extract::<PyReadonlyArray2<'py, $type>>() {
                    return Ok(Dense::$variant(array));
                })*
                Err(PyTypeError::new_err("expected a matrix of numbers"))
            }
        }

        impl<'a, 'py> FromPyObject<'a, 'py> for Numbers<'py> {
            type Error = PyErr;

            fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
                $(if let Ok(array) = object.extract::<PyReadonlyArray1<'py, $type>>() {
                    return Ok(Numbers::$variant(array));
                })*
                Err(PyTypeError::new_err("expected an array of numbers"))
            }
        }

        impl Dense<'_> {
            pub(crate) fn view(&self) -> DenseView<'_> {
                match self { $(Dense::$variant(array) => DenseView::$variant(array.as_array()),)* }
            }
        }

        impl Numbers<'_> {
            pub(crate) fn view(&self) -> NumbersView<'_> {
                match self { $(Numbers::$variant(array) => NumbersView::$variant(array.as_array()),)* }
            }
        }

        impl DenseView<'_> {
            pub(crate) fn shape(&self) -> (usize, usize) {
                match self { $(DenseView::$variant(array) => array.dim(),)* }
            }

            fn copy(&self, rows: Range<usize>, buffer: &mut Vec<f64>) {
                match self { $(DenseView::$variant(array) => copy(array, rows, buffer, 0.0, Element::number),)* }
            }

            /// Some rows as codes, column after column; [`NO_CODE`] is what is none.
            pub(crate) fn codes<'b>(&self, rows: Range<usize>, buffer: &'b mut Vec<u32>) -> &'b [u32] {
                match self {
                    $(DenseView::$variant(array) => {
                        let (columns, turned) = (0..array.ncols(), array.t());
                        // What is turned has its rows where the columns were.
                        copy(&turned.slice(s![.., rows]), columns, buffer, 0, Element::code);
                    })*
                }
                buffer
            }
        }

        impl NumbersView<'_> {
            pub(crate) fn len(&self) -> usize {
                match self { $(NumbersView::$variant(array) => array.len(),)* }
            }

            fn append(&self, range: Range<usize>, buffer: &mut Vec<f64>) {
                match self {
                    $(NumbersView::$variant(array) => match array.as_slice() {
                        Some(values) => buffer.extend(values[range].iter().map(|x| x.number())),
                        None => buffer.extend(range.map(|i| array[i].number())),
                    },)*
                }
            }
        }
    };
}

numbers! {
    F64 f64;
    F32 f32;
    I64 i64;
    I32 i32;
    I16 i16;
    I8 i8;
    U64 u64;
    U32 u32;
    U16 u16;
    U8 u8;
    Bool bool;
}

/// What is not a whole number of zero or more that fits into 31 bits.
pub(crate) const NO_CODE: u32 = u32::MAX;

/// What an array may hold.
trait Element: Copy {
    fn number(self) -> f64;

    fn code(self) -> u32 {
        let number = self.number();
        let code = number as u32;
        if f64::from(code) == number && code <= i32::MAX as u32 { code } else { NO_CODE }
    }
}

macro_rules! elements {
    ($($type:ty)*) => {
        $(impl Element for $type {
            fn number(self) -> f64 {
                self as f64
            }
        })*
    };
}

elements! { f64 f32 i64 i16 i8 u64 u32 u16 u8 }

impl Element for i32 {
    fn number(self) -> f64 {
        f64::from(self)
    }

    fn code(self) -> u32 {
        // A negative one is larger than every code.
        if self < 0 { NO_CODE } else { self as u32 }
    }
}

impl Element for bool {
    fn number(self) -> f64 {
        f64::from(u8::from(self))
    }
}

impl<'a> DenseView<'a> {
    /// Whether rows can be lent without a copy.
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self, DenseView::F64(array) if array.is_standard_layout())
    }

    /// Some rows, one after the other; copied to the buffer if that is not how they lie.
    pub(crate) fn block<'b>(&'b self, rows: Range<usize>, buffer: &'b mut Vec<f64>) -> &'b [f64] {
        let columns = self.shape().1;
        if let DenseView::F64(array) = self
            && let Some(values) = array.as_slice()
        {
            return &values[rows.start * columns..rows.end * columns];
        }
        self.copy(rows, buffer);
        buffer
    }

    /// The same, as a copy in any case.
    pub(crate) fn copied<'b>(&self, rows: Range<usize>, buffer: &'b mut Vec<f64>) -> &'b mut [f64] {
        self.copy(rows, buffer);
        buffer
    }
}

/// Copies rows; along the columns, if that is how they lie in memory.
fn copy<T: Copy, U: Copy>(
    array: &ArrayView2<'_, T>,
    rows: Range<usize>,
    buffer: &mut Vec<U>,
    zero: U,
    convert: impl Fn(T) -> U,
) {
    buffer.clear();
    let columns = array.ncols();
    if let Some(values) = array.as_slice() {
        buffer.extend(values[rows.start * columns..rows.end * columns].iter().map(|&x| convert(x)));
    } else if array.strides()[0].abs() >= array.strides()[1].abs() {
        rows.for_each(|row| buffer.extend(array.row(row).iter().map(|&x| convert(x))));
    } else {
        buffer.resize(rows.len() * columns, zero);
        for column in 0..columns {
            let values = rows.clone().map(|row| convert(array[[row, column]]));
            values.zip(buffer[column..].iter_mut().step_by(columns)).for_each(|(x, to)| *to = x);
        }
    }
}

/// Indices of a sparse matrix, in either of the types that SciPy gives them.
#[derive(FromPyObject)]
pub(crate) enum Indices<'py> {
    #[pyo3(transparent)]
    I32(PyReadonlyArray1<'py, i32>),
    #[pyo3(transparent)]
    I64(PyReadonlyArray1<'py, i64>),
}

#[derive(Clone, Copy)]
enum IndicesView<'a> {
    I32(&'a [i32]),
    I64(&'a [i64]),
}

impl Indices<'_> {
    fn view(&self) -> PyResult<IndicesView<'_>> {
        let apart = |_| PyValueError::new_err("the indices of a sparse matrix lie apart in memory");
        Ok(match self {
            Indices::I32(array) => IndicesView::I32(array.as_slice().map_err(apart)?),
            Indices::I64(array) => IndicesView::I64(array.as_slice().map_err(apart)?),
        })
    }
}

impl IndicesView<'_> {
    fn len(&self) -> usize {
        match self {
            IndicesView::I32(indices) => indices.len(),
            IndicesView::I64(indices) => indices.len(),
        }
    }

    /// Where rows begin; what is negative is larger than everything.
    fn starts(&self) -> Arc<[usize]> {
        match self {
            IndicesView::I32(indices) => {
                indices.iter().map(|&start| usize::try_from(start).unwrap_or(usize::MAX)).collect()
            }
            IndicesView::I64(indices) => {
                indices.iter().map(|&start| usize::try_from(start).unwrap_or(usize::MAX)).collect()
            }
        }
    }
}

/// A matrix in compressed rows, as Python hands it over: `(indptr, indices, data, columns)`.
#[derive(FromPyObject)]
pub(crate) struct Csr<'py>(Indices<'py>, Indices<'py>, Numbers<'py>, usize);

/// What threads share of it. Checked when it is made, but for the columns of entries.
pub(crate) struct CsrView<'a> {
    starts: Arc<[usize]>,
    indices: IndicesView<'a>,
    values: NumbersView<'a>,
    pub(crate) columns: usize,
}

impl Csr<'_> {
    pub(crate) fn view(&self) -> PyResult<CsrView<'_>> {
        self.view_from(self.starts()?)
    }

    /// Where the rows begin, checked, and one more for the end of the last. Whoever looks at a matrix again and again takes
    /// these only once.
    pub(crate) fn starts(&self) -> PyResult<Arc<[usize]>> {
        let starts = self.0.view()?.starts();
        if starts.is_empty() || !starts.is_sorted() {
            return Err(contradiction());
        }
        Ok(starts)
    }

    /// The matrix whose rows begin here, as [`starts`](Self::starts) said.
    pub(crate) fn view_from(&self, starts: Arc<[usize]>) -> PyResult<CsrView<'_>> {
        let Csr(_, indices, values, columns) = self;
        let (indices, values) = (indices.view()?, values.view());
        if *columns >= u32::MAX as usize {
            return Err(PyValueError::new_err("the sparse matrix has too many columns"));
        }
        let agree = starts.last().is_some_and(|&last| last <= indices.len()) && indices.len() <= values.len();
        if !agree {
            return Err(contradiction());
        }
        Ok(CsrView { starts, indices, values, columns: *columns })
    }
}

fn contradiction() -> PyErr {
    PyValueError::new_err("the sparse matrix contradicts itself")
}

impl CsrView<'_> {
    pub(crate) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many entries there are.
    pub(crate) fn entries(&self) -> usize {
        self.starts[self.rows()] - self.starts[0]
    }

    /// Blocks of rows with about this many entries each.
    pub(crate) fn blocks(&self, entries: usize) -> Blocks {
        let per_row = self.entries() / self.rows().max(1);
        Blocks::new(self.rows(), per_row, entries)
    }

    /// A row; if a threshold is given, one where an entry is larger and else zero. Lent if it can be, else copied to the
    /// buffer.
    pub(crate) fn row<'b>(
        &'b self,
        row: usize,
        threshold: Option<f64>,
        buffer: &'b mut Vec<f64>,
    ) -> CsrRow<'b> {
        let entries = self.starts[row]..self.starts[row + 1];
        self.with_columns(entries.clone(), self.values(entries, threshold, buffer))
    }

    /// Writes the scores of some rows; threshold and buffer as above.
    pub(crate) fn score(
        &self,
        rows: Range<usize>,
        threshold: Option<f64>,
        buffer: &mut Vec<f64>,
        weights: &LinearScores,
        scores: &mut [f64],
    ) -> Result<(), InvalidEntry> {
        let starts = &self.starts[rows.start..=rows.end];
        let entries = starts[0]..starts[rows.len()];
        let values = self.values(entries.clone(), threshold, buffer);
        match self.indices {
            IndicesView::I32(indices) => {
                weights.score_sparse(SparseRows { starts, columns: &indices[entries], values }, scores)
            }
            IndicesView::I64(indices) => {
                weights.score_sparse(SparseRows { starts, columns: &indices[entries], values }, scores)
            }
        }
    }

    fn values<'b>(
        &'b self,
        entries: Range<usize>,
        threshold: Option<f64>,
        buffer: &'b mut Vec<f64>,
    ) -> &'b [f64] {
        if threshold.is_none()
            && let Some(values) = self.lent(entries.clone())
        {
            return values;
        }
        buffer.clear();
        self.values.append(entries, buffer);
        if let Some(threshold) = threshold {
            buffer.iter_mut().for_each(|x| *x = matrix::above(*x, threshold));
        }
        buffer
    }

    /// Asks the memory for a row that is needed soon.
    pub(crate) fn ask(&self, row: usize) {
        let entries = self.starts[row]..self.starts[row + 1];
        match self.with_columns(entries.clone(), self.lent(entries).unwrap_or(&[])) {
            CsrRow::I32(row) => row.ask(),
            CsrRow::I64(row) => row.ask(),
        }
    }

    fn lent(&self, entries: Range<usize>) -> Option<&[f64]> {
        match &self.values {
            NumbersView::F64(values) => values.to_slice().map(|values| &values[entries]),
            _ => None,
        }
    }

    fn with_columns<'b>(&'b self, entries: Range<usize>, values: &'b [f64]) -> CsrRow<'b> {
        match self.indices {
            IndicesView::I32(indices) => CsrRow::I32(SparseRow { columns: &indices[entries], values }),
            IndicesView::I64(indices) => CsrRow::I64(SparseRow { columns: &indices[entries], values }),
        }
    }
}

/// A row of a sparse matrix.
pub(crate) enum CsrRow<'a> {
    I32(SparseRow<'a, i32>),
    I64(SparseRow<'a, i64>),
}

impl CsrRow<'_> {
    pub(crate) fn observe(
        self,
        sums: &mut CountSums,
        class: u32,
        weight: Option<f64>,
        negative_allowed: bool,
    ) -> Result<(), InvalidEntry> {
        match self {
            CsrRow::I32(row) => sums.observe_sparse(row, class, weight, negative_allowed),
            CsrRow::I64(row) => sums.observe_sparse(row, class, weight, negative_allowed),
        }
    }

    /// Column and number of every entry.
    pub(crate) fn entries(self) -> Vec<(usize, f64)> {
        fn entries<I: Index>(row: SparseRow<'_, I>) -> Vec<(usize, f64)> {
            row.columns.iter().map(|column| column.column()).zip(row.values.iter().copied()).collect()
        }
        match self {
            CsrRow::I32(row) => entries(row),
            CsrRow::I64(row) => entries(row),
        }
    }
}
