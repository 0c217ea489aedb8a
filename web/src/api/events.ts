// Changes of services as the node tells them, in one stream for the whole page.

import { ask, Fault } from './http.ts';

export interface Told {
  kind: 'seed' | 'change' | 'gap' | 'end';
  service: string;
  data: any;
}

/// How the page learns of changes.
export type Line = 'connecting' | 'live' | 'asking' | 'lost';

/// A browser opens six connections to a node over HTTP/1.1, of all its tabs together. So many tabs have a stream; the others ask once a second.
const STREAMS_MAX = 4;

/// A node gives a sign of life every 15 s. After a silence of this length the connection is dead, though nobody has closed it, in milliseconds.
const SILENCE_MS = 45_000;

/// Splits server-sent events; `feed` takes text as it comes.
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

/// Runs `task` while holding one of the places that all tabs of this browser share; false if all are taken.
async function inPlace(task: () => Promise<void>): Promise<boolean> {
  // Without TLS and beyond this machine browsers have no locks: then each tab has a stream.
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

/// Follows services until `stop` is aborted: connects again when the stream breaks, asks where there is no place for a stream.
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
      // Refused, not broken: to ask again at once would change nothing.
      if (error instanceof Fault && error.status >= 400 && error.status < 500) pause = Math.max(pause, 4000);
    }
    if (stop.aborted) return;
    pause = wasLive ? 1000 : Math.min(pause * 2, 5000);
    if (!wasLive) line('lost');
    await new Promise((go) => setTimeout(go, pause));
  }
}
