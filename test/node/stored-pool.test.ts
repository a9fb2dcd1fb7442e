// Imported first: bcoin 1.0.2 cannot read its pool from the disk otherwise.
import '../../plugin/leveldown-6';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { compiledProgram } from '../support/process/compiled';
import { newFolder } from '../support/process/folders';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import type { FullDiskPoolEnd, FullDiskPoolMessage } from '../support/programs/full-disk-pool';

/** How large files may get: more than the chain needs, and soon too little for the fees that the pool writes at each block. */
const KIBIBYTES = 200;
/** The shell's limit counts blocks of 512 bytes. */
const BLOCKS_PER_KIBIBYTE = 2;

describe('a pool on the disk that cannot be written', () => {
  interface Ended extends FullDiskPoolMessage {
    /** What is in the pool when a node is started again. */
    readonly found: readonly string[];
    readonly path: string;
  }

  /** A node on a full disk, up to its end, and another one in its folder. */
  async function ended(end: FullDiskPoolEnd): Promise<Ended> {
    const folder = await newFolder();
    const program = [process.execPath, compiledProgram('full-disk-pool'), folder, end];
    const limited = ['-c', 'ulimit -f "$1"; shift; exec "$@"', 'sh', String(KIBIBYTES * BLOCKS_PER_KIBIBYTE), ...program];
    const child = spawn('sh', limited, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const closed = once(child, 'close');
    const said = once(child, 'message').then(([message]) => message as FullDiskPoolMessage);
    const message = (await Promise.race([said, closed.then(() => undefined)])) ?? expect.fail('the process said nothing');
    await closed;
    const host = await openRegtestNode({ prefix: folder, settings: { persistentMempool: true } });
    const found = [...host.mempool.map.values()].map(({ tx }) => toDisplayHex(tx.hash()));
    await host.close();
    return { ...message, found, path: join(folder, 'regtest/mempool') };
  }

  it('is done without, says so once, and is written anew when there is space', async () => {
    const { log, isLevel, txids, found, path } = await ended('written');
    const [failed, written] = log;
    expect(failed).to.match(
      new RegExp(`^error The pool cannot be written to ${path}: IO error: .*: File too large\\. It goes on without,`)
    );
    expect(written).to.equal(`info The pool is on the disk again: ${txids.length} transactions.`);
    expect(log).to.have.length(2);
    expect(isLevel, 'followed the chain').to.equal(true);
    expect(found).to.have.members(txids);
  });

  it('is tried once more when the node closes', async () => {
    const { log, txids, found } = await ended('closed');
    expect(log).to.have.length(2);
    expect(txids).not.to.have.length(0);
    expect(found).to.have.members(txids);
  });

  it('is of no use at the next start if the chain went back without the pool before it was written anew', async () => {
    const { log, isLevel, txids, found } = await ended('reset');
    expect(log).to.have.length(2);
    expect(txids).not.to.have.length(0);
    expect(isLevel, 'followed the chain').to.equal(false);
    expect(found).to.deep.equal([]);
  });
});
