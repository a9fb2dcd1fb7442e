// Reads chain A (test/vectors/README.md): its blocks, its pool, its manifest, and the
// answers of Bitcoin Core 0.17 and 31 about it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { PROFILES } from '../../../lib/views/profile';
import { projectFolder } from '../process/project-folder';

export const chainAFolder = join(projectFolder, 'test/vectors/chain-A');

/** A line of `blocks.txt`. */
export interface ChainABlock {
  readonly height: number;
  /** As displayed: 64 hex digits, reversed. */
  readonly hash: string;
  readonly stale: boolean;
  readonly raw: Buffer;
}

/** An item that the manifest names and explains; there are more fields than these, depending on its kind. */
export interface ChainAThing {
  readonly shows: string;
  readonly txid?: string;
  readonly hash?: string;
  readonly vout?: number;
  readonly state?: string;
}

export interface ChainAManifest {
  readonly network: string;
  readonly height: number;
  readonly tip: string;
  readonly tipTime: number;
  readonly mockTime: number;
  readonly genesis: { readonly hash: string; readonly coinbase: string };
  readonly blocks: Readonly<Record<string, ChainAThing & { readonly height: number; readonly active: boolean; readonly txs: number }>>;
  readonly txs: Readonly<
    Record<string, ChainAThing & { readonly block: string; readonly height: number; readonly index: number; readonly active: boolean }>
  >;
  readonly outpoints: Readonly<Record<string, ChainAThing>>;
  readonly mempool: readonly {
    readonly name: string;
    readonly txid: string;
    readonly weight: number;
    readonly fee: number;
    readonly parents: readonly string[];
  }[];
  /** `<height> <hash>` and, off the final chain, ` stale`; one per line of `blocks.txt`. */
  readonly submit: readonly string[];
}

/** A recorded request and the reference's answer to it. */
export interface RecordedAnswer {
  readonly id: string;
  readonly state: 'confirmed' | 'with-mempool';
  readonly tags: readonly [endpoint: string, kind: string, ...rest: string[]];
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly requestBodyHex?: string;
  readonly httpVersion?: string;
  readonly status: number;
  readonly contentType: string | null;
  /** Recorded for 31 only. */
  readonly cacheControl?: string;
  readonly contentLength?: string | null;
  /** Recorded for 0.17 only, of replies to HEAD. */
  readonly bytesAfterHead?: number;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly bodyRef?: { readonly block: number; readonly as: 'bin' | 'hex' };
  readonly spec?: { readonly status: number; readonly contentType: string | null; readonly body?: string; readonly bodyBase64?: string };
}

/** The genesis block of every regtest chain; `blocks.txt` starts after it. */
export const regtestGenesis = Buffer.from(
  '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa' +
    '4b1e5e4adae5494dffff7f20020000000101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d' +
    '0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f7574206' +
    '66f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38' +
    'c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000',
  'hex'
);

/** Address prefixes of Bitcoin Core's regtest, whose answers were recorded. */
export const coreRegtestPrefixes = { pubkeyhash: 0x6f, scripthash: 0xc4, bech32: 'bcrt' } as const;

/** The lines of a compressed file. */
export const linesIn = (path: string): string[] => gunzipSync(readFileSync(path)).toString('utf8').split('\n').filter(Boolean);

/** The values of a compressed file that has one on each line. */
export const jsonIn = <T>(path: string): T[] => linesIn(path).map((line) => JSON.parse(line) as T);

const lines = (name: string): string[] => linesIn(join(chainAFolder, name));

/** Style of the recorded JSON of each edition. */
export const coreStyles = {
  '0.17': { prefixes: coreRegtestPrefixes, fields: PROFILES['0.17'].fields },
  modern: { prefixes: coreRegtestPrefixes, fields: PROFILES.modern.fields }
} as const;

/** Computes a value on first use and keeps it. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

export const chainAManifest = once(() => JSON.parse(readFileSync(join(chainAFolder, 'manifest.json'), 'utf8')) as ChainAManifest);

/** All blocks in the order in which a node accepts them, stale ones included. */
export const chainABlocks = once((): ChainABlock[] => {
  const { submit } = chainAManifest();
  return lines('blocks.txt.gz').map((hex, line) => {
    const [height, hash, stale] = (submit[line] ?? '').split(' ');
    if (height === undefined || hash === undefined)
      throw new Error(`manifest.json: expected "<height> <hash>" for line ${line} of blocks.txt, got ${String(submit[line])}`);
    return { height: Number(height), hash, stale: stale === 'stale', raw: Buffer.from(hex, 'hex') };
  });
});

/** The blocks of the final chain by height, genesis included. */
export const chainAActiveBlocks = once((): ChainABlock[] => [
  { height: 0, hash: chainAManifest().genesis.hash, stale: false, raw: regtestGenesis },
  ...chainABlocks().filter((block) => !block.stale)
]);

/** The pool's transactions, serialized, parents first. */
export const chainAPool = once((): Buffer[] => lines('mempool.txt.gz').map((hex) => Buffer.from(hex, 'hex')));

export const chainAAnswers = once(() => jsonIn<RecordedAnswer>(join(chainAFolder, 'answers-0.17.jsonl.gz')));

/** 4,228 requests and the answers of Bitcoin Core 31. */
export const chainAAnswers31 = once(() => jsonIn<RecordedAnswer>(join(chainAFolder, 'answers-31.jsonl.gz')));

/** Its answers with `-deprecatedrpc=bip125`, `fullrbf` and `warnings`, and one transaction in the pool. */
export const chainADeprecated31 = once(
  () => JSON.parse(readFileSync(join(chainAFolder, 'deprecated-31.json'), 'utf8')) as readonly RecordedAnswer[]
);

/** Chain info by height, as Bitcoin Core 0.17 printed it. */
export const chainAChainInfo = once(
  () => JSON.parse(readFileSync(join(chainAFolder, 'chaininfo-by-height-0.17.json'), 'utf8')) as Readonly<Record<string, string>>
);

/** Chain info by height, as Bitcoin Core 31 printed it. */
export const chainAChainInfo31 = once(
  () => JSON.parse(readFileSync(join(chainAFolder, 'chaininfo-by-height-31.json'), 'utf8')) as Readonly<Record<string, string>>
);

/** The bytes of a recorded reply's body. */
export function recordedBody(answer: RecordedAnswer): Buffer {
  if (answer.bodyRef !== undefined) {
    const block = chainABlocks()[answer.bodyRef.block];
    if (block === undefined)
      throw new Error(`${answer.id}: expected line ${answer.bodyRef.block} in blocks.txt, got ${chainABlocks().length} lines`);
    return answer.bodyRef.as === 'bin' ? block.raw : Buffer.from(`${block.raw.toString('hex')}\n`);
  }
  return answer.bodyBase64 === undefined ? Buffer.from(answer.body ?? '', 'utf8') : Buffer.from(answer.bodyBase64, 'base64');
}

/** Answers with status 200 to GETs of an endpoint in a format, in either state. */
export function recordedSuccesses(endpoint: string, format: 'bin' | 'hex' | 'json', answers = chainAAnswers()): RecordedAnswer[] {
  return answers.filter(
    ({ tags, method, status, path }) => tags[0] === endpoint && method === 'GET' && status === 200 && path.endsWith(`.${format}`)
  );
}
