import { encodeQR } from 'qr';

/** Modules of light around the code, which readers need. */
const BORDER = 4;

/** `label`: what it says, for those who cannot see it. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: BORDER });
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : []))).join('');
  return (
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect class="qr-light" width="100%" height="100%" />
      <path class="qr-dark" d={path} />
    </svg>
  );
}
