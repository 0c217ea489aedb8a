// Rows as text: written for downloads, looked at before an upload.

/// A field as RFC 4180 has it.
export function field(value: unknown): string {
  const text = value === null || value === undefined || (typeof value === 'number' && Number.isNaN(value)) ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/// The number with the fewest digits that single precision does not tell from this one: reports have their columns so, and 33.4 would become 33.400001525878906.
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

export interface Look {
  delimiter: string;
  /// Lines above the names, such as a title.
  above: number;
  hasNames: boolean;
  names: string[];
  rows: string[][];
  /// Of each column: what most of its first values are.
  kinds: ('number' | 'text' | 'empty')[];
  /// Whether a column of numbers has fields without one.
  hasGaps: boolean;
  /// Whether it has numbers alone, as a program writes them.
  isPlain: boolean;
  /// The first column of texts that are all different, or -1.
  ids: number;
}

const DELIMITERS = [',', ';', '\t', '|'];
/// How many lines are looked at.
const LOOKED_AT = 101;

/// Fields of the first lines of a text; the last line is left out where the text may end in its middle.
export function split(text: string, delimiter: string, most: number): string[][] {
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
      if (fields.length > 1 || fields[0] !== '') rows.push(fields);
      [fields, value] = [[], ''];
    } else value += letter;
  }
  if ((value !== '' || fields.length) && rows.length < most) rows.push([...fields, value]);
  return rows;
}

const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text));
const isGap = (text: string) => /^\s*(|na|n\/a|nan|null|none|\?|-|\.)\s*$/i.test(text);
/// As people write numbers: with signs of money, per cent and thousands. The node has more of them, and the last word.
const isMeasure = (text: string) => isNumber(text) || /^[-+−(]?\s*(£|€|\$|¥)?\s*[-+−]?\d[\d.,'  ]*\s*(%|£|€|\$|¥)?\s*\)?$/.test(text.trim());

/// The width that most lines have.
function usual(rows: string[][]): number {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] || (one[1] === best[1] && one[0] > best[0]) ? one : best), [0, 0])[0];
}

/// What the beginning of a table looks like. The node reads it anew, and has the last word.
export function look(text: string): Look {
  let best = { delimiter: ',', rows: [] as string[][], width: 0, score: -1 };
  for (const delimiter of DELIMITERS) {
    const rows = split(text.replace(/^\uFEFF/, ''), delimiter, LOOKED_AT);
    const width = usual(rows);
    const score = width > 1 ? width * rows.filter((one) => one.length === width).length : 0;
    if (score > best.score) best = { delimiter, rows, width, score };
  }
  // Lines above the names are titles, where the others have more fields that are not empty.
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
    if (numbers * 2 <= full.length) return 'text' as const;
    hasGaps ||= full.length < values.length;
    return 'number' as const;
  });
  const ids = kinds.findIndex((kind, at) => kind === 'text' && rows.length > 1 && new Set(rows.map((one) => one[at])).size === rows.length);
  return { delimiter: best.delimiter, above, hasNames, names, rows, kinds, hasGaps, isPlain, ids };
}
