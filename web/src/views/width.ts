// The width of a figure, which follows the width of its frame.

import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';

/// Returns a reference for the frame of a figure, and the width of the figure in whole pixels, which is between `least` and `most`. Before the frame is laid out,
/// the width is `first`.
export function useWidth(least: number, first: number, most = Infinity): [RefObject<HTMLDivElement | null>, Signal<number>] {
  const frame = useRef<HTMLDivElement>(null);
  const width = useSignal(first);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => (width.value = Math.min(most, Math.max(least, Math.round(entry.contentRect.width)))));
    watch.observe(frame.current!);
    return () => watch.disconnect();
  }, []);
  return [frame, width];
}
