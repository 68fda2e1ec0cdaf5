//! The sections of a group of columns.

use std::collections::BTreeMap;

use super::container::{Container, Section, refused};
use crate::error::Result;
use crate::exact::ExactSum;
use crate::families::discriminant::{GroupStatistics, GroupSums, KnownWithout};
use crate::moments::{Moments, pair_count};

/// The moments of each class and column; the products of each class and pair; and, where values are missing, what columns
/// have shown alone.
pub(super) fn write(sections: &mut Vec<Section>, group: &GroupStatistics) {
    let (mut moments, mut products) = (Vec::new(), Vec::new());
    for class in &group.classes {
        class.moments.iter().for_each(|column| column.write(&mut moments));
        class.products.iter().for_each(|product| product.write(&mut products));
    }
    sections.push(Section::bytes("group.moments", moments));
    sections.push(Section::bytes("group.products", products));
    let (mut places, mut sums) = (Vec::new(), Vec::new());
    for (class, of_class) in (0_u32..).zip(&group.classes) {
        for (&(i, j), alone) in &of_class.alone {
            places.extend([class, i as u32, j as u32]);
            alone.weight.write(&mut sums);
            alone.sum.write(&mut sums);
        }
    }
    if !places.is_empty() {
        sections.push(Section::u32("group.alone", vec![places.len() / 3, 3], places.into_iter()));
        sections.push(Section::bytes("group.alone.sums", sums));
    }
}

pub(super) fn read(file: &mut Container<'_>, group: &mut GroupStatistics, classes: usize) -> Result<()> {
    let columns = group.columns.len();
    group.check_size(classes).map_err(|error| refused(error.to_string()))?;
    let impossible = || refused("the sums of its group cannot be those of any numbers".into());
    let (moments, products) = (file.take_bytes("group.moments")?, file.take_bytes("group.products")?);
    let (mut moments, mut products) = (&*moments, &*products);
    let mut read = Vec::new();
    for _ in 0..classes {
        let moments: Option<Vec<Moments>> = (0..columns).map(|_| Moments::read(&mut moments)).collect();
        let products: Option<Vec<ExactSum>> =
            (0..pair_count(columns)).map(|_| ExactSum::read(&mut products)).collect();
        let (Some(moments), Some(products)) = (moments, products) else { return Err(impossible()) };
        read.push(GroupSums { moments, products, alone: BTreeMap::new() });
    }
    if !moments.is_empty() || !products.is_empty() {
        return Err(impossible());
    }
    if file.has("group.alone") {
        read_alone(file, &mut read, columns)?;
    }
    if !read.iter().all(GroupSums::is_possible) {
        return Err(impossible());
    }
    group.classes = read;
    Ok(())
}

fn read_alone(file: &mut Container<'_>, classes: &mut [GroupSums], columns: usize) -> Result<()> {
    let (shape, places) = file.take_u32("group.alone", 2)?;
    let sums = file.take_bytes("group.alone.sums")?;
    let mut sums = &*sums;
    let invalid = || refused("what its group counts where values are missing cannot be".into());
    let places = places.as_chunks::<3>().0;
    if shape[1] != 3 || places.is_empty() || !places.is_sorted_by(|a, b| a < b) {
        return Err(invalid());
    }
    for &place in places {
        let [class, i, j] = place.map(|x| x as usize);
        let (Some(weight), Some(sum)) = (ExactSum::read(&mut sums), ExactSum::read(&mut sums)) else {
            return Err(invalid());
        };
        if class >= classes.len() || i >= columns || j >= columns || i == j || !weight.is_positive() {
            return Err(invalid());
        }
        classes[class].alone.insert((i, j), KnownWithout { weight, sum });
    }
    if sums.is_empty() { Ok(()) } else { Err(invalid()) }
}
