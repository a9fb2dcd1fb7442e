import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { bcoin } from '../support/bcoin/bcoin';
import { chainAActiveBlocks } from '../support/chain/chain-a';
import { compiledProgram } from '../support/process/compiled';
import { newFolder } from '../support/process/folders';
import { DiskIndexes, type FullDiskMessage } from '../support/programs/full-disk-node';
import { openRegtestNode, trustSpends } from '../support/bcoin/regtest-node';

/** The shell's limit counts blocks of 512 bytes. */
const BLOCKS_PER_KIBIBYTE = 2;
/** Height of chain A. */
const HEIGHT = 200;
/** All blocks but the last ones are filled into an empty index by script. */
const FILLED_BELOW = 10;
/** More than all: nothing is filled. */
const DEEP = 1_000;
const blocks = chainAActiveBlocks()
  .slice(0, HEIGHT + 1)
  .map(({ raw }) => raw);

/** `kibibytes`: how large files may get. `stopped`, `level`: how the log says that it stopped, or is at the node's tip. */
const SUITES = [
  { onDisk: 'main', name: 'an index', kibibytes: 48, stopped: 'The index stopped at .*', level: "The index is at the node's tip," },
  {
    onDisk: 'scripts',
    name: 'an index by script',
    kibibytes: 16,
    stopped: 'The index by script stopped',
    level: 'The index by script is at'
  }
] as const;

for (const { onDisk, name, kibibytes, stopped, level } of SUITES)
  describe(`${name} whose disk is full`, () => {
    let folder: string;

    beforeEach(async () => {
      folder = await newFolder();
    });

    /** The report of a process that has little space, and opens the indexes when the node has a height. */
    async function onFullDisk(opened: number, undoDepth: number): Promise<FullDiskMessage> {
      const limit = ['-c', 'ulimit -f "$1"; shift; exec "$@"', 'sh', kibibytes * BLOCKS_PER_KIBIBYTE];
      const program = [process.execPath, compiledProgram('full-disk-node'), folder, onDisk, HEIGHT, opened, undoDepth];
      const child = spawn('sh', [...limit, ...program].map(String), { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
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

    /** Opens the indexes again with enough space. */
    async function expectToGoOn(undoDepth = DEEP): Promise<void> {
      const host = await openRegtestNode();
      trustSpends(host);
      for (const raw of blocks.slice(1)) await host.chain.add(bcoin.Block.fromRaw(raw));
      const indexes = new DiskIndexes(host, folder, onDisk, undoDepth);
      await indexes.open();
      await indexes.onDisk.expectRight(blocks);
      expect(indexes.log.lines.filter((line) => line.startsWith(indexes.onDisk.rebuildLine))).to.deep.equal([]);
      await indexes.close();
      await host.close();
    }

    /** @returns the height of the main index */
    async function expectFailure(opened: number, undoDepth = DEEP): Promise<number | undefined> {
      const { phase, chainHeight, mainPhase, mainHeight, log } = await onFullDisk(opened, undoDepth);
      expect(phase).to.equal('failed');
      expect(chainHeight, 'the chain goes on').to.equal(HEIGHT);
      if (onDisk === 'scripts') expect([mainPhase, mainHeight]).to.deep.equal(['live', HEIGHT]);
      const [error, ...others] = log.filter((line) => line.startsWith('error '));
      expect(others).to.deep.equal([]);
      expect(error).to.match(new RegExp(`^error ${stopped}: cannot write the store in .*: IO error: .*: File too large\\.$`));
      expect(log.includes(`info ${level} block ${opened}.`), 'whether it had caught up').to.equal(opened === 0);
      return mainHeight;
    }

    it('while it catches up: stops and says why, lets the chain continue, and continues itself when there is space', async () => {
      const height = await expectFailure(150);
      if (onDisk === 'main') expect(height, 'a batch is in as a whole or not at all').to.equal(undefined);
      await expectToGoOn();
    });

    if (onDisk === 'scripts')
      it('while it is filled: stops and says why, lets the chain continue, and is filled on when there is space', async () => {
        await expectFailure(HEIGHT, FILLED_BELOW);
        await expectToGoOn(FILLED_BELOW);
      });

    const answers = onDisk === 'main' ? 'answers from its last block, ' : '';
    it(`while it follows: ${answers}lets the chain continue, and continues itself when there is space`, async () => {
      const height = await expectFailure(0);
      if (onDisk === 'main') expect(height).to.be.within(1, HEIGHT - 1);
      await expectToGoOn();
    });
  });
