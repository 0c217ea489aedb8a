// What each point looks like: one word a point, which both renderers draw.
//
// Its bytes are red, green, blue and a layer: 0 is not drawn, UNDER is drawn first and OVER on top of it.

export const UNDER = 0xfe;
export const OVER = 0xff;

/// `#rrggbb` as a word in the order of bytes that ImageData and vertex buffers share.
export function word(hex: string, layer: number): number {
  const value = parseInt(hex.slice(1), 16);
  return ((layer << 24) | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/// `#rrggbb` as bytes.
export function bytesOf(hex: string): [number, number, number] {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 0xff, value & 0xff];
}

/// The pixels of a disc of an odd width, as the spans of its rows: how far it goes to each side.
export function spans(width: number): number[] {
  const half = (width - 1) / 2;
  const reach = half * (half + 0.6);
  return Array.from({ length: width }, (_, row) => Math.floor(Math.sqrt(Math.max(0, reach - (row - half) ** 2))));
}
