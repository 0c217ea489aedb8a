// Draws points with the graphics processor, in one call per layer.

import type { Cloud } from './cloud.ts';
import { OVER, UNDER, bytesOf, spans } from './paint.ts';
import type { Renderer } from './raster.ts';

const VERTEX = `#version 300 es
layout(location = 0) in vec3 dataPosition;
layout(location = 1) in vec4 paint;
uniform mat3 turn;
uniform vec2 size;
uniform vec2 origin;
uniform vec2 scale;
uniform float pointWidth;
uniform float layer;
uniform bool isSphere;
flat out vec3 colour;
void main() {
  vec3 turned = turn * dataPosition;
  vec2 pixel = floor(origin + vec2(scale.x, -scale.y) * turned.xy) + 0.5;
  vec2 clip = pixel / size * 2.0 - 1.0;
  bool isDrawn = abs(paint.a * 255.0 - layer) < 0.5 && (!isSphere || turned.z >= 0.0) && !isnan(dataPosition.x);
  gl_Position = isDrawn ? vec4(clip.x, -clip.y, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = pointWidth;
  colour = paint.rgb;
}`;

// The shader fills the disc that `spans` describes, so both renderers fill the same pixels.
const FRAGMENT = `#version 300 es
precision highp float;
uniform float pointWidth;
uniform float reach[32];
flat in vec3 colour;
out vec4 drawn;
void main() {
  vec2 at = floor(gl_PointCoord * pointWidth) - (pointWidth - 1.0) / 2.0;
  if (abs(at.x) > reach[int(at.y + (pointWidth - 1.0) / 2.0)]) discard;
  drawn = vec4(colour, 1.0);
}`;

/// Matches the names of WebGL renderers that compute on the CPU. They are slower than `raster.ts`.
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/// Returns a renderer, or `null` if there is no graphics processor. With `isForced`, which tests use, it accepts WebGL renderers on the CPU, too.
export function webglRenderer(canvas: HTMLCanvasElement, isForced: boolean, lost: () => void): Renderer | null {
  const gl = canvas.getContext('webgl2', {
    antialias: false,
    depth: false,
    preserveDrawingBuffer: true,
    failIfMajorPerformanceCaveat: !isForced,
  });
  if (!gl) return null;
  const named = gl.getExtension('WEBGL_debug_renderer_info');
  const name = named ? String(gl.getParameter(named.UNMASKED_RENDERER_WEBGL)) : '';
  if (SOFTWARE.test(name) && !isForced) {
    gl.getExtension('WEBGL_lose_context')?.loseContext();
    return null;
  }
  canvas.addEventListener('webglcontextlost', lost);

  const program = gl.createProgram()!;
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  const place = (uniform: string) => gl.getUniformLocation(program, uniform);
  const at = {
    turn: place('turn'), size: place('size'), origin: place('origin'), scale: place('scale'), width: place('pointWidth'),
    layer: place('layer'), isSphere: place('isSphere'), reach: place('reach'),
  };
  const positions = gl.createBuffer();
  const paints = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, positions);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
  gl.bindBuffer(gl.ARRAY_BUFFER, paints);
  gl.enableVertexAttribArray(1);
  gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);

  let cloud: Cloud | null = null;
  let painted = 0;
  return {
    kind: 'webgl',
    setCloud(given) {
      cloud = given;
      painted = 0;
      gl.bindBuffer(gl.ARRAY_BUFFER, positions);
      gl.bufferData(gl.ARRAY_BUFFER, given.positions, gl.STATIC_DRAW);
    },
    setPaint(paint) {
      painted = paint.length;
      gl.bindBuffer(gl.ARRAY_BUFFER, paints);
      gl.bufferData(gl.ARRAY_BUFFER, new Uint8Array(paint.buffer, paint.byteOffset, paint.byteLength), gl.DYNAMIC_DRAW);
    },
    resize({ width, height }) {
      canvas.width = width;
      canvas.height = height;
      gl.viewport(0, 0, width, height);
    },
    draw(camera, width, ground, most) {
      const [red, green, blue] = bytesOf(ground ?? '#000000');
      gl.clearColor(red / 255, green / 255, blue / 255, ground ? 1 : 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      if (!cloud) return;
      const m = camera.turn;
      gl.uniformMatrix3fv(at.turn, true, m);
      gl.uniform2f(at.size, canvas.width, canvas.height);
      gl.uniform2f(at.origin, canvas.width / 2 + camera.shift[0], canvas.height / 2 + camera.shift[1]);
      gl.uniform2f(at.scale, camera.scale[0], camera.scale[1]);
      gl.uniform1f(at.width, width);
      gl.uniform1i(at.isSphere, cloud.shape === 'sphere' ? 1 : 0);
      const rows = new Float32Array(32);
      rows.set(spans(width).slice(0, 32));
      gl.uniform1fv(at.reach, rows);
      for (const layer of [UNDER, OVER]) {
        gl.uniform1f(at.layer, layer);
        gl.drawArrays(gl.POINTS, 0, Math.min(cloud.count, most, painted));
      }
    },
    end() {
      canvas.removeEventListener('webglcontextlost', lost);
      gl.getExtension('WEBGL_lose_context')?.loseContext();
    },
  };
}
