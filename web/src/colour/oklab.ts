// Perceptual distances of colours in OKLab (Ottosson 2020). Colour blindness is simulated with the matrices of Machado, Oliveira and Fernandes 2009 (severity
// 1), which apply to linear sRGB.

export type Triple = [number, number, number];

export type Vision = 'normal' | 'protan' | 'deutan' | 'tritan';

const MACHADO: Record<Exclude<Vision, 'normal'>, number[]> = {
  protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

export const VISIONS: Vision[] = ['normal', 'protan', 'deutan', 'tritan'];

/// Converts `#rrggbb` to linear sRGB, from 0 to 1.
export function linear(hex: string): Triple {
  const channel = (at: number) => {
    const encoded = parseInt(hex.slice(at, at + 2), 16) / 255;
    return encoded <= 0.04045 ? encoded / 12.92 : ((encoded + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

export function seenBy(vision: Vision, [r, g, b]: Triple): Triple {
  if (vision === 'normal') return [r, g, b];
  const m = MACHADO[vision];
  const clamp = (value: number) => Math.min(1, Math.max(0, value));
  return [
    clamp(m[0] * r + m[1] * g + m[2] * b),
    clamp(m[3] * r + m[4] * g + m[5] * b),
    clamp(m[6] * r + m[7] * g + m[8] * b),
  ];
}

export function oklab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

export function distance(a: Triple, b: Triple): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// Returns the smallest distance between two colours of a set, over all `VISIONS`.
export function leastDistance(colours: string[]): number {
  let least = Infinity;
  for (const vision of VISIONS) {
    const seen = colours.map((hex) => oklab(seenBy(vision, linear(hex))));
    for (let a = 0; a < seen.length; a++) {
      for (let b = 0; b < a; b++) least = Math.min(least, distance(seen[a], seen[b]));
    }
  }
  return least;
}

/// Returns the contrast ratio of two colours (WCAG 2), from 1 to 21.
export function contrast(a: string, b: string): number {
  const luminance = (hex: string) => {
    const [red, green, blue] = linear(hex);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
