// The reports that services keep under a name.

import { query } from '../api/http.ts';
import { documentOf, ofContract } from '../state/node.ts';
import { NodeLink } from './link.tsx';

interface Made {
  text: string;
  job: string;
  page?: string;
}

/// Lists the reports that services keep, such as those that workflows make.
export function Reports() {
  const made = ofContract('lehr/reports').flatMap(({ path }) =>
    Object.entries(documentOf<{ reports: Record<string, Made> }>(path).value?.reports ?? {}).map(([name, report]) => ({ path, name, report })),
  );
  if (!made.length) return null;
  return (
    <section class="card" aria-labelledby="reports">
      <h2 id="reports">Reports</h2>
      <ul class="plainlist">
        {made.map(({ path, name, report }) => (
          <li key={`${path} ${name}`} class="report-line">
            <span><b>{name}</b> of {report.job}: <span class="soft">{report.text.split('\n')[0]}</span></span>
            {report.page && <NodeLink address={query(`${path}:page`, { name })} title="report" of={name} file={`${name}.html`} />}
          </li>
        ))}
      </ul>
    </section>
  );
}
