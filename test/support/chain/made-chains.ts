// Random small chains of blocks that pay to a few scripts again and again, and spend from them.

import fc from 'fast-check';
import { scanBlock } from '../../../lib/bitcoin/block';
import { blockHash, madeBlock, madeCoinbase, madeTransaction, type MadeInput, type MadeOutput } from './made-blocks';

/** Scripts of an output that is not a coin, and of one that nobody can spend: these two are never spent. */
const UNSPENDABLE = [Buffer.from('6a0101', 'hex'), Buffer.alloc(10_001, 0x51)];
const SCRIPTS = [
  Buffer.alloc(0),
  Buffer.from('51', 'hex'),
  Buffer.from(`76a914${'22'.repeat(20)}88ac`, 'hex'),
  Buffer.from(`5120${'33'.repeat(32)}`, 'hex'),
  Buffer.from(`0014${'44'.repeat(20)}`, 'hex'),
  ...UNSPENDABLE
];

interface PlannedTransaction {
  /** The coins to spend, as numbers among existing ones. */
  readonly spends: readonly number[];
  /** Script and value. */
  readonly outputs: readonly (readonly [script: number, value: number])[];
}

export interface PlannedBlock {
  /** Coinbases with the same tag have the same txid if the previous one is spent. */
  readonly tag: number;
  readonly outputs: PlannedTransaction['outputs'];
  readonly transactions: readonly PlannedTransaction[];
}

const outputs = fc.array(fc.tuple(fc.nat({ max: SCRIPTS.length - 1 }), fc.nat({ max: 2 ** 40 })), { minLength: 1, maxLength: 9 });
const transaction = fc.record({ spends: fc.array(fc.nat(), { minLength: 1, maxLength: 9 }), outputs });

export const plannedBlock: fc.Arbitrary<PlannedBlock> = fc.record({
  tag: fc.nat({ max: 3 }),
  outputs: fc.constant([
    [1, 50],
    [2, 60]
  ] as const),
  transactions: fc.array(transaction, { maxLength: 4 })
});

export const madeGenesis = madeBlock(Buffer.alloc(32), [madeCoinbase(200, [{ value: 7, script: Buffer.from('51', 'hex') }])], 0);

/** The chain of these blocks, the genesis block first. `salt`: chains with different salts have different blocks. */
export function madeChain(plans: readonly PlannedBlock[], salt = 0): Buffer[] {
  const chain = [madeGenesis];
  const coins = new Map<string, MadeInput & { readonly script: Buffer }>();
  for (const [i, plan] of plans.entries()) {
    const height = i + 1;
    const made: Buffer[] = [];
    const add = (raw: Buffer): void => {
      made.push(raw);
      const block = madeBlock(Buffer.alloc(32), [raw], 0);
      for (const { txid, outputs: paid } of scanBlock(block).transactions)
        for (const [index, { script }] of paid.entries()) coins.set(`${txid.toString('hex')}-${index}`, { txid, index, script });
    };
    add(madeCoinbase(plan.tag, plan.outputs.map(outputOf)));
    for (const [number, { spends, outputs: paid }] of plan.transactions.entries()) {
      const inputs: MadeInput[] = [];
      for (const pick of spends) {
        const mature = [...coins].filter(([, { script }]) => UNSPENDABLE.every((other) => !other.equals(script)));
        const [name, coin] = mature[pick % Math.max(1, mature.length)] ?? [];
        if (name === undefined || coin === undefined) break;
        coins.delete(name);
        inputs.push(coin);
      }
      if (inputs.length > 0) add(madeTransaction(inputs, paid.map(outputOf), salt * 1_000_000 + height * 100 + number));
    }
    chain.push(madeBlock(blockHash(chain.at(-1) as Buffer), made, salt * 1_000_000 + height)); // never empty
  }
  return chain;
}

function outputOf([script, value]: readonly [number, number]): MadeOutput {
  return { value, script: SCRIPTS[script % SCRIPTS.length] as Buffer }; // within the list
}
