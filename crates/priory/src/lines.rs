//! A table of numbers in which every row fills whole cache lines, so that fetching a row in random order loads nothing
//! else.

/// How many f64 fit into a cache line of 64 bytes.
pub(crate) const LANES: usize = 8;

/// One cache line of numbers.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [f64; LANES]);

impl Line {
    /// Adds `times` the other line.
    #[inline(always)]
    pub(crate) fn add(&mut self, times: f64, line: &Line) {
        self.0.iter_mut().zip(line.0).for_each(|(sum, x)| *sum += times * x);
    }
}

/// Rows of the same number of cache lines, padded with zeros.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    rows: usize,
    width: usize,
}

impl Lines {
    /// A table of zeros, with this many numbers in each row.
    pub(crate) fn new(rows: usize, numbers: usize) -> Self {
        let width = lines_for(numbers);
        Lines { lines: vec![Line::default(); rows * width], rows, width }
    }

    /// A table without rows that has memory reserved for this many.
    pub(crate) fn with_room(rows: usize, numbers: usize) -> Self {
        let width = lines_for(numbers);
        Lines { lines: Vec::with_capacity(rows * width), rows: 0, width }
    }

    /// Appends a row of zeros. It is best filled at once, while it is in the cache.
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

    /// All rows, whose width must be `WIDTH`. With the width known to the compiler, finding a row takes no
    /// multiplication and loops over its lines are unrolled.
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

/// How many cache lines this many numbers take.
pub(crate) fn lines_for(numbers: usize) -> usize {
    numbers.div_ceil(LANES)
}
