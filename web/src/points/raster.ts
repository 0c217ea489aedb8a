// Draws points on a canvas without a graphics processor, with a few memory writes per point. It draws the same pixels as `webgl.ts`.

import type { Camera, Size } from './camera.ts';
import type { Cloud } from './cloud.ts';
import { OVER, UNDER, spans, word } from './paint.ts';

const { fround } = Math;

export interface Renderer {
  kind: 'webgl' | 'cpu';
  /// Draws the first `most` points, each `width` pixels wide. If `ground` is `null`, the background is transparent.
  draw(camera: Camera, width: number, ground: string | null, most: number): void;
  setCloud(cloud: Cloud): void;
  setPaint(paint: Uint32Array): void;
  resize(size: Size): void;
  end(): void;
}

/// Draws points into `pixels`, one word per pixel. Like the shader, it computes the pixel of a point in single precision.
export function rasterise(
  pixels: Uint32Array,
  { width, height }: Size,
  cloud: Cloud,
  paint: Uint32Array,
  camera: Camera,
  pointWidth: number,
  ground: number,
  most: number,
): void {
  pixels.fill(ground);
  const m = camera.turn.map(fround);
  const across = fround(camera.scale[0]);
  const upwards = fround(camera.scale[1]);
  const left = fround(width / 2 + camera.shift[0]);
  const top = fround(height / 2 + camera.shift[1]);
  const isSphere = cloud.shape === 'sphere';
  const { positions } = cloud;
  const count = Math.min(cloud.count, most);
  const rows = spans(pointWidth);
  const half = (pointWidth - 1) / 2;
  for (const layer of [UNDER, OVER]) {
    for (let at = 0; at < count; at++) {
      const colour = paint[at];
      if (colour >>> 24 !== layer) continue;
      const x = positions[3 * at];
      const y = positions[3 * at + 1];
      const z = positions[3 * at + 2];
      if (isSphere && m[6] * x + m[7] * y + m[8] * z < 0) continue;
      const column = Math.floor(left + across * (m[0] * x + m[1] * y + m[2] * z));
      const row = Math.floor(top - upwards * (m[3] * x + m[4] * y + m[5] * z));
      // The comparison is false for NaN, so a point without a position is not drawn.
      if (!(column >= -half && column < width + half && row >= -half && row < height + half)) continue;
      const opaque = (colour | 0xff000000) >>> 0;
      if (half === 0) {
        pixels[row * width + column] = opaque;
        continue;
      }
      for (let line = 0; line < pointWidth; line++) {
        const at = row + line - half;
        if (at < 0 || at >= height) continue;
        const from = Math.max(0, column - rows[line]);
        const to = Math.min(width - 1, column + rows[line]);
        for (let pixel = from; pixel <= to; pixel++) pixels[at * width + pixel] = opaque;
      }
    }
  }
}

export function rasterRenderer(canvas: HTMLCanvasElement): Renderer {
  const context = canvas.getContext('2d')!;
  let image = context.createImageData(1, 1);
  let cloud: Cloud | null = null;
  let paint: Uint32Array = new Uint32Array(0);
  return {
    kind: 'cpu',
    setCloud: (given) => (cloud = given),
    setPaint: (given) => (paint = given),
    resize({ width, height }) {
      canvas.width = width;
      canvas.height = height;
      image = context.createImageData(width, height);
    },
    draw(camera, width, ground, most) {
      if (!cloud) return;
      const pixels = new Uint32Array(image.data.buffer);
      rasterise(pixels, canvas, cloud, paint, camera, width, ground ? word(ground, OVER) : 0, most);
      context.putImageData(image, 0, 0);
    },
    end() {},
  };
}
