// Base64 of pages that carry their data.

/// The bytes of a text. A loop takes a tenth of the time of `Uint8Array.from` with a function, which reads the text by an iterator.
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}
