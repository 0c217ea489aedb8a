// Links to what the node answers.

import { ask, hasToken, root } from '../api/http.ts';
import { download } from '../state/download.ts';
import { say } from '../state/notice.ts';
import { capital } from '../state/words.ts';

/// Draws a link that opens what is at an address. If the page has a token, a button saves it as a file instead, since a link carries no token.
export function NodeLink({ address, title, of, file }: { address: string; title: string; of?: string; file: string }) {
  const whole = of && <span class="unseen"> of {of}</span>;
  if (!hasToken()) return <a class="button" href={new URL(`.${address}`, root).href} target="_blank" rel="noopener">{capital(title)}{whole}</a>;
  const save = () =>
    ask(address, { accept: file.endsWith('.html') ? 'text/html' : '*/*' })
      .then((answer) => answer.blob())
      .then((found) => download(file, found))
      .catch((caught) => say(String(caught.message ?? caught)));
  return <button type="button" onClick={save}>Save {title}{whole}</button>;
}
