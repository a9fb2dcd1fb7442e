import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { BcoinNode } from '../../lib/node/bcoin';
import { bcoin, type TestFullNode } from '../support/bcoin/bcoin';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import { chainABlocks, chainAChainInfo, type ChainABlock } from '../support/chain/chain-a';
import type { SignalledFork } from '../../lib/node/types/soft-forks';

/** As printed by the reference; startTime and timeout are the network's own parameters. */
interface RecordedInfo {
  readonly bip9_softforks: { readonly csv: Readonly<Record<string, unknown>> };
}

describe('the soft forks at the tip', () => {
  let host: TestFullNode;
  let node: BcoinNode;

  before(async () => {
    host = await openRegtestNode();
    node = new BcoinNode(host);
  });

  after(() => host.close());

  /** Whether each block of the period signals, up to the tip; undefined where signals no longer count, or do not count yet. */
  async function signalsAt(fork: SignalledFork | undefined): Promise<boolean[] | undefined> {
    if (fork === undefined || !['started', 'locked_in'].includes(fork.status)) return undefined;
    const signals: boolean[] = [];
    for (let height = host.chain.height - (host.chain.height % fork.period); height <= host.chain.height; height++) {
      const entry = (await host.chain.getEntryByHeight(height)) ?? expect.fail('a block');
      signals.push(entry.hasBit(fork.bit));
    }
    return signals;
  }

  it('equal those that the reference reported at the same blocks', async function () {
    this.timeout(120_000);
    const blocks = chainABlocks()[Symbol.iterator]();
    const told: number[] = [];
    for (const [text, json] of Object.entries(chainAChainInfo())) {
      const height = Number(text);
      if (height > 300) break;
      while (host.chain.height < height) await host.chain.add(bcoin.Block.fromRaw((blocks.next().value as ChainABlock).raw));
      const recorded = JSON.parse(json) as RecordedInfo;
      told.push(height);
      const { bip9, versionForks } = await node.deployments(node.tip().hash);
      const csv = bip9.find(({ id }) => id === 'csv');
      const { status, since, statistics } = recorded.bip9_softforks.csv;
      expect(csv, `height ${height}`).to.include({ status, since });
      expect(csv?.statistics, `height ${height}`).to.deep.equal(statistics);
      expect(versionForks.map(({ active }) => active)).to.deep.equal([false, false, false]);
      const described = (await node.deploymentInfo(node.tip().hash))?.signalled.find(({ id }) => id === 'csv');
      expect(described?.signals, `height ${height}`).to.deep.equal(await signalsAt(described));
    }
    expect(told).to.include.members([0, 143, 200, 288]);
  });
});
