import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { ChainIndexer } from '../../lib/index/chain-index';
import { IndexUnavailableError } from '../../lib/index/errors';
import { BcoinNode } from '../../lib/node/bcoin';
import { DiskStore } from '../../lib/store/disk-store';
import { nodeWith } from '../support/bcoin/changed-node';
import { newFolder } from '../support/process/folders';
import { indexerOn, reach } from '../support/node/indexed-node';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { activeChain } from '../support/chain/regtest-chain';
import { expectIndexOf } from '../support/index/utxo-model';
import type { Store, StoreUse } from '../../lib/store/store';
import type { NodeSource } from '../../lib/node/types/source';
import type { TestFullNode } from '../support/bcoin/bcoin';

/** More blocks than an index adds without preparing its store for many. */
const MANY = 120;
/** More blocks than it adds before it prepares the store again. */
const VERY_MANY = 1_150;

describe('the store of an index', () => {
  let folder: string;
  let host: TestFullNode;
  let store: Store;
  let index: ChainIndexer;
  /** The uses for which the store was prepared, with the phase of the index; without uses that it already had. */
  let uses: string[];
  /** Height of the index each time. */
  let heights: number[];
  let onUse: () => void;

  beforeEach(async () => {
    folder = await newFolder();
    host = await openRegtestNode();
    onUse = (): void => undefined;
  });

  afterEach(async () => {
    await index.close();
    await host.close();
  });

  async function openIndex(node: NodeSource = new BcoinNode(host)): Promise<void> {
    store = new DiskStore(join(folder, 'index'));
    uses = [];
    heights = [];
    let current: StoreUse = 'following';
    const prepareFor = store.prepareFor.bind(store);
    store.prepareFor = async (use): Promise<void> => {
      if (use !== current) uses.push(`${use} while ${index.state.phase}`);
      heights.push(height);
      current = use;
      const prepared = prepareFor(use);
      onUse();
      await prepared;
    };
    index = indexerOn(node, { store });
    let height = -1;
    index.tip$.subscribe((tip) => {
      height = tip.height;
    });
    await index.open();
    await reach('live', index);
    await expectIndexOf(store, await activeChain(new BcoinNode(host)));
  }

  const untilLevel = async (): Promise<void> => {
    await firstValueFrom(index.state$.pipe(filter((state) => state.phase === 'live' && state.height === host.chain.height)));
  };

  it('is prepared for many blocks, and for following before the first answer', async () => {
    await mine(host, MANY);
    await openIndex();
    expect(uses).to.deep.equal(['catching-up while loading', 'following while indexing']);
  });

  it('stays as it is for a few blocks, and for new ones', async () => {
    await mine(host, 20);
    await openIndex();
    await mine(host, 3);
    expect(index.state).to.deep.equal({ phase: 'live', height: 23 });
    expect(uses).to.deep.equal([]);
  });

  it('is prepared again every thousand blocks: by then it may be large', async () => {
    await mine(host, VERY_MANY);
    await openIndex();
    expect(uses).to.deep.equal(['catching-up while loading', 'following while indexing']);
    expect(heights).to.deep.equal([-1, 999, VERY_MANY]);
  });

  it('is prepared again while the node downloads the chain, and not any more after that', async () => {
    let synced = false;
    const node = nodeWith(new BcoinNode(host), {
      get synced() {
        return synced;
      }
    });
    await openIndex(node);
    heights = [];
    await mine(host, VERY_MANY);
    await untilLevel();
    expect(heights.length, 'looks at the store').to.be.least(1);
    synced = true;
    await mine(host, 1);
    await untilLevel();
    const looks = heights.length;
    await mine(host, 20);
    expect(index.state).to.deep.equal({ phase: 'live', height: VERY_MANY + 21 });
    // The end of the download may not have come yet.
    expect(heights.length - looks).to.be.most(1);
    await expectIndexOf(store, await activeChain(node));
  });

  it('is closed to readers in between, and they are told so', async () => {
    await mine(host, MANY);
    const said = new Set<unknown>();
    onUse = (): void => {
      try {
        index.reader.read(({ tip }) => tip);
      } catch (error) {
        said.add(error instanceof IndexUnavailableError ? error.message : error);
      }
    };
    await openIndex();
    expect([...said]).to.deep.equal(['the index is not open']);
    expect(index.reader.read(({ tip }) => tip.height)).to.equal(MANY);
  });
});
