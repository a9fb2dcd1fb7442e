// Facts about a finished chain, in a file beside the node's data.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GENERATION, type ChainParameters } from './parameters';

export interface ChainManifest {
  readonly generation: number;
  readonly bcoin: string;
  readonly parameters: ChainParameters;
  /** The last usual block; the blocks for live following are above. */
  readonly height: number;
  readonly tipHeight: number;
  /** Hex, wire order. */
  readonly tipHash: string;
  /** Bytes of the blocks up to `height`. */
  readonly totals: {
    readonly bytes: number;
    readonly transactions: number;
    readonly inputs: number;
    readonly outputs: number;
    readonly unspent: number;
  };
}

const FILE = 'chain.json';

export function writeManifest(folder: string, manifest: ChainManifest): void {
  writeFileSync(join(folder, FILE), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** undefined: there is no finished chain of these parameters in the folder. */
export function readManifest(folder: string, parameters: ChainParameters): ChainManifest | undefined {
  let text: string;
  try {
    text = readFileSync(join(folder, FILE), 'utf8');
  } catch {
    return undefined;
  }
  const manifest = JSON.parse(text) as ChainManifest;
  const same = manifest.generation === GENERATION && JSON.stringify(manifest.parameters) === JSON.stringify(parameters);
  return same ? manifest : undefined;
}
