// npm run bench:fleet: what feeding, reading and copying cost in a fleet on this machine (bench/README.md).
//   --only feed|live|readers|transaction|catch-up    one part (catch-up has the snapshot, too)
//   --blocks 20                                      large blocks that are connected
//   --rounds 3

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Nats, natsServer } from '../test/support/fleet/nats';
import { onFirstBlocks } from './chain/first-blocks';
import { addBlock } from './chain/generate';
import { catchUp } from './fleet/catch-up';
import { feed } from './fleet/feed';
import { live } from './fleet/live';
import { readers } from './fleet/readers';
import { transaction } from './fleet/transaction';
import { describeMachine } from './machine';
import type { BlockShape } from './chain/block-shape';
import type { Setup } from './fleet/nodes';

const LARGE: BlockShape = { transactions: 2_500, inputs: 5_200, outputs: 7_800, spendsItself: true };
const SEED = 7;

const PARTS = { feed, live, readers, transaction, 'catch-up': catchUp };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, blocks: { type: 'string', default: '20' }, rounds: { type: 'string', default: '3' } }
  });
  const program = natsServer();
  if (program === undefined) throw new Error('bench:fleet needs nats-server (Debian: apt-get install nats-server)');
  const folder = mkdtempSync(join(tmpdir(), 'bench-fleet-'));
  const nats = await Nats.open(program, 3);
  try {
    console.log(describeMachine());
    const rounds = Number(values.rounds);
    const setup: Setup = { nats, folder, rounds, ...(await makeChain(join(folder, 'chain'), Number(values.blocks))) };
    for (const [part, run] of Object.entries(PARTS)) if (values.only === undefined || values.only === part) await run(setup);
  } finally {
    await nats.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeChain(chain: string, count: number): Promise<Omit<Setup, 'nats' | 'folder' | 'rounds'>> {
  return onFirstBlocks(chain, SEED, async (node, maker) => {
    await addBlock(node, maker.next(LARGE));
    return { chain, maker, blocks: Array.from({ length: count }, () => maker.next(LARGE)) };
  });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
