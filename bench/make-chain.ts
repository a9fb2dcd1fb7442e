// npm run bench:chain: makes a synthetic chain if it does not exist, and prints what it contains.
//   --bytes, --inputs, --growth   as for npm run bench:index

import { parseArgs } from 'node:util';
import { syntheticChain } from './chain/synthetic-chain';
import { CHAIN_OPTIONS, chainParameters } from './chain/parameters';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: CHAIN_OPTIONS });
  const started = performance.now();
  const { folder, manifest } = await syntheticChain(chainParameters(values), (line) => console.log(line));
  console.log(JSON.stringify(manifest, null, 2));
  console.log(`${folder}, after ${((performance.now() - started) / 1_000).toFixed(0)} s`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
