// A figure as a file: as shapes (SVG) and as pixels (PNG), with the colours that it has on the page.

import { download } from '../state/download.ts';

const SVG = 'http://www.w3.org/2000/svg';

/// What the page's style says of a shape, and what a file has to say itself.
const STYLED = [
  'fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'stroke-linecap', 'font-size', 'font-weight', 'font-family',
  'text-anchor', 'paint-order', 'opacity', 'visibility',
];

/// How many pixels of a picture stand for one of the page.
const FINE = 2;

export function element(name: string, attributes: Record<string, string>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/// A copy of a picture of the page that needs no style, on a ground of its own.
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

/// The ground on which the figures of a page stand.
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

/// Two buttons that save a figure.
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
