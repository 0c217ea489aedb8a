import { expect, test } from 'vitest';
import { unpack } from '../../src/try/lzma.ts';

// Packed by Python's lzma, as tools/try_page.py does it: a sentence four times, squares, the sentence, the squares again, and bytes without order.
const PACKED = [
  'BAAAAAH//////////wAmGhRD40Nxv71iogmqNJDHuCOE7tbehcHq1jISGdf8G8JtwtZQQx6MRZ3AOu7cEp/zjQfvI3XkiuIOylGGRAtOPeT8BtYSLXOhzBLZWiKnOSVseqVhlBfIwQuCr78QByjgYO',
  'JcJhFHGfw8nDqJzaDeW+fDubsAWeZFGN6eoNrp0tN9cxxvWYHRFYgFy4hyj2Iaqi1GFYeOLUt1lcLlZcD4GhrHrXE/nQP/7bm0Ir3zyP8SnK6YDqCpmXCBlN6o0r5jW5SZeOt4A6SD4BhqnCPYmVJP',
  'vtOJ0f1l21z87oTMNc2glWi3aL8Nu8WU3Lf0/XDQQoRfgmbU3WtU4ctiPvmDmHhKUVjwk8dsGWaWwYiqg5vZbHp5E4i/J49jq0hqz1MwIUhfjRzqS8UFsvdV0BoXhyMWGisWRh+pdjPN6Xp/0MtEhI',
  'bA1oKk9Vvy3dyaFqQMywRbzc2MP2XpEh3ePqyVbxX2CemLfS+5C/1TEtw=',
].join('');

const packed = () => Uint8Array.from(atob(PACKED), (letter) => letter.charCodeAt(0));
const numbers = (count: number, of: (i: number) => number) => Uint8Array.from({ length: count }, (_, i) => of(i));
const sentence = new TextEncoder().encode('Lehr finds groups in a table. ');
const square = (i: number) => (i * i) % 251;
const whole = [...sentence, ...sentence, ...sentence, ...sentence, ...numbers(600, square), ...sentence, ...numbers(300, square), ...numbers(60, (i) => (i * 7919 + Math.floor((i * i) / 13)) % 256)];

test('what Python packs is unpacked, to the end or less far', () => {
  expect([...unpack(packed(), whole.length)]).toEqual(whole);
  for (const length of [0, 1, 77, 500]) expect([...unpack(packed(), length)]).toEqual(whole.slice(0, length));
});

test('damaged bytes are not taken for an engine', () => {
  for (const wrong of [packed().subarray(0, 10), packed().subarray(0, 200), new Uint8Array(100).fill(255)]) {
    expect(() => unpack(wrong, whole.length)).toThrow('damaged');
  }
  // The end of the stream comes before the length that is asked for.
  expect(() => unpack(packed(), whole.length + 1)).toThrow('damaged');
});
