// What the pages for people have in common. They are complete without scripts; a script, where there is one, keeps them up to date.

/** URLs of files of the pages, absolute or relative to the page; a page without them is plain. */
export interface PageAssets {
  readonly script?: string;
  readonly style?: string;
  readonly icon?: string;
  /** What the script imports, to be loaded with it. */
  readonly imported?: readonly string[];
}

/**
 * @param body HTML
 * @param againSeconds after which the browser loads the page again; by default it does not.
 */
export function documentOf(title: string, body: string, { script, style, icon, imported = [] }: PageAssets, againSeconds?: number): string {
  const lines = [
    '<!DOCTYPE html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<title>${escapeHtml(title)}</title>`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="robots" content="noindex">',
    againSeconds !== undefined && `<meta http-equiv="refresh" content="${againSeconds}">`,
    icon !== undefined && `<link rel="icon" href="${escapeHtml(icon)}" type="image/svg+xml">`,
    style !== undefined && `<link rel="stylesheet" href="${escapeHtml(style)}">`,
    ...imported.map((url) => `<link rel="modulepreload" href="${escapeHtml(url)}">`),
    script !== undefined && `<script type="module" src="${escapeHtml(script)}"></script>`,
    '</head>',
    '<body>',
    body,
    '</body>',
    '</html>',
    ''
  ];
  return linesOf(lines);
}

/** Lines of HTML; `false` and undefined stand for lines that are left out. */
export function linesOf(lines: readonly (string | false | undefined)[]): string {
  return lines.filter((line) => line !== false && line !== undefined).join('\n');
}

/** For texts and for attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** `150,000 sats`. */
export function formatSats(amount: bigint): string {
  return `${amount.toString().replace(/\B(?=(\d{3})+$)/g, ',')} sat${amount === 1n ? '' : 's'}`;
}

/** A time in UTC, which the script shows in the reader's zone. Times that a Date cannot hold (they are uint64) are shown as numbers. */
export function timeHtml(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1_000);
  if (Number.isNaN(date.getTime())) return seconds.toString();
  const iso = date.toISOString();
  return `<time datetime="${iso}" data-local>${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
