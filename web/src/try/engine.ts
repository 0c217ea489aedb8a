// The engine: Lehr compiled to WebAssembly, in a worker of its own, so that the page stays alive and a run can be cancelled.

/// <reference types="vite/client" />
import EngineWorker from './worker.ts?worker&inline';

export interface Account {
  name: string;
  role: string;
  reason?: string;
  rows: number;
  missing: number;
  facts: { numbers?: { low: number; high: number } };
}

export interface Progress {
  stage: string;
  fraction: number | null;
}

export interface File {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface Told {
  headline: string;
  warnings: string[];
  rows: number;
  seconds: [string, number][];
}

/// The engine as the page has it, in Base64: compiled with a multiply-add in one instruction, and behind that without it for browsers that lack it. Both are in
/// one stream, since the second is mostly a copy of the first.
export interface Packed {
  text: string;
  lengths: number[];
}

/// What is asked of the worker.
export type Question =
  | { kind: 'start'; engine: WebAssembly.Module | Packed }
  | { kind: 'columns'; name: string; file: Uint8Array }
  | { kind: 'options'; method: string }
  | { kind: 'run'; request: object; file: Uint8Array }
  | { kind: 'predict'; model: Uint8Array; name: string; file: Uint8Array };

/// What it answers.
export type Answer =
  | { kind: 'module'; module: WebAssembly.Module }
  | { kind: 'progress'; progress: Progress }
  | { kind: 'done'; told: any; files: File[]; isExact: boolean }
  | { kind: 'error'; error: string };

/// A run was cancelled, or the worker had to be given up.
export class Cancelled extends Error {}

/// The worker. The first one unpacks the engine, others start with what that one compiled.
export class Engine {
  private worker: Worker | null;
  private waiting: { done: (found: { told: any; files: File[] }) => void; fail: (error: Error) => void; hear: (progress: Progress) => void } | null = null;
  /// Whether results have the same bits as on other machines; known after the first answer.
  isExact = true;

  private engine: WebAssembly.Module | Packed;

  constructor(packed: Packed) {
    this.engine = packed;
    this.worker = this.begin();
  }

  /// Asks; one question at a time.
  ask(question: Question, hear: (progress: Progress) => void = () => {}): Promise<{ told: any; files: File[] }> {
    this.worker ??= this.begin();
    const { worker } = this;
    return new Promise((done, fail) => {
      this.waiting = { done, fail, hear };
      worker.postMessage(question);
    });
  }

  /// Ends what runs.
  cancel(): void {
    this.give(new Cancelled('cancelled'));
  }

  private begin(): Worker {
    const worker = new EngineWorker();
    worker.onmessage = ({ data }: MessageEvent<Answer>) => this.hear(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.give(new Error(`The engine stopped: ${event.message}. A smaller sample of the table may fit into the memory of a browser.`));
    };
    worker.postMessage({ kind: 'start', engine: this.engine } satisfies Question);
    return worker;
  }

  private hear(answer: Answer): void {
    if (answer.kind === 'module') this.engine = answer.module;
    else if (answer.kind === 'progress') this.waiting?.hear(answer.progress);
    else {
      const { waiting } = this;
      this.waiting = null;
      if (answer.kind === 'error') waiting?.fail(new Error(answer.error));
      else {
        this.isExact = answer.isExact;
        waiting?.done(answer);
      }
    }
  }

  /// A worker in the middle of a run cannot be reached: it ends, and the next question starts another.
  private give(error: Error): void {
    // Nothing runs: the worker is there for the next question.
    if (error instanceof Cancelled && !this.waiting) return;
    this.worker?.terminate();
    this.worker = null;
    this.waiting?.fail(error);
    this.waiting = null;
  }
}
