// npm run bench:index: how fast the index is built, what this costs, and how the index follows.
// Targets are for a chain of at least 2 GB; a smaller one is for trying things out.
//   --bytes 300MB   size of the synthetic chain (default 2GB)
//   --inputs 2.5    of a transaction, on average (default 2.1)
//   --growth 0.4    how many more outputs it has (default 3.2)
//   --json FILE     the numbers, for keeping

import { parseArgs } from 'node:util';
import { CHAIN_OPTIONS, chainParameters } from './chain/parameters';
import { syntheticChain } from './chain/synthetic-chain';
import { formatRows, indexRows } from './index-table';
import { describeMachine } from './machine';
import { runIndex } from './measure/index-run';
import { describeLoad, loadAverage, saveFigures } from './measure/run';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { ...CHAIN_OPTIONS, json: { type: 'string' } } });
  const say = (line: string): void => {
    console.error(line);
  };
  const chain = await syntheticChain(chainParameters(values), say);
  const load = loadAverage();
  const run = await runIndex(chain, say);
  const machine = describeMachine();
  const rows = indexRows(run);
  const { height, totals } = chain.manifest;
  console.log(machine);
  console.log(describeLoad('at the start', load));
  console.log(
    `${(totals.bytes / 1e6).toFixed(0)} MB in ${height} blocks, ${totals.transactions} transactions, ${(totals.unspent / 1e6).toFixed(2)} million unspent coins`
  );
  console.log(formatRows(rows));
  saveFigures(values.json, { machine, loadAverage: load, rows, run });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
