//! Documents that nobody should send.

use std::fs::{self, File};

use crate::Folder;

#[test]
fn documents_of_a_hundred_megabytes_are_refused_and_long_ones_are_judged() {
    let folder = Folder::with_memory(1200 << 20);
    for class in ["ham", "spam"] {
        fs::create_dir_all(folder.path("mails").join(class)).unwrap();
        for i in 0..40 {
            let text = format!("{class} and {}", ["some", "more", "words"][i % 3]);
            fs::write(folder.path("mails").join(class).join(format!("{i}.txt")), text).unwrap();
        }
    }
    let long = folder.path("mails/ham/long.txt");
    fs::write(&long, "the same words again and again ".repeat(200_000)).unwrap();
    let said = folder.remarks("train mails --documents -o m.priory");
    assert!(said.contains("judged: full"), "{said}");
    let all = folder.stdout("predict m.priory --documents mails --probabilities");
    assert_eq!(all.lines().count(), 82);
    assert!(!all.contains("NaN"), "{all}");
    // It holds nothing, and takes no room on the disk.
    File::create(&long).unwrap().set_len(100 << 20).unwrap();
    for arguments in
        ["train mails --documents -o new.priory", "predict m.priory --document mails/ham/long.txt"]
    {
        let said = folder.refusal(arguments);
        assert!(said.contains("long.txt") && said.contains("67108864"), "{said}");
    }
}
