// Makes the tables of a finished page sortable: the heads of their columns become buttons.

/// Returns the key by which a cell is sorted: its `data-value`, the number at its beginning, or its text.
export function keyOf(cell: { dataset: { value?: string }; textContent: string | null }): number | string {
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  const text = (cell.textContent ?? '').trim().replaceAll('−', '-');
  const number = text.replaceAll(',', '').match(/^[+-]?\d+(\.\d+)?(?: ?×? ?10?(?:e|\^)?-?\d*)?/);
  const power = text.match(/^([+-]?\d+(?:\.\d+)?) × 10([+-]?\d+)/);
  if (power) return Number(power[1]) * 10 ** Number(power[2]);
  return number ? parseFloat(number[0]) : text.toLowerCase();
}

export function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return Number.isNaN(a) ? (Number.isNaN(b) ? 0 : 1) : Number.isNaN(b) ? -1 : a - b;
  if (typeof a === 'number') return -1;
  if (typeof b === 'number') return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

export function sortable(table: HTMLTableElement): void {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const isAscending = head.getAttribute('aria-sort') !== 'ascending';
      heads.forEach((one) => one.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending');
      const [body] = table.tBodies;
      const rows = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[column]) }));
      rows.sort((a, b) => (isAscending ? 1 : -1) * compare(a.key, b.key));
      body.append(...rows.map(({ row }) => row));
    });
  });
}
