// The pages for browsers as `npm run build` has made them: files that never change under their names, and the pages that load them.
// All are read once.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { IncomingMessage } from 'node:http';
import type { HeaderList } from '../server/errors';

/** What is sent. For HEAD the body is left out by whoever sends it. */
export interface WebReply {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Buffer;
}

/** The parts of a request that replies depend on. */
type Asked = Pick<IncomingMessage, 'headers'>;

type Encoding = 'br' | 'gzip' | 'identity';

interface WebFile {
  readonly type: string;
  readonly bytes: Readonly<Record<Encoding, Buffer>>;
}

/** What `.ci/bundle.mjs` writes: names of files. */
interface Manifest {
  readonly files: readonly string[];
  readonly icon: string;
  readonly pages: Readonly<Record<string, MadePage>>;
}

interface MadePage {
  readonly script: string;
  readonly style: string;
  /** What the script imports. */
  readonly parts: readonly string[];
}

/** URLs. */
export interface PageLinks {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  readonly imported: readonly string[];
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml'
};

const FOREVER = 'public, max-age=31536000, immutable';

/** Nothing comes from elsewhere, nothing is in line, and no text can become markup: pages may not even try (trusted types). */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'"
].join('; ');

const SAFETY: HeaderList = [
  ...['Content-Security-Policy', POLICY],
  ...['X-Content-Type-Options', 'nosniff'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
  ...['Cross-Origin-Resource-Policy', 'same-origin']
];

const NONE = Buffer.alloc(0);

/** What a page shows until its script has drawn it, and without scripts. */
export interface PageTexts {
  readonly title: string;
  readonly noScript: string;
}

/** A folder of files that was not built. */
export class NotBuiltError extends Error {
  override readonly name = 'NotBuiltError';
}

export class WebFiles {
  readonly #files: ReadonlyMap<string, WebFile>;
  readonly #manifest: Manifest;

  /** @throws NotBuiltError */
  constructor() {
    const folder = builtFolder();
    try {
      const manifest = (this.#manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest);
      this.#files = new Map(manifest.files.map((name) => [name, readWebFile(join(folder, name))]));
    } catch (error) {
      throw new NotBuiltError(`the pages for browsers are not in ${folder}: npm run build makes them`, { cause: error });
    }
  }

  /** A file by its name, which contains a hash of its bytes. */
  asset(name: string, request: Asked): WebReply {
    const file = this.#files.get(name);
    if (file === undefined) return NOT_FOUND;
    return conditional(request, `"${name}"`, ['Cache-Control', FOREVER, ...SAFETY, 'Content-Type', file.type], file.bytes);
  }

  /**
   * The files of a page that is written elsewhere, for its links.
   * @param assets where `asset` is served: a URL without a slash at its end.
   */
  linksOf(name: string, assets: string): PageLinks {
    const { script, style, parts } = this.#made(name);
    const url = (file: string): string => `${assets}/${file}`;
    return { script: url(script), style: url(style), icon: url(this.#manifest.icon), imported: parts.map(url) };
  }

  #made(name: string): MadePage {
    const made = this.#manifest.pages[name];
    if (made === undefined) throw new NotBuiltError(`the page ${name} was not built: npm run build makes it`);
    return made;
  }

  /** A page as a function of requests. `assets`: the path under which `asset` is served, without a slash at its end. */
  page(name: string, assets: string, { title, noScript }: PageTexts): (request: Asked) => WebReply {
    const made = this.#made(name);
    const html = Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${assets}/${this.#manifest.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${assets}/${made.style}">
${made.parts.map((part) => `<link rel="modulepreload" href="${assets}/${part}">\n`).join('')}<script type="module" src="${assets}/${made.script}"></script>
</head>
<body>
<div id="page"><header class="top"><div class="bar"><span class="brand">${title}</span></div></header><main><p class="quiet awaiting">Loading …</p><noscript><p>${noScript}</p></noscript></main></div>
</body>
</html>
`);
    const bytes = { br: NONE, gzip: NONE, identity: html };
    const tag = `"${createHash('sha256').update(html).digest('base64url').slice(0, TAG_CHARACTERS)}"`;
    const headers = ['Cache-Control', 'no-cache', ...SAFETY, 'Content-Type', 'text/html; charset=utf-8'];
    return (request) => conditional(request, tag, headers, bytes);
  }
}

const TAG_CHARACTERS = 16;

const NOT_FOUND: WebReply = {
  status: 404,
  headers: ['Cache-Control', 'no-store', 'Content-Type', 'text/plain', 'Content-Length', '9'],
  body: Buffer.from('Not found')
};

/** The bytes in an encoding that the client takes; 304 without them if it has them. An encoding without bytes is not offered. */
function conditional({ headers: asked }: Asked, tag: string, headers: HeaderList, bytes: WebFile['bytes']): WebReply {
  const common = ['ETag', tag, 'Vary', 'Accept-Encoding', ...headers];
  if (asked['if-none-match']?.split(',').some((each) => each.trim().replace(/^W\//, '') === tag) === true)
    return { status: 304, headers: common.slice(0, common.indexOf('Content-Type')), body: NONE };
  const encoding = (['br', 'gzip'] as const).find((each) => bytes[each].length > 0 && takes(asked['accept-encoding'], each)) ?? 'identity';
  const body = bytes[encoding];
  const coding = encoding === 'identity' ? [] : ['Content-Encoding', encoding];
  return { status: 200, headers: [...common, ...coding, 'Content-Length', String(body.length)], body };
}

/** Whether an `Accept-Encoding` names the encoding, and not with a weight of 0. */
function takes(accepted: string | string[] | undefined, encoding: string): boolean {
  const named = String(accepted ?? '')
    .split(',')
    .map((each) => each.split(';').map((part) => part.trim()));
  return named.some(([name, weight = '']) => name === encoding && !/^q=0(\.0*)?$/.test(weight));
}

function readWebFile(path: string): WebFile {
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  return { type, bytes: { br: readFileSync(`${path}.br`), gzip: readFileSync(`${path}.gz`), identity: readFileSync(path) } };
}

/** Beside the compiled files of this package, wherever this runs from. */
function builtFolder(): string {
  return join(dirname(createRequire(__filename).resolve('bcoin-rest/package.json')), 'dist/web');
}
