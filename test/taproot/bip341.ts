// The test vectors of BIP341.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../support/process/project-folder';

export interface TreeLeaf {
  readonly id: number;
  readonly script: string;
  readonly leafVersion: number;
}

export type Tree = TreeLeaf | readonly [Tree, Tree];

interface Bip341 {
  readonly scriptPubKey: readonly {
    readonly given: { readonly internalPubkey: string; readonly scriptTree: Tree | null };
    readonly intermediary: { readonly leafHashes?: readonly string[]; readonly tweak: string; readonly tweakedPubkey: string };
    readonly expected: { readonly scriptPubKey: string; readonly scriptPathControlBlocks?: readonly string[] };
  }[];
  readonly keyPathSpending: readonly {
    readonly given: {
      readonly rawUnsignedTx: string;
      readonly utxosSpent: readonly { readonly scriptPubKey: string; readonly amountSats: number }[];
    };
    readonly intermediary: Readonly<Record<'hashAmounts' | 'hashOutputs' | 'hashPrevouts' | 'hashScriptPubkeys' | 'hashSequences', string>>;
    readonly inputSpending: readonly {
      readonly given: { readonly txinIndex: number; readonly hashType: number };
      readonly intermediary: { readonly sigHash: string };
      readonly expected: { readonly witness: readonly string[] };
    }[];
    readonly auxiliary: { readonly fullySignedTx: string };
  }[];
}

let vectors: Bip341 | undefined;

export function bip341(): Bip341 {
  return (vectors ??= JSON.parse(readFileSync(join(projectFolder, 'test/vectors/taproot/bip341.json'), 'utf8')) as Bip341);
}
