// Unpacks LZMA, which makes the engine a quarter smaller than gzip does. Browsers have no decoder for it. The format is `FORMAT_ALONE` of Python's `lzma`, as
// Igor Pavlov's specification describes it.

/// The index of the first probability of each kind. All probabilities are in one array.
const IS_MATCH = 0;
const IS_REPEATED = IS_MATCH + 12 * 16;
const IS_NOT_LAST = IS_REPEATED + 12;
const IS_NOT_SECOND = IS_NOT_LAST + 12;
const IS_FOURTH = IS_NOT_SECOND + 12;
const IS_LONG = IS_FOURTH + 12;
const SLOT = IS_LONG + 12 * 16;
const DISTANCE = SLOT + 4 * 64;
const ALIGN = DISTANCE + 115;
const LENGTH = ALIGN + 16;
const REPEATED_LENGTH = LENGTH + 514;
const LITERAL = REPEATED_LENGTH + 514;

/// The number of bytes before the coded ones: the properties, the size of the dictionary, and the length.
const HEADER = 13;

/// Unpacks the first `length` bytes.
export function unpack(packed: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const damaged = () => new Error('expected packed bytes, found damaged ones: load the page again');
  const properties = packed[0];
  if (packed.length < HEADER + 5 || properties >= 225 || packed[HEADER] !== 0) throw damaged();
  const contextBits = properties % 9;
  const literalMask = (1 << Math.floor(properties / 9) % 5) - 1;
  const placeMask = (1 << Math.floor(properties / 45)) - 1;
  const chances = new Uint16Array(LITERAL + (0x300 << (contextBits + (Math.floor(properties / 9) % 5)))).fill(1024);
  const out = new Uint8Array(length);
  let read = HEADER + 5;
  let range = 0xffffffff;
  let code = new DataView(packed.buffer, packed.byteOffset).getUint32(HEADER + 1);

  const narrow = () => {
    if (range >= 0x1000000) return;
    range = (range << 8) >>> 0;
    code = ((code << 8) | packed[read++]) >>> 0;
  };
  const bit = (at: number): number => {
    const chance = chances[at];
    const bound = (range >>> 11) * chance;
    let found = 0;
    if (code < bound) {
      range = bound;
      chances[at] = chance + ((2048 - chance) >> 5);
    } else {
      range -= bound;
      code -= bound;
      chances[at] = chance - (chance >> 5);
      found = 1;
    }
    narrow();
    return found;
  };
  const tree = (at: number, bits: number): number => {
    let node = 1;
    for (let i = 0; i < bits; i++) node = (node << 1) | bit(at + node);
    return node - (1 << bits);
  };
  const backwards = (at: number, bits: number): number => {
    let [node, found] = [1, 0];
    for (let i = 0; i < bits; i++) {
      const next = bit(at + node);
      node = (node << 1) | next;
      found |= next << i;
    }
    return found;
  };
  const plain = (bits: number): number => {
    let found = 0;
    for (let i = 0; i < bits; i++) {
      range >>>= 1;
      const next = code >= range ? 1 : 0;
      if (next) code -= range;
      found = found * 2 + next;
      narrow();
    }
    return found;
  };
  const lengthAt = (at: number, place: number): number => {
    if (!bit(at)) return tree(at + 2 + place * 8, 3);
    if (!bit(at + 1)) return 8 + tree(at + 130 + place * 8, 3);
    return 16 + tree(at + 258, 8);
  };
  const distanceOf = (size: number): number => {
    const slot = tree(SLOT + Math.min(size, 3) * 64, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const first = (2 + (slot & 1)) * 2 ** bits;
    return slot < 14 ? first + backwards(DISTANCE + first - slot, bits) : first + plain(bits - 4) * 16 + backwards(ALIGN, 4);
  };

  let state = 0;
  let [last, second, third, fourth] = [0, 0, 0, 0];
  let at = 0;
  while (at < length) {
    const place = at & placeMask;
    if (!bit(IS_MATCH + (state << 4) + place)) {
      const context = ((at & literalMask) << contextBits) + ((at > 0 ? out[at - 1] : 0) >> (8 - contextBits));
      const from = LITERAL + 0x300 * context;
      let symbol = 1;
      if (state >= 7) {
        let match = out[at - last - 1];
        while (symbol < 0x100) {
          const expected = (match >> 7) & 1;
          match <<= 1;
          const found = bit(from + ((1 + expected) << 8) + symbol);
          symbol = (symbol << 1) | found;
          if (found !== expected) break;
        }
      }
      while (symbol < 0x100) symbol = (symbol << 1) | bit(from + symbol);
      out[at++] = symbol;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let size = 0;
    if (bit(IS_REPEATED + state)) {
      if (!bit(IS_NOT_LAST + state)) {
        if (!bit(IS_LONG + (state << 4) + place)) {
          if (last >= at) throw damaged();
          out[at] = out[at - last - 1];
          at++;
          state = state < 7 ? 9 : 11;
          continue;
        }
      } else {
        let distance = second;
        if (bit(IS_NOT_SECOND + state)) {
          distance = third;
          if (bit(IS_FOURTH + state)) {
            distance = fourth;
            fourth = third;
          }
          third = second;
        }
        second = last;
        last = distance;
      }
      size = lengthAt(REPEATED_LENGTH, place);
      state = state < 7 ? 8 : 11;
    } else {
      [second, third, fourth] = [last, second, third];
      size = lengthAt(LENGTH, place);
      state = state < 7 ? 7 : 10;
      last = distanceOf(size);
    }
    if (last >= at || read > packed.length) throw damaged();
    const end = Math.min(at + size + 2, length);
    for (; at < end; at++) out[at] = out[at - last - 1];
  }
  return out;
}
