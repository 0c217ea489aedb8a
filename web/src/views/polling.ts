// Requests that a view repeats while somebody looks at it.

import { useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/// Calls `ask` at once and then every `every` milliseconds, while the page is visible. Begins again when an input changes. Returns the error of the latest call,
/// or null if it succeeded.
export function usePolling(ask: () => Promise<void>, every: number, inputs: unknown[]): Signal<unknown> {
  const error = useSignal<unknown>(null);
  useEffect(() => {
    let isOver = false;
    const turn = async () => {
      if (document.visibilityState === 'visible') error.value = await ask().then(() => null, (caught) => caught);
      if (!isOver) setTimeout(turn, every);
    };
    void turn();
    return () => {
      isOver = true;
    };
  }, inputs);
  return error;
}
