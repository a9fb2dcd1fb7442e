// A QR code as SVG in the page: it needs no script, and no image that a policy would have to allow.

import { encodeQR } from 'qr';
import { escapeHtml } from './page-document';

/** Screens are not scratched: the least error correction has the largest modules. */
const CORRECTION = 'low';

/** Modules of light around the code, which readers need. */
const BORDER = 4;

/** No code has room for much more at this level of error correction. */
const MOST_CHARACTERS = 2_000;

/**
 * @param label what it says, for those who cannot see it.
 * @returns undefined for a text that is too long.
 */
export function qrSvg(text: string, label: string): string | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  const rows = encodeQR(text, 'raw', { ecc: CORRECTION, border: BORDER });
  const size = rows.length;
  return (
    `<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${escapeHtml(label)}" shape-rendering="crispEdges">` +
    `<rect class="qr-light" width="${size}" height="${size}" fill="#fff"/><path class="qr-dark" d="${rows.map(runsOf).join('')}"/></svg>`
  );
}

/** The dark modules of a row, each run of them as one rectangle. */
function runsOf(row: readonly boolean[], y: number): string {
  const text = row.map((isDark) => (isDark ? '1' : '0')).join('');
  return Array.from(text.matchAll(/1+/g), ({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`).join('');
}
