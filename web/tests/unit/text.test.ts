import { expect, test } from 'vitest';
import { csvOf, field, look, MARK, row, shortest, split } from '../../src/state/csv.ts';
import { nameFrom } from '../../src/state/setname.ts';
import { bytes, cure, duration, figure } from '../../src/state/words.ts';
import { labels, spaced, tens, ticks } from '../../src/views/chart.tsx';
import { nameOf } from '../../src/views/incoming.tsx';
import { measured } from '../../src/views/node.tsx';

test('fields are quoted where they have to be', () => {
  expect(['a', 'a,b', 'say "x"', 'two\nlines', 1.5, NaN, null].map(field)).toEqual(['a', '"a,b"', '"say ""x"""', '"two\nlines"', '1.5', '', '']);
});

test('numbers of single precision have the digits that were written', () => {
  const written = [12471.79, 33.4, 2.9, 0.1, -1e-7, 123456.7, 5, 3.4e38, 16777217.5];
  expect(written.map((value) => shortest(Math.fround(value)))).toEqual([12471.79, 33.4, 2.9, 0.1, -1e-7, 123456.7, 5, 3.4e38, 16777218]);
  expect([NaN, Infinity].map(shortest)).toEqual([NaN, Infinity]);
  for (let bits = 1; bits < 2000; bits++) {
    const value = Math.fround(bits / 7);
    expect(Math.fround(shortest(value))).toBe(value);
  }
});

test('a title that a spreadsheet padded with delimiters is no line of names', () => {
  const { above, names } = look('Customer report;;\n;;\nid;spend;city\n1;2,5;Bern\n2;3,5;Chur\n');
  expect([above, names]).toEqual([2, ['id', 'spend', 'city']]);
  // An empty line is no line of the title, but it counts when the page says in which line the names are.
  const spaced = look('Customer report\n\nid,spend\n1,2.5\n2,3\n');
  expect([spaced.above, spaced.line]).toEqual([1, 3]);
  expect(look('a,b\n1,2\n').line).toBe(1);
});

test('a column of dates is one, and a column of versions or numbers is none', () => {
  const { kinds } = look('a,b,c,d,e\n2024-01-31,31/01/2024,v1.2.3,20240131,2024-01-31T10:00\n2024-02-01,1.2.2024,v1.2.4,20240201,2024-02-01T11:30\n');
  expect(kinds).toEqual(['date', 'date', 'text', 'number', 'date']);
  expect(look('a\n1\n2\n').above).toBe(0);
});

test('what is written is read back', () => {
  const values = ['plain', 'a,b', '"', 'x\ny', '', '<img src=x onerror=alert(1)>'];
  expect(split(row(values), ',', 10)).toEqual([values]);
});

test('a look at a table finds the delimiter, names, kinds and missing values', () => {
  const found = look('name;size;weight\r\nanna;1;\r\n"bo;b";2;3\r\n');
  expect(found).toMatchObject({ delimiter: ';', hasNames: true, names: ['name', 'size', 'weight'], kinds: ['text', 'number', 'number'], hasGaps: true });
  expect(found.rows[1]).toEqual(['bo;b', '2', '3']);
  expect(look('1,2\n3,4\n')).toMatchObject({ hasNames: false, names: ['0', '1'], hasGaps: false });
  expect(look('')).toMatchObject({ names: [], rows: [] });
  expect(look('\uFEFFa\tb\n1\t2\n').names).toEqual(['a', 'b']);
});

test('an export is recognised: a title above the names, money, per cent, texts and ids', () => {
  const found = look('\uFEFFShop export\nCustomer,Spend,Visits,Discount,Segment\nC1,"£2,477.58",19,25.1%,Trade\nC2,£117.77,N/A,-2.5%,\nC3,£8.10,4,3%,Trade\nTotal,,,,\n');
  expect(found).toMatchObject({
    above: 1, names: ['Customer', 'Spend', 'Visits', 'Discount', 'Segment'], kinds: ['text', 'number', 'number', 'number', 'text'], isPlain: false, hasGaps: true, ids: 0,
  });
  expect(found.rows[0]).toEqual(['C1', '£2,477.58', '19', '25.1%', 'Trade']);
  expect(look('a,b\n1,2\n3,\n')).toMatchObject({ isPlain: true, above: 0, ids: -1 });
  // One title alone, and lines of one field, are no reason to lose rows.
  expect(look('only\n1\n2\n')).toMatchObject({ names: ['only'], rows: [['1'], ['2']], isPlain: true });
});

