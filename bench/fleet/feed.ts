import { join } from 'node:path';
import { cpuOf, serverCpu, shown } from './figures';
import { addAll, withFeed, withNode, type Setup } from './nodes';

/** CPU of connecting blocks with a feed and without, in turns. */
export async function feed({ nats, folder, rounds, chain, blocks }: Setup): Promise<void> {
  const megabytes = blocks.reduce((sum, { length }) => sum + length, 0) / 1e6;
  const differences: number[] = [];
  const servers: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const alone = await withNode(join(folder, 'alone'), chain, async (node) => await cpuOf(() => addAll(node, blocks)));
    const before = serverCpu(nats);
    const fed = await withFeed(nats, join(folder, 'fed'), chain, async (feeding) => {
      const start = serverCpu(nats);
      const cpu = await cpuOf(async () => {
        await addAll(feeding.node, blocks);
        await feeding.feed.settled();
      });
      servers.push((serverCpu(nats) - start) / megabytes);
      return cpu;
    });
    if (before === 0) throw new Error('expected the servers to be running');
    differences.push((fed - alone) / megabytes);
  }
  console.log(`feed, R=3: ${shown(differences)} ms of CPU a MB on top of the node; servers ${shown(servers)}, all three together`);
}
