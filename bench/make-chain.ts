// npm run bench:chain: makes a synthetic chain, if it is not there, and says what is in it.
//   --bytes 300MB   its size (default 2GB)

import { parseArgs } from 'node:util';
import { syntheticChain } from './chain/synthetic-chain';
import { DEFAULT_PARAMETERS, parseSize } from './chain/parameters';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { bytes: { type: 'string' } } });
  const parameters = { ...DEFAULT_PARAMETERS, ...values.bytes !== undefined && { bytes: parseSize(values.bytes) } };
  const started = performance.now();
  const { folder, manifest } = await syntheticChain(parameters, (line) => console.log(line));
  console.log(JSON.stringify(manifest, null, 2));
  console.log(`${folder}, after ${((performance.now() - started) / 1_000).toFixed(0)} s`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
