// Formats numbers and times for people.

export function count(value: number): string {
  return value.toLocaleString('en-GB');
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  while (value >= 1000 && at < units.length - 1) [value, at] = [value / 1000, at + 1];
  return `${value >= 100 || at === 0 ? Math.round(value) : value.toPrecision(2)} ${units[at]}`;
}

/// Formats a value, a number with `digits` significant digits, but at least to the unit below 1e9. Texts stay as they are.
export function figure(value: unknown, digits = 5): string {
  if (typeof value !== 'number') return value == null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (Number.isNaN(value)) return '–';
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return count(value);
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-4) return Number(value.toPrecision(digits - 1)).toExponential().replace('e+', 'e');
  const short = Number(value.toPrecision(Math.max(digits, Math.floor(Math.log10(size)) + 1)));
  return size < 1000 ? String(short) : short.toLocaleString('en-GB', { maximumFractionDigits: 9 });
}

export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 1) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function when(unixMs: number): string {
  const date = new Date(unixMs);
  const time = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  return date.toDateString() === new Date().toDateString()
    ? time
    : `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${time}`;
}

/// Formats a flag that is a number.
export function yes(value: unknown): string {
  return value ? 'yes' : 'no';
}

/// Converts a name such as `sum_of_squares` to words.
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/// Returns advice on a fault by its code, or `null` if there is none. The text of the fault often says more.
export function cure(code: string): string | null {
  const cures: Record<string, string> = {
    invalid_value: 'Change what the message names, then send it again.',
    unknown_entry: 'It may have been renamed or removed. Choose another one.',
    duplicate_entry: 'Choose another name, or remove what has it.',
    too_large: 'Send less: fewer columns or rows. The node has a limit for a body (lehr serve --body-max).',
    insufficient_resources: 'The node is short of memory or disk. Remove data sets, or use fewer columns.',
    permission_denied: 'Your token does not allow this. Ask whoever runs the node.',
    queuing_limit_exceeded: 'Too many jobs wait already. Try again when one has ended.',
    response_timeout: 'It took too long. Try again, or ask for less.',
    unavailable: 'Check that the node is running, then try again.',
    service_stopping: 'The node is stopping. Try again when it is back.',
    operation_failed: 'This is a defect of the service. The log of the node says more.',
    precondition_failed: 'Somebody changed it meanwhile. Look again, then repeat.',
  };
  return cures[code] ?? null;
}
