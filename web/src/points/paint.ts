// The appearance of each point, in one 32-bit word that both renderers draw.
// The bytes of the word are red, green, blue and a layer. A point of layer 0 is not drawn, those of layer UNDER are drawn first, and those of layer OVER on
// top.

export const UNDER = 0xfe;
export const OVER = 0xff;

/// Converts `#rrggbb` and a layer to a word, in the byte order that `ImageData` and vertex buffers share.
export function word(hex: string, layer: number): number {
  const value = parseInt(hex.slice(1), 16);
  return ((layer << 24) | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/// Converts `#rrggbb` to the bytes red, green and blue.
export function bytesOf(hex: string): [number, number, number] {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 0xff, value & 0xff];
}

/// Returns the shape of a disc with an odd width in pixels: for each row, the number of pixels to each side of the middle one.
export function spans(width: number): number[] {
  const half = (width - 1) / 2;
  const reach = half * (half + 0.6);
  return Array.from({ length: width }, (_, row) => Math.floor(Math.sqrt(Math.max(0, reach - (row - half) ** 2))));
}
