// Follows the changes of the node's services through one event stream for the whole page.

import { ask, Fault } from './http.ts';

export interface Told {
  kind: 'seed' | 'change' | 'gap' | 'end';
  service: string;
  data: any;
}

/// The state of the connection through which the page learns of changes. In the state `asking`, it asks once a second.
export type Line = 'connecting' | 'live' | 'asking' | 'lost';

/// The maximum number of tabs that have an event stream; other tabs ask once a second. Over HTTP/1.1, all tabs of a browser share six connections to a node.
const STREAMS_MAX = 4;

/// The number of milliseconds without data after which the page connects again. A node sends something at least every 15 s.
const SILENCE_MS = 45_000;

/// Splits a stream of server-sent events. `feed` takes the pieces of text as they arrive.
export class EventReader {
  private rest = '';
  private tell: (told: Told) => void;

  constructor(tell: (told: Told) => void) {
    this.tell = tell;
  }

  feed(text: string): void {
    this.rest += text;
    let end = this.rest.indexOf('\n\n');
    while (end >= 0) {
      this.event(this.rest.slice(0, end));
      this.rest = this.rest.slice(end + 2);
      end = this.rest.indexOf('\n\n');
    }
  }

  private event(text: string): void {
    let kind = '';
    let data = '';
    for (const line of text.split('\n')) {
      if (line.startsWith('event: ')) kind = line.slice(7);
      else if (line.startsWith('data: ')) data += line.slice(6);
    }
    if (!data) return;
    const read = JSON.parse(data);
    this.tell({ kind: kind as Told['kind'], service: read.service, data: read });
  }
}

/// Runs `task` while it holds one of the `STREAMS_MAX` locks that all tabs of this browser share. Returns false if all locks are taken.
async function inPlace(task: () => Promise<void>): Promise<boolean> {
  // Browsers have locks only over TLS or on the node's own machine. Without locks, each tab has a stream.
  if (!navigator.locks) {
    await task();
    return true;
  }
  for (let place = 0; place < STREAMS_MAX; place++) {
    const had = await navigator.locks.request(`lehr-events-${place}`, { ifAvailable: true }, async (lock) => {
      if (!lock) return false;
      await task();
      return true;
    });
    if (had) return true;
  }
  return false;
}

/// Follows services until `stop` is aborted. Connects again after the stream breaks, and calls `askAll` once a second if no stream is free.
export async function follow(
  services: string[],
  stop: AbortSignal,
  tell: (told: Told) => void,
  line: (state: Line) => void,
  askAll: () => Promise<void>,
): Promise<void> {
  let pause = 250;
  while (!stop.aborted) {
    let wasLive = false;
    try {
      const hadPlace = await inPlace(async () => {
        line('connecting');
        const search = services.map(encodeURIComponent).join(',');
        const response = await ask(`/~/events?slow=coalesce&services=${search}`, { accept: 'text/event-stream', signal: stop });
        line('live');
        wasLive = true;
        const reader = new EventReader(tell);
        const texts = response.body!.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, any>).getReader();
        for (;;) {
          const silent = setTimeout(() => void texts.cancel(), SILENCE_MS);
          const { done, value } = await texts.read();
          clearTimeout(silent);
          if (done) break;
          reader.feed(value);
        }
      });
      if (!hadPlace) {
        if (document.visibilityState === 'visible') await askAll();
        line('asking');
        wasLive = true;
      }
    } catch (error) {
      if (stop.aborted) return;
      // The node has refused the request, so asking again at once would change nothing.
      if (error instanceof Fault && error.status >= 400 && error.status < 500) pause = Math.max(pause, 4000);
    }
    if (stop.aborted) return;
    pause = wasLive ? 1000 : Math.min(pause * 2, 5000);
    if (!wasLive) line('lost');
    await new Promise((go) => setTimeout(go, pause));
  }
}
