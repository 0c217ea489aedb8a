// Links to reports: of a job, and of the services that keep reports under a name.

import { ask, hasToken, query, root } from '../api/http.ts';
import { download } from '../state/download.ts';
import { documentOf, ofContract } from '../state/node.ts';
import { say } from '../state/notice.ts';

/// Draws a link to a report. If the page has a token, a button saves the report instead, since a link carries no token.
export function ReportLink({ address, name }: { address: string; name: string }) {
  if (!hasToken()) return <a class="button" href={new URL(`.${address}`, root).href} target="_blank" rel="noopener">Report<span class="unseen"> of {name}</span></a>;
  const save = () =>
    ask(address, { accept: 'text/html' })
      .then((answer) => answer.blob())
      .then((page) => download(`${name}.html`, page))
      .catch((caught) => say(String(caught.message ?? caught)));
  return <button type="button" onClick={save}>Save report<span class="unseen"> of {name}</span></button>;
}

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
            {report.page && <ReportLink address={query(`${path}:page`, { name })} name={name} />}
          </li>
        ))}
      </ul>
    </section>
  );
}
