// Shows a file before it is sent: its columns, its first rows, and what will be read. Afterwards, it shows the faults that the node has found.

import { batch, useSignal } from '@preact/signals';
import { Fault } from '../api/http.ts';
import { description } from '../api/schema.ts';
import { look, type Look } from '../state/csv.ts';
import { say } from '../state/notice.ts';
import { go } from '../state/route.ts';
import { formName, upload } from '../state/upload.ts';
import { bytes, count } from '../state/words.ts';
import { Trouble } from './fault.tsx';
import { Grid } from './table.tsx';

const FORMATS: [RegExp, string][] = [
  [/\.(tsv|tab)(\.gz)?$/i, 'tsv'],
  [/\.(csv|txt|dat)(\.gz)?$/i, 'csv'],
  [/\.npy(\.gz)?$/i, 'npy'],
  [/\.parquet$/i, 'parquet'],
  [/\.(arrow|feather|ipc)$/i, 'arrow'],
  [/\.(fasta|fa|fna|faa)(\.gz)?$/i, 'fasta'],
  [/\.fps(\.gz)?$/i, 'fps'],
  [/\.(smi|smiles|ism)(\.gz)?$/i, 'smiles'],
  [/\.(sdf|sd|mol)(\.gz)?$/i, 'sdf'],
  [/\.(svm|svmlight|libsvm)(\.gz)?$/i, 'svmlight'],
  [/\.(xlsx|xls|ods)$/i, 'table'],
  [/\.(json|jsonl|ndjson)(\.gz)?$/i, 'table'],
];

/// The kinds of values that similar formats accept.
const ABOUT: Record<string, string> = { csv: 'plain numbers', tsv: 'plain numbers', table: 'numbers, texts, gaps' };

/// Returns the names of the columns that a format can keep.
function usable(found: Look | null, format: string): Set<string> {
  return new Set(found?.names.filter((_, at) => format === 'table' || found.kinds[at] === 'number') ?? []);
}

function headed({ above, line, hasNames }: Look): string {
  if (!hasNames) return 'no names in the first row';
  return above === 0 ? 'names in the first row' : `names in line ${line}, below ${above === 1 ? 'a title' : `${above} lines`}`;
}

/// The number of bytes of a file that are examined.
const LOOKED_AT = 64 << 10;

export function nameOf(file: string): string {
  const bare = file.replace(/\.gz$/i, '').replace(/\.[a-z0-9]+$/i, '');
  return bare.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+|[-.]+$/g, '').slice(0, 100) || 'data';
}

/// Returns the beginning of a file as text. Unpacks it if it is packed by gzip.
async function beginning(file: File): Promise<string> {
  const head = file.slice(0, LOOKED_AT);
  const first = new Uint8Array(await head.slice(0, 2).arrayBuffer());
  if (first[0] !== 0x1f || first[1] !== 0x8b) return head.text();
  const reader = head.stream().pipeThrough(new DecompressionStream('gzip')).pipeThrough(new TextDecoderStream() as any).getReader();
  let text = '';
  try {
    while (text.length < LOOKED_AT) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
    }
  } catch {
    // The end of the packed piece cannot be unpacked, because the rest of the file is missing.
  }
  return text;
}

