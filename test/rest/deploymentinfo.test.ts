import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { chainAFolder } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode } from '../support/node/chain-a-node';
import { ask } from '../support/client/http';
import type { RestNode } from '../support/node/rest-node';

interface ShownDeployments {
  readonly hash: string;
  readonly height: number;
  readonly script_flags: readonly string[];
  readonly deployments: Readonly<Record<string, { readonly active: boolean; readonly height?: number; readonly bip9?: object }>>;
}

/** Replies of Bitcoin Core 31, by height. */
const recorded = JSON.parse(readFileSync(join(chainAFolder, 'deploymentinfo-by-height-31.json'), 'utf8')) as Readonly<
  Record<string, string>
>;

describe('the soft forks as a block sees them', () => {
  let served: RestNode;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openChainANode({ 'rest-core': 'modern' });
  });

  after(() => served.node.close());

  const at = async (path: string): Promise<ShownDeployments> =>
    JSON.parse((await ask(served.port, { path: `/rest/deploymentinfo${path}.json` })).body.toString()) as ShownDeployments;

  it('are the recorded ones at every height, where bcoin counts alike: signals, periods, statuses', async () => {
    expect(Object.keys(recorded)).to.have.length.above(10);
    for (const text of Object.values(recorded)) {
      const { hash, height, deployments } = JSON.parse(text) as ShownDeployments;
      const shown = await at(`/${hash}`);
      expect([shown.hash, shown.height]).to.deep.equal([hash, height]);
      expect(Object.keys(shown.deployments)).to.deep.equal(Object.keys(deployments));
      const { testdummy } = deployments;
      // The end of signalling is bcoin's.
      expect(JSON.stringify(shown.deployments['testdummy'])).to.equal(
        JSON.stringify({ ...testdummy, bip9: { ...testdummy?.bip9, timeout: 0xffff_ffff } })
      );
    }
  });

  it("are those of the node's chain: csv by its signals, and rules from the block on for which they are active", async () => {
    const hashAt = async (height: number): Promise<string> =>
      (JSON.parse((await ask(served.port, { path: `/rest/blockhashbyheight/${height}.json` })).body.toString()) as { blockhash: string })
        .blockhash;
    const csvAt = async (height: number): Promise<unknown[]> => {
      const { deployments, script_flags: flags } = await at(`/${await hashAt(height)}`);
      return [deployments['csv']?.active, deployments['csv']?.height, flags.includes('CHECKSEQUENCEVERIFY')];
    };
    const { deployments } = await at('');
    const since = deployments['csv']?.height ?? expect.fail('csv is active at the tip');
    expect(since % 144).to.equal(0);
    expect(await csvAt(since - 2)).to.deep.equal([false, undefined, false]);
    expect(await csvAt(since - 1)).to.deep.equal([true, since, false]);
    expect(await csvAt(since)).to.deep.equal([true, since, true]);
  });

  it('have no rules for the genesis block, and are sorted by name', async () => {
    expect((await at('/0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206')).script_flags).to.deep.equal([]);
    const { script_flags: flags } = await at('');
    expect(flags)
      .to.include('P2SH')
      .and.to.deep.equal([...flags].sort());
  });
});
