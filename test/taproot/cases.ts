// The script cases of Bitcoin Core's own test of taproot, with the words of its interpreter.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { ByteReader } from '../../lib/bitcoin/reader';
import { isTaproot } from '../../lib/taproot/verify';
import { partsOf, spendOf, withInput } from './made-transaction';
import type { Spend } from '../../lib/taproot/spend';
import type { SpentOutput } from '../../lib/bitcoin/transaction';

interface RecordedUnlock {
  readonly scriptSig?: string;
  readonly witness?: readonly string[];
}

interface RecordedCase {
  readonly tx: string;
  readonly prevouts: readonly string[];
  readonly index: number;
  readonly flags: string;
  readonly comment: string;
  readonly success: RecordedUnlock;
  readonly failure?: RecordedUnlock;
  readonly error?: string;
  readonly standard: string;
}

export interface TaprootCase {
  readonly comment: string;
  readonly input: number;
  readonly success: Spend;
  /** Bitcoin Core's word under the flags of policy. */
  readonly standard: string;
  readonly failure: { readonly spend: Spend; readonly error: string } | undefined;
}

function outputOf(hex: string): SpentOutput {
  const reader = new ByteReader(Buffer.from(hex, 'hex'));
  const value = reader.u64();
  return { value, script: reader.bytes(reader.compactSize()) };
}

/** How many cases a file has, and those in which a taproot output is spent under the rules of taproot. */
export function readCases(path: string): { readonly count: number; readonly taproot: readonly TaprootCase[] } {
  const recorded = gunzipSync(readFileSync(path))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedCase);
  const taproot = recorded.flatMap(({ tx, prevouts, index, flags, comment, success, failure, error, standard }): TaprootCase[] => {
    const spent = prevouts.map(outputOf);
    const output = spent[index];
    if (output === undefined || !isTaproot(output.script) || !flags.split(',').includes('TAPROOT')) return [];
    const parts = partsOf(Buffer.from(tx, 'hex'));
    const unlocked = ({ scriptSig = '', witness = [] }: RecordedUnlock): Spend =>
      spendOf(
        withInput(parts, index, { script: Buffer.from(scriptSig, 'hex'), witness: witness.map((item) => Buffer.from(item, 'hex')) }),
        spent
      );
    return [
      {
        comment,
        input: index,
        success: unlocked(success),
        standard,
        failure: failure && { spend: unlocked(failure), error: error ?? '' }
      }
    ];
  });
  return { count: recorded.length, taproot };
}