export function Incoming({ datasets, names }: { datasets: string; names: string[] }) {
  const file = useSignal<File | null>(null);
  const seen = useSignal<Look | null>(null);
  const name = useSignal('');
  const format = useSignal('csv');
  const formats = useSignal<string[]>([]);
  const kept = useSignal<Set<string>>(new Set());
  const id = useSignal('');
  const weights = useSignal('');
  const gaps = useSignal(false);
  const replace = useSignal(false);
  const isOver = useSignal(false);
  const sent = useSignal<number | null>(null);
  const error = useSignal<unknown>(null);
  const stop = useSignal<AbortController | null>(null);

  const choose = async (chosen: File | undefined) => {
    if (!chosen) return;
    const guess = FORMATS.find(([pattern]) => pattern.test(chosen.name))?.[1] ?? 'csv';
    const all = await description().catch(() => null);
    const known = (all?.components.schemas['lehr.datasets.Form']?.enum as string[] | undefined) ?? ['csv', 'tsv'];
    const chosenFormat = known.includes(guess) ? guess : 'csv';
    const isText = guess === 'csv' || guess === 'tsv';
    const found = isText ? look(await beginning(chosen)) : null;
    // Only the format `table` keeps texts, dates and numbers as people write them.
    const isTable = found !== null && !found.isPlain && known.includes('table');
    batch(() => {
      file.value = chosen;
      formName.value = null;
      formats.value = known;
      format.value = isTable ? 'table' : chosenFormat;
      seen.value = found;
      name.value = nameOf(chosen.name);
      kept.value = usable(found, format.value);
      id.value = isTable && found.ids >= 0 ? found.names[found.ids] : '';
      weights.value = '';
      gaps.value = found?.hasGaps ?? false;
      replace.value = false;
      error.value = null;
      sent.value = null;
    });
  };
  const send = async () => {
    const [content, found] = [file.value!, seen.value];
    const all = usable(found, format.value);
    const isChosen = found && (kept.value.size !== all.size || [...all].some((column) => !kept.value.has(column)));
    const reading = {
      ...(isChosen ? { columns: found.names.filter((column) => kept.value.has(column)) } : {}),
      ...(id.value ? { id: id.value } : {}),
      ...(weights.value ? { weights: weights.value } : {}),
      ...(gaps.value && format.value !== 'table' ? { gaps: true } : {}),
    };
    stop.value = new AbortController();
    error.value = null;
    sent.value = 0;
    try {
      const target = name.value.trim();
      formName.value = target;
      const made = await upload(datasets, target, format.value, reading, content, { replace: replace.value }, (bytes) => (sent.value = bytes), stop.value.signal);
      say(`${target} is there: ${count(made.rows)} rows, ${count(made.columns.length)} columns.`);
      file.value = null;
      go('data', { set: target });
    } catch (caught) {
      if (!stop.value.signal.aborted) error.value = caught;
    } finally {
      sent.value = null;
      stop.value = null;
    }
  };

  const found = seen.value;
  const isTable = format.value === 'table';
  const isTaken = names.includes(name.value.trim());
  const isWrongName = !/^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/.test(name.value.trim());
  const isBusy = sent.value !== null;
  const mayBeGaps = error.value instanceof Fault && /empty field|missing/i.test(error.value.message) && !gaps.value;
  return (
    <section class="card">
      <div
        class={`drop${isOver.value ? ' over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          isOver.value = true;
        }}
        onDragLeave={() => (isOver.value = false)}
        onDrop={(event) => {
          event.preventDefault();
          isOver.value = false;
          void choose(event.dataTransfer?.files[0]);
        }}
      >
        <p>
          <b>Drop a file here</b> to bring in a data set, or{' '}
          <label class="button first">
            choose a file
            <input
              class="unseen"
              type="file"
              onChange={(event) => {
                void choose(event.currentTarget.files?.[0]);
                event.currentTarget.value = '';
              }}
            />
          </label>
        </p>
        <p class="note">You see the columns of a text file first. Nothing is sent before you say so.</p>
      </div>
      {file.value && (
        <form
          class="incoming"
          aria-label={`Bring in ${file.value.name}`}
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <div class="head">
            <div>
              <h2>{file.value.name}</h2>
              <p class="note">
                {bytes(file.value.size)}
                {found ? `; ${count(found.names.length)} ${found.names.length === 1 ? 'column' : 'columns'}, ${headed(found)}` : ''}
              </p>
            </div>
          </div>
          <div class="fields">
            <label>
              Name
              <input value={name.value} aria-invalid={isWrongName} onInput={(event) => (name.value = event.currentTarget.value)} />
              {isWrongName && <span class="complaint">Use letters, digits, ".", "_" and "-", in parts with "/" between them.</span>}
            </label>
            <label>
              Format
              <select
                value={format.value}
                onChange={(event) => batch(() => ([format.value, kept.value] = [event.currentTarget.value, usable(found, event.currentTarget.value)]))}
              >
                {formats.value.map((one) => <option key={one} value={one}>{one}{ABOUT[one] ? `: ${ABOUT[one]}` : ''}</option>)}
              </select>
            </label>
            {found && (
              <>
                <label>
                  Ids
                  <select value={id.value} onChange={(event) => (id.value = event.currentTarget.value)}>
                    <option value="">none: rows are numbered</option>
                    {found.names.map((one) => <option key={one} value={one}>{one}</option>)}
                  </select>
                </label>
                <label>
                  Weights
                  <select value={weights.value} onChange={(event) => (weights.value = event.currentTarget.value)}>
                    <option value="">none: all rows count once</option>
                    {found.names.filter((_, at) => found.kinds[at] === 'number').map((one) => <option key={one} value={one}>{one}</option>)}
                  </select>
                </label>
              </>
            )}
          </div>
          {!isTable && (
            <label class="check">
              <input type="checkbox" checked={gaps.value} onChange={(event) => (gaps.value = event.currentTarget.checked)} />
              Values may be missing{found?.hasGaps ? ' (some of the first rows have none)' : ''}
            </label>
          )}
          {isTaken && (
            <label class="check">
              <input type="checkbox" checked={replace.value} onChange={(event) => (replace.value = event.currentTarget.checked)} />
              Replace the data set {name.value.trim()} that is there
            </label>
          )}
          {found && (
            <fieldset>
              <legend>{isTable ? 'Columns to keep' : 'Columns to keep: numbers that methods can use'}</legend>
              <div class="columns">
                {found.names.map((column, at) => (
                  <label class="check" key={`${at} ${column}`}>
                    <input
                      type="checkbox"
                      checked={kept.value.has(column)}
                      disabled={!isTable && found.kinds[at] !== 'number'}
                      onChange={(event) => {
                        const next = new Set(kept.value);
                        if (event.currentTarget.checked) next.add(column);
                        else next.delete(column);
                        kept.value = next;
                      }}
                    />
                    {column || '(no name)'} <span class="faint">{found.kinds[at]}</span>
                  </label>
                ))}
              </div>
            </fieldset>
          )}
          {found && found.rows.length > 0 && <Grid caption="First rows of the file" names={found.names} rows={found.rows.slice(0, 5)} first={0} isNumber={found.kinds.map((kind) => kind === 'number')} />}
          <Trouble error={error.value} />
          {mayBeGaps && (
            <p class="warning">
              Some numbers are missing.{' '}
              <button
                type="button"
                onClick={() => {
                  gaps.value = true;
                  void send();
                }}
              >
                Allow missing values and send again
              </button>
            </p>
          )}
          {isBusy && (
            <p>
              <progress max={file.value.size} value={sent.value ?? 0} aria-label="Sent" />{' '}
              {sent.value === file.value.size ? 'The node reads it…' : `${bytes(sent.value ?? 0)} of ${bytes(file.value.size)}`}
            </p>
          )}
          <div class="tools">
            <button type="submit" class="first" disabled={isBusy || isWrongName || (isTaken && !replace.value) || (found !== null && kept.value.size === 0)}>
              Bring it in
            </button>
            {found !== null && kept.value.size === 0 && (
              <span class="complaint">
                {isTable || !formats.value.includes('table') ? 'Choose a column to keep.' : 'No column has plain numbers. Choose the format "table", which reads numbers as people write them.'}
              </span>
            )}
            <button type="button" onClick={() => (isBusy ? stop.value?.abort() : ((file.value = null), (formName.value = null)))}>
              {isBusy ? 'Stop' : 'Cancel'}
            </button>
          </div>
        </form>
      )}
    </section>
  );
}
