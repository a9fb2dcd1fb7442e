import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { BcoinNode } from '../../lib/node/bcoin';
import { DiskStore } from '../../lib/store/disk-store';
import { ImpossibleError } from '../../plugin/cli/index-commands/errors';
import { rebuild as rebuildIndex } from '../../plugin/cli/index-commands/commands';
import { readStoppedNodeOptions } from '../../plugin/options/indexes';
import { ProgressDisplay } from '../../plugin/progress';
import { caught } from '../support/expectations/caught';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { ALWAYS_KEPT, KEPT_BLOCKS, withSmallPruning } from '../support/bcoin/small-pruning';
import { imageOf } from '../support/index/utxo-model';

describe('rebuilding the index of a node that prunes', () => {
  withSmallPruning();
  let prefix: string;
  let served: RestNode;

  before(async () => {
    prefix = await mkdtemp(join(tmpdir(), 'rest-rebuild-'));
    served = await openRestNode({ prefix, settings: { prune: true } });
    await mine(served.node, ALWAYS_KEPT + 2 * KEPT_BLOCKS);
    await untilReady(served);
    await served.rest.close();
  });
  after(async () => {
    // The plugin was closed already.
    Object.assign(served.rest, { close: () => Promise.resolve() });
    await served.node.close();
    await rm(prefix, { recursive: true });
  });

  const indexFolder = (): string => join(prefix, 'regtest/rest/index');

  async function image(): Promise<string[]> {
    const store = new DiskStore(indexFolder());
    await store.open();
    const records = await imageOf(store);
    await store.close();
    return records;
  }

  async function rebuild(bootstrap: 'blocks' | 'coins'): Promise<number> {
    const { exit } = await rebuildIndex({
      stopped: {
        node: new BcoinNode(served.node),
        network: 'regtest',
        indexFolder: indexFolder(),
        scriptsFolder: '',
        refusedFile: '',
        options: { ...readStoppedNodeOptions(served.node.config), bootstrap },
        close: () => Promise.resolve()
      },
      display: new ProgressDisplay(process.stderr),
      signal: new AbortController().signal
    });
    return exit;
  }

  it('is refused before anything is emptied, and says what to do', async () => {
    const before = await image();
    expect(await caught(rebuild('blocks')))
      .to.be.instanceOf(ImpossibleError)
      .with.property('message')
      .that.includes('the node has thrown blocks away')
      .and.that.includes('--rest-bootstrap=coins');
    expect(await image()).to.deep.equal(before);
  });

  it('uses the node’s coins if configured so', async () => {
    expect(await rebuild('coins')).to.equal(0);
    const store = new DiskStore(indexFolder());
    await store.open();
    expect(store.get(Buffer.from('B'))).to.be.instanceOf(Buffer);
    await store.close();
  });
});
