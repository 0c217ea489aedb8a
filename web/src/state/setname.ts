// Names of data sets.

/// Returns a name that the node accepts, from a text that somebody typed: without accents, and with hyphens in place of other letters and signs.
export function nameFrom(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').replace(/[^\w./-]+/g, '-').replace(/^[-./]+|[-./]+$/g, '').replace(/\/[./]+/g, '/').slice(0, 100);
}