test('numbers are short and still tell values apart', () => {
  expect([0, 1234567, 0.1 + 0.2, 1e-9, 123456789.5, NaN, null, 'x', [1]].map((value) => figure(value))).toEqual(
    ['0', '1,234,567', '0.3', '1e-9', '123,456,790', '–', '', 'x', '[1]']);
  // Below 1e9, numbers stand as people write them, whole to the unit.
  expect([1542391.1, 1542391.25, -26256.34, 1234.5678, 999.99994, 2.5e9].map((value) => figure(value, 6))).toEqual(['1,542,391', '1,542,391', '-26,256.3', '1,234.57', '1000', '2,500,000,000']);
  expect(figure(26256.34, 3)).toBe('26,256');
  expect([999, 1000, 8650486].map(bytes)).toEqual(['999 B', '1.0 kB', '8.7 MB']);
  expect([500, 61_000, 3_700_000].map(duration)).toEqual(['500 ms', '1 min 1 s', '1 h 1 min']);
});

test('ticks are round, inside, and few', () => {
  expect(ticks(0, 10, 5)).toEqual([0, 2, 4, 6, 8, 10]);
  expect(ticks(3, 3, 5)).toEqual([3]);
  expect(Object.is(ticks(-1, 1, 2)[1], 0)).toBe(true);
  // Where a step is less than the two nearest numbers are apart, and where the range is larger than a number can be.
  expect(ticks(1e16, 1e16 + 4, 20).length).toBeLessThan(6);
  expect(ticks(-1.7e308, 1.7e308, 5)).toEqual([-1e308, 0, 1e308]);
  for (const [low, high] of [[-0.37, 12.1], [1e-9, 3e-9], [1e12, 9e12]]) {
    const found = ticks(low, high, 5);
    expect(found.length).toBeGreaterThan(1);
    expect(found.length).toBeLessThan(12);
    for (const value of found) expect(value >= low - 1e-12 * high && value <= high * (1 + 1e-9)).toBe(true);
  }
});

test('the labels of neighbouring ticks differ, and say the ticks', () => {
  for (const [low, high] of [[-4.0742, -4.0737], [-4.07421, -4.07419], [0, 3], [1e8, 1e8 + 3], [0.25, 0.75], [-3e-7, 2e-7], [12345.6, 12345.7]]) {
    const values = ticks(low, high, 4);
    const told = labels(values);
    expect(new Set(told).size, told.join(' ')).toBe(values.length);
    told.forEach((text, at) => expect(Number(text.replaceAll(',', '')), text).toBeCloseTo(values[at], 9));
  }
  expect(labels(ticks(0, 10, 5))).toEqual(['0', '2', '4', '6', '8', '10']);
  expect(labels(tens(1, 1000, 5))).toEqual(['1', '10', '100', '1,000']);
  expect(labels([3])).toEqual(['3']);
  // Where there is no room for all labels, those that remain do not overlap, and a falling axis has them from left to right too.
  const falling = spaced([1e5, 2e5, 5e5, 1e6, 2e6], (value) => 60 * Math.log2(2e6 / value));
  expect(falling.map(({ text }) => text)).toEqual(['2,000,000', '500,000', '200,000', '100,000']);
  expect(spaced([1e5, 2e5, 5e5, 1e6, 2e6], (value) => 100 * Math.log2(value / 1e5))).toHaveLength(5);
});

test('a file becomes a name that the node takes', () => {
  expect(['blocks_2020.csv.gz', 'My data (1).xlsx', '../../etc/passwd', '<img src=x>.csv', '....'].map(nameOf)).toEqual(
    ['blocks_2020', 'My-data-1', 'etc-passwd', 'img-src-x', 'data']);
  for (const name of ['a b', 'é.csv', '-.csv']) expect(nameOf(name)).toMatch(/^[A-Za-z0-9._-]+$/);
});

test('metrics are read with their labels', () => {
  const found = measured('# HELP a b\na{x="1 2"} 3\nb 4.5\n');
  expect([...found]).toEqual([['a{x="1 2"}', 3], ['b', 4.5]]);
});

test('faults that a user can do something about say what', () => {
  for (const code of ['invalid_value', 'unknown_entry', 'permission_denied', 'unavailable', 'too_large']) expect(cure(code)).toBeTruthy();
  expect(cure('something_else')).toBeNull();
});

test('a file has the chosen rows below its names, and begins with the mark by which Excel knows UTF-8', async () => {
  const table = await csvOf(['name', 'x'], Uint8Array.of(1, 0, 1), (row) => [`"${row}"`, row === 2 ? NaN : 0.1]).text();
  expect(table).toBe('name,x\n"""0""",0.1\n"""2""",\n');
  // The page's own form for files skips the mark.
  const { above, names } = look(MARK + table);
  expect([above, names]).toEqual([0, ['name', 'x']]);
});

test('a typed name becomes one that the node accepts', () => {
  expect(nameFrom('My cafés')).toBe('My-cafes');
  expect(nameFrom(' ../Größe, 2 % (Å) ')).toBe('Gro-e-2-A');
  expect(nameFrom('towns/north-2.1')).toBe('towns/north-2.1');
  expect(nameFrom('a//b/.c/')).toBe('a/b/c');
  expect(nameFrom('x'.repeat(300))).toHaveLength(100);
  expect(nameFrom('日本')).toBe('');
});
