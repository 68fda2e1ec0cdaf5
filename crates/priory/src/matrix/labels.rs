//! Labels that are whole numbers, turned into codes.

/// The different labels in ascending order, and for each label where it stands among them; `None` if they lie so far
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
