// Shows errors with advice, and warnings.

import { Fault } from '../api/http.ts';
import { cure } from '../state/words.ts';

/// Shows the warnings about some data in one box.
export function Warnings({ of }: { of?: string[] }) {
  if (!of?.length) return null;
  return <ul class="warning">{of.map((warning) => <li key={warning}>{warning}</li>)}</ul>;
}

export function Trouble({ error, code }: { error: unknown; code?: string }) {
  if (!error) return null;
  const text = error instanceof Error ? error.message : String(error);
  const help = cure(code ?? (error instanceof Fault ? error.code : ''));
  const lines = text.split('\n');
  return (
    <div class="trouble" role="alert">
      {lines.length > 1 ? (
        <ul>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      ) : (
        <p>{text}</p>
      )}
      {help && <p class="cure">{help}</p>}
    </div>
  );
}
