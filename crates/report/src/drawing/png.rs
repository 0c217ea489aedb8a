//! The PNG format: three bytes per pixel, compressed.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// The content of the chunk that names Lehr as the program that wrote the file. This chunk follows the header chunk.
const MAKER: &[u8] = b"Software\0lehr";

/// The position of the chunk with [`MAKER`]: after the signature and the header chunk, which has 13 bytes of data.
const MAKER_AT: usize = SIGNATURE.len() + 25;

/// Returns whether a file with these first bytes was written by Lehr.
pub(super) fn is_ours(head: &[u8]) -> bool {
    let maker = head.get(MAKER_AT + 8..MAKER_AT + 8 + MAKER.len());
    head.starts_with(&SIGNATURE) && maker == Some(MAKER)
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    file.extend(name);
    file.extend(content);
    let mut crc = Crc::new();
    crc.update(name);
    crc.update(content);
    file.extend(crc.sum().to_be_bytes());
}

/// Encodes an image with `columns` pixels in each row. `pixels` has three bytes for each pixel.
pub(super) fn encoded(columns: usize, pixels: &[u8]) -> Vec<u8> {
    let rows = pixels.len() / (3 * columns).max(1);
    let mut header = Vec::with_capacity(13);
    header.extend((columns as u32).to_be_bytes());
    header.extend((rows as u32).to_be_bytes());
    // Eight bits per channel; red, green and blue; the only compression and filter methods of PNG; not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in pixels.chunks_exact(3 * columns) {
        // The filter type of the row: no filter.
        packed.write_all(&[0]).and_then(|()| packed.write_all(row)).expect("memory takes all");
    }
    let packed = packed.finish().expect("memory takes all");
    let mut file = SIGNATURE.to_vec();
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"tEXt", MAKER);
    chunk(&mut file, b"IDAT", &packed);
    chunk(&mut file, b"IEND", &[]);
    file
}
