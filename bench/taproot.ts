// npm run bench:taproot: processor time of an input that spends a taproot output, with each library that there is (bench/README.md).

import { allCurves } from '../test/taproot/curves';
import { serialized, type MadeTransaction } from '../test/taproot/made-transaction';
import { OUTPUT, signed, type WayName } from '../test/taproot/signed-spends';
import { scanWholeTransaction, type SpentOutput } from '../lib/bitcoin/transaction';
import { runAtOnce } from '../lib/turns/slices';
import { Spend } from '../lib/taproot/spend';
import { verifyInput } from '../lib/taproot/verify';
import { describeMachine } from './machine';
import type { Curve } from '../lib/taproot/curve';

const INPUTS = 300;
const ROUNDS = 7;

interface RawSpend {
  readonly raw: Buffer;
  readonly spent: readonly SpentOutput[];
}

interface Row {
  readonly name: string;
  readonly spends: readonly RawSpend[];
}

/** Spends of `inputs` outputs each; together they have INPUTS inputs. */
function spendsOf(way: WayName, inputs: number): RawSpend[] {
  const spent = Array.from({ length: inputs }, (_, i) => ({ value: 10_000 + i, script: OUTPUT.script }));
  return Array.from({ length: INPUTS / inputs }, (_, number) => {
    let transaction: MadeTransaction = {
      version: 2,
      locktime: number,
      inputs: spent.map((__, i) => ({ outpoint: Buffer.alloc(36, i), script: Buffer.alloc(0), sequence: 1, witness: [] })),
      outputs: [1, 2].map((value) => ({ value: value * 1000, script: OUTPUT.script }))
    };
    for (const input of spent.keys()) ({ transaction } = signed({ plan: { way, type: 0, hasAnnex: false }, transaction, spent, input }));
    return { raw: serialized(transaction), spent };
  });
}

/** Microseconds of an input: everything from the bytes on. */
function measure(spends: readonly RawSpend[], curve: Curve): number {
  const before = process.cpuUsage();
  for (const { raw, spent } of spends) {
    const spend = new Spend(scanWholeTransaction(raw), spent);
    for (const input of spent.keys())
      if (runAtOnce(verifyInput(spend, input, 'policy', curve)) !== undefined) throw new Error('expected a valid spend');
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / INPUTS;
}

async function main(): Promise<void> {
  const curves = await allCurves();
  const rows: Row[] = [
    { name: 'key path', spends: spendsOf('key', 1) },
    { name: 'key path, 100 inputs a transaction', spends: spendsOf('key', 100) },
    { name: 'script path, one signature', spends: spendsOf('single', 1) },
    { name: 'script path, two of three', spends: spendsOf('two of three', 1) },
    { name: 'script path, no signature', spends: spendsOf('no signature', 1) }
  ];
  console.log(describeMachine());
  const figures = new Map(rows.map(({ name }) => [name, new Map(Array.from(curves.keys(), (curve) => [curve, [] as number[]]))]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const { name, spends } of rows)
      for (const [curveName, curve] of curves) {
        const figure = measure(spends, curve);
        // The first round compiles the code.
        if (round > 0) figures.get(name)?.get(curveName)?.push(figure);
      }
  const width = Math.max(...rows.map(({ name }) => name.length));
  console.log(`${'µs of processor time an input'.padEnd(width)}  ${[...curves.keys()].map((name) => name.padStart(14)).join('  ')}`);
  for (const [name, row] of figures) console.log(`${name.padEnd(width)}  ${Array.from(row.values(), medianText).join('  ')}`);
}

function medianText(values: readonly number[]): string {
  const median = values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
  return median.toFixed(1).padStart(14);
}

void main();
