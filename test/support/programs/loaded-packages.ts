// A node with the plugin and the settings of the first argument (JSON), which prints, as JSON, the packages that its process has loaded once
// it answers.

import * as plugin from '../../../plugin';
import { openRegtestNode } from '../bcoin/regtest-node';

async function main(): Promise<void> {
  const settings = JSON.parse(process.argv[2] ?? '{}') as Record<string, unknown>;
  const node = await openRegtestNode({ plugins: [plugin], settings });
  const packages = Object.keys(require.cache).flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  process.stdout.write(JSON.stringify([...new Set(packages)]));
  await node.close();
}

void main();
