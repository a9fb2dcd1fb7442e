import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runSnapshotCommand } from '../../plugin/cli/snapshot-commands/run';
import { ASKING_PAUSE_MS, BenchReader, KEY } from './bench-reader';
import { cpuOfProgram, shown } from './figures';
import { addAll, copyChain, runQuietly, withFeed, withNode, type Setup } from './nodes';
import type { Nats } from '../../test/support/fleet/nats';

/** Building an index over a fleet, over local blocks, and not at all: from a snapshot. */
export async function catchUp({ nats, folder, rounds, chain, blocks }: Setup): Promise<void> {
  const grown = join(folder, 'grown');
  await withNode(grown, chain, (node) => addAll(node, blocks));
  await withFeed(nats, join(folder, 'source'), grown, async ({ node }) => {
    const ratios: number[] = [];
    const working: number[] = [];
    const both: number[] = [];
    let built = '';
    let builtMs = 0;
    for (let round = 0; round < rounds; round++) {
      built = join(folder, `built-${round}`);
      builtMs = await cpuToLive(nats, built, node.chain.height);
      const local = join(folder, `local-${round}`);
      copyChain(grown, local);
      const localMs = await cpuOfProgram(['index', 'rebuild', '--network', 'regtest', '--prefix', local]);
      ratios.push(builtMs / localMs);
      const readerStartMs = await cpuToLive(nats, built, node.chain.height);
      const localStartMs = await cpuOfProgram(['index', 'status', '--network', 'regtest', '--prefix', local]);
      working.push((builtMs - readerStartMs) / (localMs - localStartMs));
      const scriptsMs = await cpuOfProgram(['index', 'rebuild', '--scripts', '--network', 'regtest', '--prefix', local]);
      both.push((await cpuToLive(nats, join(folder, `both-${round}`), node.chain.height, '--rest-addresses')) / (localMs + scriptsMs));
      rmSync(local, { recursive: true });
    }
    console.log(
      `catching up over a fleet: ${shown(ratios)} times the CPU of index rebuild over local blocks, ${shown(working)} without the starts of ` +
        `reader and command; with the index by script ${shown(both)}`
    );
    const copy = join(folder, 'snapshot');
    const target = join(folder, 'target');
    const makeMs = await cpuOfProgram(['snapshot', 'make', copy, '--network', 'regtest', '--prefix', built]);
    const { signer, bytes } = JSON.parse(await runQuietly(runSnapshotCommand, ['verify', copy, '--json'])) as {
      readonly signer: string;
      readonly bytes: number;
    };
    const fetchMs = await cpuOfProgram(['snapshot', 'fetch', copy, '--trust', signer, '--network', 'regtest', '--prefix', target]);
    const startMs = await cpuToLive(nats, target, node.chain.height);
    console.log(
      `snapshot of ${(bytes / 1e6).toFixed(0)} MB: made ${makeMs.toFixed(0)}, fetched ${fetchMs.toFixed(0)}, live ${startMs.toFixed(0)} ms of CPU, ` +
        `${(((makeMs + fetchMs + startMs) / builtMs) * 100).toFixed(0)} % of building (${builtMs.toFixed(0)} ms)`
    );
  });
}

/**
 * CPU of a reader from its start until it answers at a height, without the rehearsal, which is a share of its own: there is none with a key.
 * `option`: one more, after which addresses are to be answered, too.
 */
async function cpuToLive(nats: Nats, prefix: string, height: number, option?: '--rest-addresses'): Promise<number> {
  const options = option === undefined ? [] : [option];
  const reader = await BenchReader.start(nats, prefix, ['--rest-auth', `--api-key=${KEY}`, ...options]);
  try {
    // What is asked is counted, too.
    await reader.untilAt(height, ASKING_PAUSE_MS);
    if (option !== undefined) await reader.untilAnswered('/api/blocks/tip/height');
    return reader.cpuMs;
  } finally {
    await reader.stop();
  }
}
