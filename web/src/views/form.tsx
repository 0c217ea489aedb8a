// A form for the options of a method, built from their declaration.

import { useSignal } from '@preact/signals';
import { complaint, type Field } from '../api/schema.ts';
import type { Dataset } from '../state/node.ts';
import { words } from '../state/words.ts';

/// The values typed or chosen, by field. A field without a value keeps its default.
export type Typed = Record<string, string | string[]>;

/// Returns the options to send to the node: the values that differ from the defaults.
export function options(fields: Field[], typed: Typed): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const field of fields) {
    const value = typed[field.name];
    if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) continue;
    const read =
      field.kind === 'whole' || field.kind === 'number' ? Number(value) : field.kind === 'yes' ? value === 'yes' : value;
    if (read !== field.default) made[field.name] = read;
  }
  return made;
}

export function isRight(fields: Field[], typed: Typed): boolean {
  return fields.every((field) => {
    const value = typed[field.name];
    return typeof value !== 'string' || complaint(field, value) === null;
  });
}

export function Options({
  fields,
  typed,
  dataset,
  change,
}: {
  fields: Field[];
  typed: Typed;
  dataset: Dataset | undefined;
  change: (name: string, value: string | string[]) => void;
}) {
  const isOpen = useSignal(false);
  const show = (field: Field) => <One key={field.name} field={field} value={typed[field.name]} dataset={dataset} change={change} />;
  const more = fields.filter((field) => !field.isBasic);
  return (
    <>
      <div class="fields">{fields.filter((field) => field.isBasic).map(show)}</div>
      {more.length > 0 && (
        <details open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
          <summary>More options ({more.length})</summary>
          {isOpen.value && <div class="fields">{more.map(show)}</div>}
        </details>
      )}
    </>
  );
}

function One({
  field,
  value,
  dataset,
  change,
}: {
  field: Field;
  value: string | string[] | undefined;
  dataset: Dataset | undefined;
  change: (name: string, value: string | string[]) => void;
}) {
  const id = `option-${field.name}`;
  const text = typeof value === 'string' ? value : '';
  const wrong = complaint(field, text);
  // The form has another field "Method".
  const title = field.name === 'method' ? 'algorithm' : words(field.name);
  const about = (
    <span class="about" id={`${id}-about`}>
      {field.about}
    </span>
  );
  if (field.kind === 'yes') {
    const isOn = value === undefined ? field.default === true : value === 'yes';
    const isChosenHere = isOn && field.name === 'auto' && dataset?.account !== undefined;
    return (
      <div class="field">
        <label class="check">
          <input id={id} type="checkbox" checked={isOn} aria-describedby={`${id}-about`} onChange={(event) => change(field.name, event.currentTarget.checked ? 'yes' : 'no')} />
          <b>{title}</b>
        </label>
        {isChosenHere ? <span class="about" id={`${id}-about`}>{field.about.replace(/ ?Default: no\.$/, '')} Chosen for this table.</span> : about}
      </div>
    );
  }
  if (field.kind === 'columns' && dataset) {
    const chosen = Array.isArray(value) ? value : [];
    // Parts of dates are offered if there are dates.
    const isParts = field.choices.length > 0;
    const names = !isParts
      ? dataset.columns.filter(({ kind }) => kind !== 'text').map(({ name }) => name)
      : dataset.account?.some((column) => column.read_as.startsWith('date')) ? field.choices.map(({ value }) => value) : [];
    if (names.length === 0) return null;
    return (
      <fieldset class="field wide">
        <legend>{title}</legend>
        <div class="columns">
          {names.map((name) => (
            <label class="check" key={name}>
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={(event) => change(field.name, event.currentTarget.checked ? [...chosen, name] : chosen.filter((one) => one !== name))}
              />
              {name}
            </label>
          ))}
        </div>
        <span class="about">{chosen.length ? `${chosen.length} chosen` : field.name === 'columns' ? 'None chosen: all numbers, except weights and ids.' : field.about}</span>
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={id}>{title}</label>
      {field.kind === 'choice' ? (
        <select id={id} value={text || String(field.default ?? '')} aria-describedby={`${id}-about`} onChange={(event) => change(field.name, event.currentTarget.value)}>
          {field.default === null && <option value="">{field.otherwise}</option>}
          {field.choices.map((choice) => (
            <option key={choice.value} value={choice.value} title={choice.about}>
              {words(choice.value)}{/^[^:.]{1,40}:/.test(choice.about) && `: ${choice.about.split(':')[0].toLowerCase()}`}
            </option>
          ))}
        </select>
      ) : field.kind === 'column' && dataset ? (
        <select id={id} value={text} aria-describedby={`${id}-about`} onChange={(event) => change(field.name, event.currentTarget.value)}>
          <option value="">{field.otherwise}</option>
          {dataset.columns.map(({ name }) => <option key={name} value={name}>{name}</option>)}
        </select>
      ) : (
        <input
          id={id}
          value={Array.isArray(value) ? value.join(',') : text}
          inputMode={field.kind === 'whole' ? 'numeric' : field.kind === 'number' ? 'decimal' : 'text'}
          placeholder={field.otherwise}
          aria-invalid={wrong !== null}
          aria-describedby={`${id}-about`}
          autocomplete="off"
          onInput={(event) => {
            const typed = event.currentTarget.value;
            change(field.name, field.kind === 'columns' ? typed.split(',').map((one) => one.trim()).filter(Boolean) : typed);
          }}
        />
      )}
      {wrong ? <span class="complaint" id={`${id}-about`}>{wrong}</span> : about}
      {field.kind === 'choice' && field.choices.find((one) => one.value === (text || field.default))?.about && (
        <span class="about">{field.choices.find((one) => one.value === (text || field.default))!.about}</span>
      )}
    </div>
  );
}
