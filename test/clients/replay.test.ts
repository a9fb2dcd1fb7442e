// The requests of many programs, replayed with each program's own checks: every group gets at least as far with us as with Bitcoin Core.

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { CHAIN_A_TIMEOUT_MS } from '../support/node/chain-a-node';
import { sharedFolder } from '../support/recorded/shared';
import { MODERN, openClientNode } from './client-node';
import type { RestNode } from '../support/node/rest-node';

interface Group {
  readonly name: string;
  readonly good: number;
  readonly steps: number;
  /** Why steps failed. */
  readonly failures: readonly string[];
}

/** Spent outputs of a block that was never part of the chain exist nowhere: it says so. */
const INCOMPLETE = ['C3 bindex (5dbc5be)'];

/** A line for each group, and indented ones for what failed. */
function groupsOf(output: string): Group[] {
  return Array.from(output.matchAll(/^\[\S+\] (.+): (\d+)\/(\d+).*\n((?: +x .*\n)*)/gm), ([, name = '', good, steps, failures = '']) => ({
    name,
    good: Number(good),
    steps: Number(steps),
    failures: failures.trim().split('\n').filter(Boolean)
  }));
}

describe('programs that speak to Bitcoin Core, replayed', () => {
  let served: RestNode | undefined;
  let script = '';

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    script = join(sharedFolder() ?? '', 'clients/replay.mjs');
    if (!existsSync(script)) {
      console.log('      skipped: the shared folder with the requests of programs is not here');
      this.skip();
    }
    served = await openClientNode({ ...MODERN, 'rest-deprecated': 'bip125,warnings' });
  });

  after(() => served?.node.close());

  it('gets each group at least as far as Bitcoin Core does, and all but one to the end', async function () {
    this.timeout(300_000);
    const { stdout } = await promisify(execFile)(process.execPath, [script, served?.baseUrl ?? '']);
    const groups = groupsOf(stdout);
    const core = groupsOf(readFileSync(join(script, '../core-31-result.txt'), 'utf8'));
    expect(groups.map(({ name }) => name)).to.deep.equal(core.map(({ name }) => name));
    const worse = groups.filter(({ name, good }) => good < (core.find((other) => other.name === name)?.good ?? 0));
    expect(worse).to.deep.equal([]);
    expect(groups.filter(({ good, steps }) => good < steps).map(({ name }) => name)).to.deep.equal(INCOMPLETE);
  });
});
