//! Labels that are whole numbers, turned into codes; and rows in the order of their codes.

/// The different labels in ascending order, and for each label where it is among them; `None` if they lie so far
/// apart that sorting is the better way.
///
/// ```
/// let (labels, codes) = priory::matrix::encode(&[7, -1, 7]).unwrap();
/// assert_eq!((labels, codes), (vec![-1, 7], vec![1, 0, 1]));
/// ```
pub fn encode(labels: &[i64]) -> Option<(Vec<i64>, Vec<u32>)> {
    const WIDEST: i64 = 1 << 20;
    let (Some(&least), Some(&most)) = (labels.iter().min(), labels.iter().max()) else {
        return Some((Vec::new(), Vec::new()));
    };
    let width = most.checked_sub(least).filter(|&width| width < WIDEST)? as usize + 1;
    let mut code_of = vec![u32::MAX; width];
    labels.iter().for_each(|&label| code_of[(label - least) as usize] = 0);
    let mut found = Vec::new();
    for (label, code) in (least..).zip(&mut code_of).filter(|(_, code)| **code == 0) {
        *code = found.len() as u32;
        found.push(label);
    }
    let codes = labels.iter().map(|&label| code_of[(label - least) as usize]).collect();
    Some((found, codes))
}

/// The rows of each class, one class after the other.
///
/// ```
/// assert_eq!(priory::matrix::order(&[1, 0, 1], 2), [1, 0, 2]);
/// ```
///
/// # Panics
/// If a class is out of range.
pub fn order(classes: &[u32], count: usize) -> Vec<u32> {
    let mut next = vec![0; count + 1];
    classes.iter().for_each(|&class| next[class as usize + 1] += 1);
    (1..=count).for_each(|class| next[class] += next[class - 1]);
    let mut order = vec![0; classes.len()];
    for (row, &class) in (0..).zip(classes) {
        order[next[class as usize]] = row;
        next[class as usize] += 1;
    }
    order
}
