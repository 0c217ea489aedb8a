import { expect, test } from 'vitest';
import { reasons } from '../../src/views/outliers.tsx';

test('each column that makes a row an outlier has its value and those of the cluster', () => {
  const values = (last: number) => Float64Array.from([0, 1, 2, 3, 4, last]);
  const columns = { rows: 6, columns: [{ name: 'x', kind: 'number', values: values(9) }, { name: 'a (b); c', kind: 'number', values: values(60) }] };
  const grouping: any = {
    title: 'clusters', groups: [{ number: 0, name: '0' }], groupOf: new Uint16Array(6),
    outliers: [{ row: 5, cluster: 0, about: 'a (b); c (91 %); x (9 %)' }],
  };
  expect(reasons(grouping, columns as any)).toEqual([
    'a (b); c 60 (91 % of the distance; half of the cluster has 1.25 to 3.75), x 9 (9 % of the distance; half of the cluster has 1.25 to 3.75)',
  ]);
});
