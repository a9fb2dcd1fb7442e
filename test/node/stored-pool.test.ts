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
import type { FullDiskPoolMessage } from '../support/programs/full-disk-pool';

/** How large files may get: more than the chain needs, and soon too little for the fees that the pool writes at each block. */
const KIBIBYTES = 200;
/** The shell's limit counts blocks of 512 bytes. */
const BLOCKS_PER_KIBIBYTE = 2;

describe('a pool on the disk', function () {
  this.timeout(60_000);

  it('that cannot be written is done without, says so once, and is written anew when there is space', async () => {
    const folder = await newFolder();
    const program = [process.execPath, compiledProgram('full-disk-pool'), folder];
    const limited = ['-c', 'ulimit -f "$1"; shift; exec "$@"', 'sh', String(KIBIBYTES * BLOCKS_PER_KIBIBYTE), ...program];
    const child = spawn('sh', limited, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const closed = once(child, 'close');
    const said = once(child, 'message').then(([message]) => message as FullDiskPoolMessage);
    const { log, isLevel, txids } = (await Promise.race([said, closed.then(() => undefined)])) ?? expect.fail('the process said nothing');
    await closed;
    const path = join(folder, 'regtest/mempool');
    const [failed, written] = log;
    expect(failed).to.match(
      new RegExp(`^error The pool cannot be written to ${path}: IO error: .*: File too large\\. It goes on without,`)
    );
    expect(written).to.equal(`info The pool is on the disk again: ${txids.length} transactions.`);
    expect(log).to.have.length(2);
    expect(isLevel, 'followed the chain').to.equal(true);
    const host = await openRegtestNode({ prefix: folder, settings: { persistentMempool: true } });
    expect([...host.mempool.map.values()].map(({ tx }) => toDisplayHex(tx.hash()))).to.have.members(txids);
    await host.close();
  });
});
