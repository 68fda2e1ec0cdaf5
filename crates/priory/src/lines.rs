//! A table whose rows are whole lines of the cache: for numbers that are needed together, in no order of the rows.

/// So many numbers the memory delivers at once.
pub(crate) const LANES: usize = 8;

/// These numbers.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [f64; LANES]);

impl Line {
    /// Adds a multiple of other numbers.
    #[inline(always)]
    pub(crate) fn add(&mut self, times: f64, line: &Line) {
        self.0.iter_mut().zip(line.0).for_each(|(sum, x)| *sum += times * x);
    }
}

/// Rows of the same number of lines; what is left over at their ends is zero.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    rows: usize,
    width: usize,
}

impl Lines {
    /// So many rows of so many zeros.
    pub(crate) fn new(rows: usize, numbers: usize) -> Self {
        let width = lines_for(numbers);
        Lines { lines: vec![Line::default(); rows * width], rows, width }
    }

    /// No rows yet, but room for so many.
    pub(crate) fn with_room(rows: usize, numbers: usize) -> Self {
        let width = lines_for(numbers);
        Lines { lines: Vec::with_capacity(rows * width), rows: 0, width }
    }

    /// Appends a row of zeros, to be set while it is near.
    #[inline]
    pub(crate) fn push(&mut self) {
        self.rows += 1;
        self.lines.resize(self.rows * self.width, Line::default());
    }

    /// How many rows there are.
    #[inline(always)]
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// How many lines a row has.
    #[inline(always)]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> &[Line] {
        &self.lines[row * self.width..][..self.width]
    }

    /// All rows, if they have so many lines: then where one begins takes no multiplication, and how many lines are to be
    /// read is known beforehand.
    #[inline(always)]
    pub(crate) fn of_width<const WIDTH: usize>(&self) -> &[[Line; WIDTH]] {
        assert_eq!(self.width, WIDTH);
        self.lines.as_chunks().0
    }

    #[inline]
    pub(crate) fn get(&self, row: usize, i: usize) -> f64 {
        self.row(row)[i / LANES].0[i % LANES]
    }

    #[inline]
    pub(crate) fn set(&mut self, row: usize, i: usize, x: f64) {
        self.lines[row * self.width + i / LANES].0[i % LANES] = x;
    }
}

/// How many lines so many numbers take.
pub(crate) fn lines_for(numbers: usize) -> usize {
    numbers.div_ceil(LANES)
}
