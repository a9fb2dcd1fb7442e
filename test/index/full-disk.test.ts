import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { ChainIndexer } from '../../lib/index/chain-index';
import { BcoinNode } from '../../lib/node/bcoin';
import { DiskStore } from '../../lib/store/disk-store';
import { migrations } from '../../migrations';
import { compiledProgram } from '../support/compiled';
import { bcoin } from '../support/bcoin';
import { chainAActiveBlocks } from '../support/chain-a';
import { newFolder } from '../support/folders';
import { MemoryLog } from '../support/memory-log';
import { openRegtestNode } from '../support/regtest-node';
import { expectIndexOf } from '../support/utxo-model';
import type { FullDiskMessage } from '../support/full-disk-node';

/** The shell's limit counts blocks of 512 bytes. */
const BLOCKS_PER_KIBIBYTE = 2;
/** Height of chain A: a node takes long to verify the blocks above. */
const HEIGHT = 200;
const blocks = chainAActiveBlocks()
  .slice(0, HEIGHT + 1)
  .map(({ raw }) => raw);

describe('an index whose disk is full', function () {
  this.timeout(60_000);
  let folder: string;

  beforeEach(async () => {
    folder = await newFolder();
  });

  /** The report of a process that may write files of at most so many kibibytes, and opens the index when the node has a height. */
  async function onFullDisk(kibibytes: number, opened: number): Promise<FullDiskMessage> {
    const program = compiledProgram('full-disk-node');
    const child = spawn(
      'sh',
      [
        '-c',
        'ulimit -f "$1"; shift; exec "$@"',
        'sh',
        kibibytes * BLOCKS_PER_KIBIBYTE,
        process.execPath,
        program,
        folder,
        HEIGHT,
        opened
      ].map(String),
      {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc']
      }
    );
    let words = '';
    child.stderr?.on('data', (text: Buffer) => {
      words += text.toString();
    });
    const [message, [code]] = await Promise.all([
      Promise.race([once(child, 'message').then(([said]) => said as FullDiskMessage), once(child, 'close').then(() => undefined)]),
      once(child, 'close') as Promise<[number | null]>
    ]);
    expect(code, words).to.equal(0);
    return message ?? expect.fail('the process said nothing');
  }

  /** Opens the index again with enough space. */
  async function expectToGoOn(): Promise<void> {
    const host = await openRegtestNode();
    for (const raw of blocks.slice(1)) await host.chain.add(bcoin.Block.fromRaw(raw));
    const [store, log] = [new DiskStore(folder), new MemoryLog()];
    const index = new ChainIndexer({ store, node: new BcoinNode(host), logger: log, migrations });
    await index.open();
    await firstValueFrom(index.state$.pipe(filter(({ phase }) => phase === 'live')));
    await expectIndexOf(store, blocks);
    expect(log.lines.join('\n')).to.not.include('Rebuilding the index');
    await index.close();
    await host.close();
  }

  async function expectFailure(opened: number): Promise<number | undefined> {
    const { phase, chainHeight, indexHeight, log } = await onFullDisk(48, opened);
    expect(phase).to.equal('failed');
    expect(chainHeight, 'the chain goes on').to.equal(HEIGHT);
    expect(log.filter((line) => line.startsWith('error '))).to.have.length(1);
    expect(log.at(-1)).to.match(/^error The index stopped at .*: cannot write the store in .*: IO error: .*: File too large\.$/);
    return indexHeight;
  }

  it('while it catches up: stops and says why, lets the chain continue, and continues itself when there is space', async () => {
    expect(await expectFailure(150), 'a batch is in as a whole or not at all').to.equal(undefined);
    await expectToGoOn();
  });

  it('while it follows: answers from its last block, lets the chain continue, and continues itself when there is space', async () => {
    expect(await expectFailure(0)).to.be.within(1, HEIGHT - 1);
    await expectToGoOn();
  });
});
