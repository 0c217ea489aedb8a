// The light or dark theme, as the system prefers.

import { signal } from '@preact/signals';
import type { Theme } from '../colour/palette.ts';

const isDark = matchMedia('(prefers-color-scheme: dark)');

export const theme = signal<Theme>(isDark.matches ? 'dark' : 'light');

isDark.addEventListener('change', () => (theme.value = isDark.matches ? 'dark' : 'light'));
