//! gzip and zstd.

use super::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// A table that takes several blocks, also packed.
fn table() -> Vec<u8> {
    let mut x = 1_u32;
    let rows = (0..120_000).map(|i| {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("{}.5,{},{}\n", x >> 8, x >> 20, if i % 3 == 0 { "p" } else { "q" })
    });
    format!("a,b,y\n{}", rows.collect::<String>()).into_bytes()
}

#[test]
fn packed_files_that_are_damaged() {
    const CUT: [&str; 2] = [
        "the gzip file is cut short; fetch or pack it again",
        "the zstd file is cut short; fetch or pack it again",
    ];
    const DAMAGED: [&str; 2] = [
        "the gzip file is damaged; fetch or pack it again",
        "the zstd file is damaged; fetch or pack it again",
    ];
    let small = b"a,b,y\n1,2,p\n3,4,q\n";
    let (gz, zst) = (gzip(small), zstd(small));
    let followed = |packed: &[u8]| [packed, b"garbage after the end"].concat();
    let mut wrong_sum = gz.clone();
    wrong_sum[gz.len() - 5] ^= 1;
    check_all_named(
        "t.csv.gz",
        "--target y",
        &[
            (&gz[..gz.len() - 1], CUT[0]),
            (&gz[..12], CUT[0]),
            (&gz[..3], CUT[0]),
            (&followed(&gz), DAMAGED[0]),
            (&wrong_sum, DAMAGED[0]),
            (&gzip(b""), "the table is empty, it does not even have a header"),
            (&zst[..zst.len() - 1], CUT[1]),
            (&zst[..5], CUT[1]),
            (&followed(&zst), DAMAGED[1]),
            // What was packed twice is no text when it is unpacked once.
            (&gzip(&gz), "this is packed twice; unpack it once"),
            (&gzip(&zst), "this is packed twice; unpack it once"),
        ],
    );
}

#[test]
fn nothing_is_written_if_a_large_packed_file_breaks_off() {
    let folder = Folder::new();
    let table = table();
    folder.write("good.csv", "a,b,y\n1.5,2,p\n2.5,1,q\n").write("old.csv", "as it was");
    folder.stdout("train good.csv --target y --as a=number,b=number -o m.priory");
    for (packed, packing) in [(gzip(&table), "gzip"), (zstd(&table), "zstd")] {
        folder.write("t.csv", &packed[..packed.len() * 9 / 10]);
        for arguments in [
            "train t.csv --target y -o m.priory",
            "train good.csv t.csv --target y -o m.priory",
            "predict m.priory t.csv -o old.csv",
            "predict m.priory t.csv -o new.csv --threads 1",
            "learn m.priory t.csv",
            "evaluate t.csv --target y",
        ] {
            let message = folder.refusal(arguments);
            assert_eq!(message, format!("t.csv: the {packing} file is cut short; fetch or pack it again"));
        }
    }
}

#[test]
fn a_bomb_is_read_in_the_memory_of_any_table() {
    let folder = Folder::with_memory(250 << 20);
    let members = |part: &str, count: usize| {
        let (gz, zst) = (gzip(part.as_bytes()), zstd(part.as_bytes()));
        [gz.repeat(count), zst.repeat(count)]
    };
    // A gigabyte in a line, of which no more than the longest line is unpacked.
    for packed in members(&"x".repeat(1 << 20), 1_000) {
        folder.write("line.csv", packed);
        let message = folder.refusal("train line.csv --target y");
        assert!(message.starts_with("line.csv: the header is longer than 67108864 bytes"), "{message}");
    }
    // More rows than would fit, if they were kept.
    let rows = ["p", "q"].map(|class| format!("{},{class}\n", "x".repeat(500))).concat().repeat(2_000);
    for (header, rows) in members("a,y\n", 1).iter().zip(members(&rows, 150)) {
        folder.write("rows.csv", [header.as_slice(), &rows].concat());
        assert!(fs::metadata(folder.path("rows.csv")).unwrap().len() < 2 << 20);
        let message = folder.remarks("train rows.csv --target y -o m.priory --threads 2");
        assert!(message.contains("600000 rows"), "{message}");
    }
}

#[test]
fn a_window_larger_than_memory_is_refused() {
    // A frame that says it needs a window of 3.75 TiB to be unpacked.
    let folder = Folder::new();
    folder.write("t.csv.zst", b"\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00");
    let message = folder.refusal("train t.csv.zst --target y");
    assert!(message.starts_with("t.csv.zst: the zstd file is damaged"), "{message}");
}
