import { join } from 'node:path';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { LoadClient } from '../clients/load';
import { countCpu } from '../serve/process-figures';
import { BenchReader } from './bench-reader';
import { shown } from './figures';
import { addAll, withFeed, type Setup } from './nodes';

const TRANSACTIONS_OF_BLOCK = 60;
const AT_ONCE = 16;

/** `/rest/tx` on a reader that has the blocks, and on one that has come later and asks the node: all that this takes, but for the client. */
export async function transaction({ nats, folder, rounds, chain, blocks }: Setup): Promise<void> {
  await withFeed(nats, join(folder, 'transaction'), chain, async ({ node }) => {
    const readers: BenchReader[] = [];
    const client = new LoadClient();
    try {
      const start = async (name: string): Promise<BenchReader> => {
        const reader = await BenchReader.start(nats, join(folder, name), ['--no-auth']);
        readers.push(reader);
        await reader.untilAt(node.chain.height);
        return reader;
      };
      const near = await start('near');
      await addAll(node, blocks);
      await near.untilAt(node.chain.height);
      const far = await start('far');
      const paths = blocks.flatMap(somePaths);
      const costs = new Map<BenchReader, number[]>([near, far].map((reader) => [reader, []]));
      const share = Math.floor(paths.length / (rounds + 1));
      for (let round = 0; round <= rounds; round++)
        for (const [reader, list] of costs) {
          const cpu = countCpu([process.pid, reader.pid, ...nats.servers.map(({ pid }) => pid ?? 0)]);
          const asked = paths.slice(round * share, (round + 1) * share);
          const { answered } = await client.run({ port: reader.port, paths: asked, connections: AT_ONCE, limit: 'each path once' });
          if (answered !== share) throw new Error(`expected ${share} transactions, got ${answered}`);
          // In the first round V8 compiles what runs for them.
          if (round > 0) list.push(cpu() / share);
        }
      const [local = [], over = []] = costs.values();
      console.log(
        `a transaction over HTTP, ${AT_ONCE} at once: ${shown(over)} µs of CPU from a node, servers included; ${shown(local)} µs where ` +
          `its block is; ${shown(over.map((each, i) => each / (local[i] ?? 1)))} times`
      );
    } finally {
      client.close();
      for (const reader of readers) await reader.stop();
    }
  });
}

/** Of transactions that lie far apart: fewer of a block than make a server read it as a whole. */
function somePaths(block: Buffer): string[] {
  const { transactions } = scanBlock(block);
  const step = Math.ceil(transactions.length / TRANSACTIONS_OF_BLOCK);
  return transactions.filter((_, i) => i % step === 0).map(({ txid }) => `/rest/tx/${toDisplayHex(txid)}.bin`);
}
