import { after, before, describe, it } from 'mocha';
import { COINBASE_SATS, Coinbases, FEE_SATS } from '../support/chain/coinbases';
import { PushClient } from '../support/client/push-client';
import { ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import { WideTransactions } from '../support/chain/wide-transactions';
import type { HostTransaction } from '../../lib/node/host';

/** Of a pool with more transactions, views may be older than the pool. */
const SMALL_POOL = 5_000;

const BLOCKS = 110;

describe('a large pool over mempool’s WebSocket', function () {
  this.timeout(120_000);
  let served: ServedNode;
  let coinbases: Coinbases;

  before(async () => {
    served = await ServedNode.open();
    const { mempool } = served.node;
    coinbases = await Coinbases.mine(served.node, BLOCKS);
    const wide = new WideTransactions(coinbases, async (transaction) => {
      await mempool.addTX(transaction);
      return transaction;
    });
    while (mempool.map.size <= SMALL_POOL) await wide.withChildren();
    await served.settle();
  });
  after(() => served.close());

  const countIn = (blocks: unknown): number => (blocks as { readonly nTx: number }[]).reduce((sum, { nTx }) => sum + nTx, 0);

  it('is told as it is now to a client whose first answer was made before its last change', async () => {
    const { mempool } = served.node;
    const spend = (): HostTransaction => coinbases.paying([coinbases.fresh()], COINBASE_SATS - FEE_SATS);
    const [one, last] = [spend(), spend()];
    const projected = async (): Promise<number> => countIn(JSON.parse((await served.get('/v1/fees/mempool-blocks')).body.toString()));
    await projected();
    await mempool.addTX(one);
    // Whoever asks within a second and a half from here on gets the same.
    await until(async () => (await projected()) === mempool.map.size);
    await mempool.addTX(last);
    const client = await PushClient.connect(served.port);
    let [{ 'mempool-blocks': told } = {}] = await client.ask({ action: 'want', data: ['mempool-blocks'] });
    while (countIn(told) < mempool.map.size) told = await client.next('mempool-blocks');
    client.socket.terminate();
  });
});
