// The parts of the node's OpenAPI description that forms need.

import { get } from './http.ts';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  deprecated?: boolean;
  'x-default'?: string;
  'x-heading'?: string;
  'x-short'?: string;
}

export interface Description {
  paths: Record<string, Record<string, any>>;
  components: { schemas: Record<string, Schema> };
}

let kept: Promise<Description> | null = null;

/// Fetches the description of the node, once until `forget` is called.
export function description(): Promise<Description> {
  kept ??= get<Description>('/openapi.json').catch((error) => {
    kept = null;
    throw error;
  });
  return kept;
}

export function forget(): void {
  kept = null;
}

/// Returns a schema with its references resolved. The schema's own keywords override those of the schema that it refers to.
export function resolved(schema: Schema, all: Description): Schema {
  const { $ref, anyOf, ...own } = schema;
  if ($ref) return { ...resolved(all.components.schemas[$ref.split('/').pop()!] ?? {}, all), ...own };
  const choice = anyOf?.find((one) => one.type !== 'null');
  if (choice) {
    const found = resolved(choice, all);
    const { default: _, ...rest } = found;
    return { ...rest, ...own, description: own.description ?? found.description };
  }
  return schema;
}

export type FieldKind = 'whole' | 'number' | 'choice' | 'yes' | 'columns' | 'column' | 'text';

/// A field of a form.
export interface Field {
  name: string;
  kind: FieldKind;
  about: string;
  choices: { value: string; about: string }[];
  default: unknown;
  /// Describes in words what happens without a value.
  otherwise: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  isBasic: boolean;
}

/// Options that most people set. A form shows other options behind "More options".
const BASIC = new Set([
  'columns', 'lonlat', 'scale', 'method', 'clusters', 'components', 'covariance', 'metric', 'dimension', 'dimensions', 'nodes',
]);

/// Returns the fields of a method's options. Common options come first; otherwise, the order is that of the method's declaration.
export function fields(options: Schema, all: Description): Field[] {
  const list = Object.entries(options.properties ?? {})
    .map(([name, raw]) => ({ name, schema: resolved(raw, all) }))
    .filter(({ schema }) => !schema.deprecated)
    .map(({ name, schema }) => field(name, schema, schema.items && resolved(schema.items, all)));
  // The choice of columns needs a row of its own, so it comes after the shorter common fields.
  const rank = (one: Field) => (one.isBasic ? (one.kind === 'columns' ? 1 : 0) : 2);
  return list.sort((a, b) => rank(a) - rank(b));
}

/// `items` describes the items of a list.
function field(name: string, schema: Schema, items?: Schema): Field {
  const types = ([] as string[]).concat(schema.type ?? []);
  const kind: FieldKind = schema.enum
    ? 'choice'
    : types.includes('boolean')
      ? 'yes'
      : types.includes('integer')
        ? 'whole'
        : types.includes('number')
          ? 'number'
          : types.includes('array')
            ? 'columns'
            : name === 'id' || name === 'weights'
              ? 'column'
              : 'text';
  const [about, ...choices] = (schema.description ?? '').split('\n\n');
  const said = new Map(
    choices
      .join('\n')
      .split(/\n?- /)
      .map((line) => line.match(/^`(.+?)`: ([^]*)$/))
      .filter((found) => found !== null)
      .map((found) => [found[1], found[2]]),
  );
  const isNothing = schema.default === null || schema.default === undefined;
  return {
    name,
    kind,
    about: about.replaceAll('`', ''),
    choices: (schema.enum ?? items?.enum ?? []).map((value) => ({ value: String(value), about: said.get(String(value)) ?? '' })),
    default: schema.default ?? null,
    otherwise: schema['x-default'] ?? (!isNothing ? String(schema.default) : /Default:/.test(about) ? 'default' : 'chosen for you'),
    minimum: schema.minimum,
    maximum: schema.maximum,
    exclusiveMinimum: schema.exclusiveMinimum,
    exclusiveMaximum: schema.exclusiveMaximum,
    isBasic: BASIC.has(name) || schema['x-short'] !== undefined,
  };
}

/// Returns what is wrong with a text typed into a field, or `null` if the text is valid or empty.
export function complaint(field: Field, text: string): string | null {
  if (text.trim() === '') return null;
  if (field.kind !== 'whole' && field.kind !== 'number') return null;
  const { minimum: low, maximum: high, exclusiveMinimum: above, exclusiveMaximum: below } = field;
  const kind = field.kind === 'whole' ? 'a whole number' : 'a number';
  const least = low ?? above;
  const range =
    least !== undefined && high !== undefined
      ? above !== undefined
        ? `above ${least} and at most ${high}`
        : `from ${least} to ${high}`
      : low !== undefined
        ? `of at least ${low}`
        : above !== undefined
          ? `above ${above}`
          : high !== undefined
            ? `of at most ${high}`
            : '';
  const expected = `Expected ${kind}${range ? ` ${range}` : ''}, found "${text.trim()}".`;
  const value = Number(text);
  if (!Number.isFinite(value) || (field.kind === 'whole' && !/^[+-]?\d+$/.test(text.trim()))) return expected;
  const isOutside =
    (low !== undefined && value < low) ||
    (high !== undefined && value > high) ||
    (above !== undefined && value <= above) ||
    (below !== undefined && value >= below);
  return isOutside ? expected : null;
}
