// Saves a figure as a file, as shapes (SVG) or pixels (PNG), with its colours on the page.

import { download } from '../state/download.ts';

const SVG = 'http://www.w3.org/2000/svg';

/// The style properties that a file must contain itself, because it has no style sheet.
const STYLED = [
  'fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'stroke-linecap', 'font-size', 'font-weight', 'font-family',
  'text-anchor', 'paint-order', 'opacity', 'visibility',
];

/// The number of PNG pixels per page pixel, in each direction.
const FINE = 2;

export function element(name: string, attributes: Record<string, string>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/// Returns a copy of a picture that needs no style sheet, with its own background.
export function standalone(picture: SVGSVGElement, width: number, height: number, ground: string): SVGSVGElement {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const [from, to] = [picture.querySelectorAll<SVGElement>('*'), copy.querySelectorAll<SVGElement>('*')];
  from.forEach((one, at) => {
    const style = getComputedStyle(one);
    for (const name of STYLED) {
      const value = style.getPropertyValue(name);
      if (value && value !== 'none' && value !== 'normal') to[at].setAttribute(name, value);
      else if (value === 'none') to[at].setAttribute(name, 'none');
    }
  });
  copy.setAttribute('xmlns', SVG);
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.setAttribute('viewBox', `0 0 ${width} ${height}`);
  copy.prepend(element('rect', { width: String(width), height: String(height), fill: ground }));
  return copy;
}

/// Returns the background colour of the page's figures.
export function groundOfPage(): string {
  return getComputedStyle(document.documentElement).getPropertyValue('--card').trim() || '#ffffff';
}

export function svgFile(picture: SVGSVGElement): Blob {
  return new Blob([new XMLSerializer().serializeToString(picture)], { type: 'image/svg+xml' });
}

export async function pngFile(picture: SVGSVGElement): Promise<Blob> {
  const address = URL.createObjectURL(svgFile(picture));
  try {
    const image = new Image();
    await new Promise<void>((done, failed) => {
      image.onload = () => done();
      image.onerror = () => failed(new Error('The picture could not be made.'));
      image.src = address;
    });
    const canvas = document.createElement('canvas');
    canvas.width = FINE * Number(picture.getAttribute('width'));
    canvas.height = FINE * Number(picture.getAttribute('height'));
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error('The picture could not be made.'))), 'image/png'));
  } finally {
    URL.revokeObjectURL(address);
  }
}

/// Shows two buttons that save a figure.
export function Save({ name, make, fail }: { name: string; make: () => SVGSVGElement; fail?: (error: unknown) => void }) {
  const save = async (kind: 'png' | 'svg') => {
    try {
      const picture = make();
      download(`${name}.${kind}`, kind === 'svg' ? svgFile(picture) : await pngFile(picture));
    } catch (caught) {
      fail?.(caught);
    }
  };
  return (
    <span class="save">
      <span class="soft" aria-hidden="true">Save</span>
      <button type="button" onClick={() => save('png')}><span class="unseen">Save {name} as </span>PNG</button>
      <button type="button" onClick={() => save('svg')}><span class="unseen">Save {name} as </span>SVG</button>
    </span>
  );
}
