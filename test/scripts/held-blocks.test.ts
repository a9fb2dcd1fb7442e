import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { ScriptIndexer } from '../../lib/scripts/script-indexer';
import { BcoinNode } from '../../lib/node/bcoin';
import { MemoryStore } from '../../lib/store/memory-store';
import { nodeWith } from '../support/bcoin/changed-node';
import { indexerOn } from '../support/node/indexed-node';
import { MemoryLog } from '../support/process/memory-log';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { ChainIndexer } from '../../lib/index/chain-index';
import type { TestFullNode } from '../support/bcoin/bcoin';

const LENGTH = 4;

describe('blocks that are not shown at once', () => {
  let host: TestFullNode;
  let index: ChainIndexer;
  let scripts: ScriptIndexer;
  /** Settles when the block that came last may be shown. */
  let mayShow: Promise<boolean>;

  beforeEach(async () => {
    host = await openRegtestNode();
    await mine(host, LENGTH);
    mayShow = Promise.resolve(true);
    const node = nodeWith(new BcoinNode(host), { mayShow: () => mayShow });
    index = indexerOn(node);
    scripts = new ScriptIndexer({
      store: new MemoryStore(),
      index,
      node,
      logger: new MemoryLog(),
      undoDepth: 1_000,
      filling: undefined,
      scrubMs: 0
    });
    await index.open();
    scripts.open();
    await firstValueFrom(scripts.state$.pipe(filter((state) => state.phase === 'live' && state.height === LENGTH)));
  });

  afterEach(async () => {
    await scripts.close();
    await index.close();
    await host.close();
  });

  it('are answered by script from the block that is shown, although nobody had asked since that came', async () => {
    const shown = (): number => index.reader.read(({ tip }) => tip.height);
    const byScript = (): number => scripts.reader.read((snapshot) => snapshot.index.tip.height);
    await mine(host, 1);
    await until(() => shown() === LENGTH + 1);
    let show: (may: boolean) => void = () => undefined;
    mayShow = new Promise((resolve) => (show = resolve));
    const mined = mine(host, 1);
    await until(() => index.latest.read(({ tip }) => tip.height) === LENGTH + 2);
    expect([shown(), byScript()]).to.deep.equal([LENGTH + 1, LENGTH + 1]);
    show(true);
    await mined;
    await until(() => shown() === LENGTH + 2);
    expect(byScript()).to.equal(LENGTH + 2);
  });
});
