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

/// What is asked of the worker.
export type Question =
  | { kind: 'start'; module: WebAssembly.Module }
  | { kind: 'columns'; name: string; file: Uint8Array }
  | { kind: 'options'; method: string }
  | { kind: 'run'; request: object; file: Uint8Array }
  | { kind: 'predict'; model: Uint8Array; name: string; file: Uint8Array };

/// What it answers.
export type Answer =
  | { kind: 'progress'; progress: Progress }
  | { kind: 'done'; told: any; files: File[]; isExact: boolean }
  | { kind: 'error'; error: string };

/// A run was cancelled, or the worker had to be given up.
export class Cancelled extends Error {}

/// The worker, and the module that a new one starts with.
export class Engine {
  private worker: Worker | null = null;
  private waiting: { fail: (error: Error) => void } | null = null;
  /// Whether results have the same bits as on other machines; known after the first answer.
  isExact = true;

  private readonly module: Promise<WebAssembly.Module>;

  constructor(module: Promise<WebAssembly.Module>) {
    this.module = module;
  }

  /// Asks; one question at a time.
  async ask(question: Question, hear: (progress: Progress) => void = () => {}): Promise<{ told: any; files: File[] }> {
    const module = await this.module;
    const worker = this.worker ?? new EngineWorker();
    if (!this.worker) worker.postMessage({ kind: 'start', module } satisfies Question);
    this.worker = worker;
    return new Promise((done, failed) => {
      this.waiting = { fail: failed };
      worker.onmessage = ({ data }: MessageEvent<Answer>) => {
        if (data.kind === 'progress') hear(data.progress);
        else {
          this.waiting = null;
          if (data.kind === 'error') failed(new Error(data.error));
          else {
            this.isExact = data.isExact;
            done(data);
          }
        }
      };
      worker.onerror = (event) => {
        event.preventDefault();
        this.give(new Error(`The engine stopped: ${event.message}. A smaller sample of the table may fit into the memory of a browser.`));
      };
      worker.postMessage(question);
    });
  }

  /// Ends what runs.
  cancel(): void {
    this.give(new Cancelled('cancelled'));
  }

  /// A worker in the middle of a run cannot be reached: it ends, and the next question starts another.
  private give(error: Error): void {
    this.worker?.terminate();
    this.worker = null;
    this.waiting?.fail(error);
    this.waiting = null;
  }
}
