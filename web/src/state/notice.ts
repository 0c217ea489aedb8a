// A short notice of what has just been done, which screen readers announce, too.

import { signal } from '@preact/signals';

export const notice = signal('');

let clearing = 0;

export function say(text: string): void {
  notice.value = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => (notice.value = ''), 6000) as unknown as number;
}
