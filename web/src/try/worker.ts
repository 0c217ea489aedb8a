// The worker of the engine. It owns the engine's memory, and copies bytes in and out (crates/web-engine/src/exports.rs).

import { fromBase64 } from '../api/base64.ts';
import type { Answer, File, Packed, Question } from './engine.ts';
import { unpack } from './lzma.ts';

interface Exports {
  memory: WebAssembly.Memory;
  lehr_alloc(bytes: number): number;
  lehr_free(address: number, bytes: number): void;
  lehr_is_exact(): number;
  lehr_columns(name: number, nameLength: number, file: number, length: number): number;
  lehr_options(method: number, methodLength: number): number;
  lehr_files(): number;
  lehr_run(request: number, requestLength: number, file: number, length: number): number;
  lehr_predict(model: number, modelLength: number, name: number, nameLength: number, file: number, length: number): number;
}

let engine: Exports | null = null;
let told = 0;

const say = (answer: Answer, transfer: Transferable[] = []) => postMessage(answer, { transfer });

/// Unpacks and compiles the engine, and sends the module to the page for later workers.
function compiled({ text, lengths: [first, second] }: Packed): WebAssembly.Module {
  const packed = fromBase64(text);
  const module = (bytes: Uint8Array<ArrayBuffer>) => new WebAssembly.Module(bytes);
  let found: WebAssembly.Module;
  try {
    found = module(unpack(packed, first));
  } catch {
    found = module(unpack(packed, first + second).subarray(first));
  }
  say({ kind: 'module', module: found });
  return found;
}

function start(given: WebAssembly.Module | Packed): void {
  const module = given instanceof WebAssembly.Module ? given : compiled(given);
  const lehr = {
    now: () => Date.now(),
    progress: (address: number, length: number) => {
      // Steps may be much shorter than 50 ms, so most progress is not sent.
      const now = performance.now();
      if (now - told < 50) return;
      told = now;
      say({ kind: 'progress', progress: JSON.parse(new TextDecoder().decode(new Uint8Array(engine!.memory.buffer, address, length))) });
    },
  };
  engine = new WebAssembly.Instance(module, { lehr }).exports as unknown as Exports;
}

/// Copies texts and bytes into the memory of the engine, calls a function of the engine, and copies its result out.
function call(function_: (...places: number[]) => number, ...parts: (string | Uint8Array)[]): void {
  const { memory, lehr_alloc, lehr_free, lehr_is_exact } = engine!;
  const given = parts.map((part) => {
    const bytes = typeof part === 'string' ? new TextEncoder().encode(part) : part;
    const address = lehr_alloc(bytes.length);
    if (address === 0) throw new Error(`the browser has no memory left for ${bytes.length} bytes`);
    new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
    return [address, bytes.length];
  });
  const answer = function_(...given.flat());
  given.forEach(([address, length]) => lehr_free(address, length));
  const sizes = new DataView(memory.buffer, answer, 8);
  const [whole, head] = [sizes.getUint32(0, true), sizes.getUint32(4, true)];
  const said = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer + 8, head)));
  let place = answer + 8 + head;
  const files: File[] = (said.files ?? []).map(({ name, length }: { name: string; length: number }) => {
    const bytes = new Uint8Array(memory.buffer, place, length).slice();
    place += length;
    return { name, bytes };
  });
  lehr_free(answer, whole);
  if (said.error !== undefined) say({ kind: 'error', error: said.error });
  else say({ kind: 'done', told: said.told, files, isExact: Boolean(lehr_is_exact()) }, files.map((file) => file.bytes.buffer));
}

onmessage = ({ data }: MessageEvent<Question>) => {
  try {
    if (data.kind === 'start') start(data.engine);
    else if (data.kind === 'columns') call(engine!.lehr_columns, data.name, data.file);
    else if (data.kind === 'options') call(engine!.lehr_options, data.method);
    else if (data.kind === 'run') call(engine!.lehr_run, JSON.stringify(data.request), data.file);
    else if (data.kind === 'files') call(engine!.lehr_files);
    else call(engine!.lehr_predict, data.model, data.name, data.file);
  } catch (error) {
    // The engine's memory may be damaged. The uncaught error makes the page start another worker.
    setTimeout(() => {
      throw error;
    });
  }
};
