// The engine: Lehr compiled to WebAssembly. It runs in its own worker, so the page stays responsive and a run can be cancelled.

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

/// The packed engine in Base64, as the page contains it. It is compiled twice: with a multiply-add in one instruction, and without it for browsers that lack
/// this instruction. Both versions are in one stream, because the second is mostly a copy of the first. `lengths` has the unpacked length of each.
export interface Packed {
  text: string;
  lengths: number[];
}

/// A request to the worker.
export type Question =
  | { kind: 'start'; engine: WebAssembly.Module | Packed }
  | { kind: 'columns'; name: string; file: Uint8Array }
  | { kind: 'options'; method: string }
  | { kind: 'run'; request: object; file: Uint8Array }
  | { kind: 'files' }
  | { kind: 'predict'; model: Uint8Array; name: string; file: Uint8Array };

/// A response of the worker.
export type Answer =
  | { kind: 'module'; module: WebAssembly.Module }
  | { kind: 'progress'; progress: Progress }
  | { kind: 'done'; told: any; files: File[]; isExact: boolean }
  | { kind: 'error'; error: string };

/// The error of a request that was cancelled.
export class Cancelled extends Error {}

/// The worker with the engine. The first worker unpacks and compiles the engine. Later workers start with the compiled module.
export class Engine {
  private worker: Worker | null;
  private waiting: { done: (found: { told: any; files: File[] }) => void; fail: (error: Error) => void; hear: (progress: Progress) => void } | null = null;
  /// Whether results have the same bits as on other machines. Known after the first response.
  isExact = true;

  private engine: WebAssembly.Module | Packed;
  /// The end of the latest request.
  private last: Promise<unknown> = Promise.resolve();

  constructor(packed: Packed) {
    this.engine = packed;
    this.worker = this.begin();
  }

  /// Sends a request to the worker once the requests before it have ended, and returns its result. Calls `hear` with the progress.
  ask(question: Question, hear: (progress: Progress) => void = () => {}): Promise<{ told: any; files: File[] }> {
    const answer = this.last.then(() => this.send(question, hear));
    this.last = answer.catch(() => {});
    return answer;
  }

  private send(question: Question, hear: (progress: Progress) => void): Promise<{ told: any; files: File[] }> {
    this.worker ??= this.begin();
    const { worker } = this;
    return new Promise((done, fail) => {
      this.waiting = { done, fail, hear };
      worker.postMessage(question);
    });
  }

  /// Cancels the current run.
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

  /// Fails the waiting request and terminates the worker, because a worker in the middle of a run receives no messages. The next request starts another one.
  private give(error: Error): void {
    // Nothing runs, so the worker is kept for the next request.
    if (error instanceof Cancelled && !this.waiting) return;
    this.worker?.terminate();
    this.worker = null;
    this.waiting?.fail(error);
    this.waiting = null;
  }
}
