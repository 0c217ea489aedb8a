// Rows as CSV text: written for downloads, and examined before an upload.

/// Writes a field as RFC 4180 specifies. A missing value becomes an empty field.
export function field(value: unknown): string {
  const text = value === null || value === undefined || (typeof value === 'number' && Number.isNaN(value)) ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/// Returns the number with the fewest digits that rounds to the same number in single precision. Reports have columns in single precision, so 33.4 would be
/// written as 33.400001525878906.
export function shortest(value: number): number {
  for (let digits = 6; digits < 10; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

export function row(values: unknown[]): string {
  return `${values.map(field).join(',')}\n`;
}

/// Returns a table of some rows as CSV. `valuesOf` returns the fields of a row.
export function csvOf(names: string[], chosen: Uint8Array, valuesOf: (row: number) => unknown[]): Blob {
  const parts = [row(names)];
  for (let at = 0; at < chosen.length; at++) if (chosen[at]) parts.push(row(valuesOf(at)));
  return new Blob(parts, { type: 'text/csv' });
}

/// The byte order mark. With it, Excel reads an exported file as UTF-8. Lehr and pandas skip it.
export const MARK = '\uFEFF';

export interface Look {
  delimiter: string;
  /// The number of lines above the names, such as a title.
  above: number;
  /// The number of the line with the names. Empty lines count.
  line: number;
  hasNames: boolean;
  names: string[];
  rows: string[][];
  /// For each column, the kind of most of its first values, or `empty` if it has none.
  kinds: ('number' | 'date' | 'text' | 'empty')[];
  /// Whether a column of numbers has gaps: fields that are empty, or texts such as `NA`.
  hasGaps: boolean;
  /// Whether there are no lines above the names, and all fields are gaps or numbers as a program writes them.
  isPlain: boolean;
  /// The index of the first text column in which all texts are different, or -1.
  ids: number;
}

const DELIMITERS = [',', ';', '\t', '|'];
/// The maximum number of lines to examine.
const LOOKED_AT = 101;

/// Returns the fields of the first `most` lines of a text, without empty lines. The last line may be incomplete. Adds the number of each line to `lines`.
export function split(text: string, delimiter: string, most: number, lines: number[] = []): string[][] {
  let line = 1;
  const rows: string[][] = [];
  let fields: string[] = [];
  let value = '';
  let isQuoted = false;
  for (let at = 0; at < text.length && rows.length < most; at++) {
    const letter = text[at];
    if (isQuoted) {
      if (letter === '"' && text[at + 1] === '"') [value, at] = [`${value}"`, at + 1];
      else if (letter === '"') isQuoted = false;
      else value += letter;
    } else if (letter === '"' && value === '') isQuoted = true;
    else if (letter === delimiter) [fields, value] = [[...fields, value], ''];
    else if (letter === '\n') {
      fields.push(value.replace(/\r$/, ''));
      if (fields.length > 1 || fields[0] !== '') lines.push(line), rows.push(fields);
      [fields, value] = [[], ''];
      line++;
    } else value += letter;
  }
  if ((value !== '' || fields.length) && rows.length < most) rows.push([...fields, value]);
  return rows;
}

const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text));
const isGap = (text: string) => /^\s*(|na|n\/a|nan|null|none|\?|-|\.)\s*$/i.test(text);
/// Returns whether a text is a number as people write it, with currency signs, per cent signs or thousands separators. The node reads more forms, and its
/// result counts.
const isMeasure = (text: string) => isNumber(text) || /^[-+−(]?\s*(£|€|\$|¥)?\s*[-+−]?\d[\d.,'  ]*\s*(%|£|€|\$|¥)?\s*\)?$/.test(text.trim());

const isDate = (text: string) => /^\s*(\d{4}-\d\d?-\d\d?|\d\d?([./])\d\d?\2\d{4})(?!\d)/.test(text);

/// Returns the most frequent number of fields of a line.
function usual(rows: string[][]): number {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] || (one[1] === best[1] && one[0] > best[0]) ? one : best), [0, 0])[0];
}

/// Examines the beginning of a table. The node examines it again, and its result counts.
export function look(text: string): Look {
  let best = { delimiter: ',', rows: [] as string[][], lines: [] as number[], width: 0, score: -1 };
  for (const delimiter of DELIMITERS) {
    const lines: number[] = [];
    const rows = split(text.replace(/^\uFEFF/, ''), delimiter, LOOKED_AT, lines);
    const width = usual(rows);
    const score = width > 1 ? width * rows.filter((one) => one.length === width).length : 0;
    if (score > best.score) best = { delimiter, rows, lines, width, score };
  }
  // The names are in the first line that has the usual number of fields and at least two that are not empty. Lines above it are titles.
  const above = Math.max(0, best.rows.findIndex((one) => one.length === best.width && one.filter((text) => text.trim()).length > 1));
  const [first = [], ...rest] = best.rows.slice(above);
  const hasNames = !first.some(isNumber);
  const names = hasNames ? first : first.map((_, at) => String(at));
  const rows = (hasNames ? rest : [first, ...rest]).filter((one) => one.length > 0);
  let [hasGaps, isPlain] = [false, above === 0];
  const kinds = names.map((_, at) => {
    const values = rows.map((one) => one[at] ?? '');
    const full = values.filter((value) => !isGap(value));
    const numbers = full.filter(isMeasure).length;
    if (!full.every(isNumber)) isPlain = false;
    if (!full.length) return 'empty' as const;
    if (full.every(isDate)) return 'date' as const;
    if (numbers * 2 <= full.length) return 'text' as const;
    hasGaps ||= full.length < values.length;
    return 'number' as const;
  });
  const ids = kinds.findIndex((kind, at) => kind === 'text' && rows.length > 1 && new Set(rows.map((one) => one[at])).size === rows.length);
  return { delimiter: best.delimiter, above, line: best.lines[above] ?? 1, hasNames, names, rows, kinds, hasGaps, isPlain, ids };
}
