import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin } from '../support/bcoin/bcoin';
import { regtestGenesis } from '../support/chain/chain-a';
import { isFleetWanted } from '../support/fleet/fleet';
import { ask, type RawReply } from '../support/client/http';
import { blockHash } from '../support/chain/made-blocks';
import { BlockMaker, type BlockPlan } from '../support/chain/mined-blocks';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { settledAt } from '../support/client/settled-ports';

/** Enough for the first coinbase to be spent. */
const QUIET_BLOCKS = 101;
const BUSY_BLOCKS = 10;
const UNDONE_BLOCKS = 3;

interface ShownOutput {
  readonly value: number;
  readonly scriptPubKey: { readonly hex: string };
}

/** bcoin 1 forgets what blocks off the chain spend. A reader keeps the blocks that it had. */
const isGone = !isFleetWanted && /\d+/.exec(bcoin.pkg.version)?.[0] === '1';

const quiet: BlockPlan = { repeat: undefined, transactions: [] };

/** Spends earlier coins, coins of the block itself, and several at once. */
const busy = (seed: number): BlockPlan => ({
  repeat: undefined,
  transactions: [
    { spends: [seed], outputs: [0, 2, 1] },
    { spends: [seed + 5, seed + 9], outputs: [0] },
    { spends: [seed * 7 + 1], outputs: [2, 0] }
  ]
});

describe('outputs that blocks spend', () => {
  let served: RestNode;
  const maker = new BlockMaker();
  /** The outputs that each block spends, as getutxos showed them one block earlier. */
  const known = new Map<string, (readonly string[])[]>();

  const get = (path: string): Promise<RawReply> => ask(served.port, { path });
  const json = async (path: string): Promise<unknown> => JSON.parse((await get(path)).body.toString()) as unknown;
  const shown = ({ value, scriptPubKey: { hex } }: ShownOutput): string => `${value} ${hex}`;

  /** Adds a block on top of the tip. */
  const add = async (raw: Buffer): Promise<Buffer> => {
    const { hash, transactions } = scanBlock(raw);
    const made = new Map(transactions.map(({ txid, outputs }) => [toDisplayHex(txid), outputs]));
    const lists: (readonly string[])[] = [];
    for (const transaction of transactions) {
      const list: string[] = [];
      for (const { txid, index } of transaction.isCoinbase ? [] : transaction.inputs) {
        const own = made.get(toDisplayHex(txid))?.[index];
        if (own === undefined) {
          const { utxos } = (await json(`/rest/getutxos/${toDisplayHex(txid)}-${index}.json`)) as { utxos: ShownOutput[] };
          list.push(...utxos.map(shown));
        } else list.push(`${own.value / 1e8} ${own.script.toString('hex')}`);
      }
      expect(list).to.have.length(transaction.isCoinbase ? 0 : transaction.inputCount);
      lists.push(list);
    }
    known.set(toDisplayHex(hash), lists);
    await served.node.chain.add(bcoin.Block.fromRaw(raw));
    return hash;
  };

  /** The reply about a block, in the same form as `known`. */
  const answered = async (hash: string): Promise<string[][]> =>
    ((await json(`/rest/spenttxouts/${hash}.json`)) as ShownOutput[][]).map((list) => list.map(shown));

  /** As `answered`, from the reply in bytes. */
  const answeredInBytes = async (hash: string): Promise<string[][]> => {
    const { body } = await get(`/rest/spenttxouts/${hash}.bin`);
    let at = 0;
    const byte = (): number => body[at++] ?? expect.fail('a byte');
    const lists = Array.from({ length: byte() }, () =>
      Array.from({ length: byte() }, () => {
        const value = Number(body.readBigInt64LE(at)) / 1e8;
        at += 8;
        const length = byte();
        at += length;
        return `${value} ${body.toString('hex', at - length, at)}`;
      })
    );
    expect(at).to.equal(body.length);
    return lists;
  };

  const tipHash = (): Buffer => served.rest.reader.read(({ tip }) => tip.hash);

  before(async () => {
    served = await openRestNode({ settings: { 'rest-core': 'modern' } });
    await untilReady(served);
    let hash = blockHash(regtestGenesis);
    for (let i = 0; i < QUIET_BLOCKS; i++) {
      const raw = maker.make(hash, quiet);
      await served.node.chain.add(bcoin.Block.fromRaw(raw));
      hash = blockHash(raw);
    }
    for (let i = 0; i < BUSY_BLOCKS; i++) hash = await add(maker.make(hash, busy(i)));
  });

  after(() => served.node.close());

  it('are the coins that getutxos gave one block earlier, and those that the block created itself', async () => {
    expect([...known.values()].flat(2)).to.have.length.above(30);
    for (const [hash, lists] of known) {
      expect(await answered(hash)).to.deep.equal(lists);
      expect(await answeredInBytes(hash)).to.deep.equal(lists);
      expect((await get(`/rest/spenttxouts/${hash}.hex`)).body.toString()).to.equal(
        `${(await get(`/rest/spenttxouts/${hash}.bin`)).body.toString('hex')}\n`
      );
    }
  });

  it('are one empty list if nothing is spent, for the genesis block too', async () => {
    for (const height of [0, 1, QUIET_BLOCKS]) {
      const { blockhash } = (await json(`/rest/blockhashbyheight/${height}.json`)) as { blockhash: string };
      expect(await answered(blockhash)).to.deep.equal([[]]);
      expect((await get(`/rest/spenttxouts/${blockhash}.hex`)).body.toString()).to.equal('0100\n');
    }
  });

  it('are known for disconnected blocks as long as the node knows these, and then are not to be cached', async () => {
    const undone = [...known].slice(-UNDONE_BLOCKS);
    const { reader } = served.rest;
    let hash = reader.read((snapshot) => snapshot.headerAt(snapshot.tip.height - UNDONE_BLOCKS)?.hash) ?? expect.fail('a block');
    for (let i = 0; i <= UNDONE_BLOCKS; i++) {
      const raw = maker.make(hash, quiet);
      await served.node.chain.add(bcoin.Block.fromRaw(raw));
      hash = blockHash(raw);
    }
    await settledAt(served.port);
    expect(tipHash()).to.deep.equal(hash);
    for (const [stale, lists] of undone) {
      const reply = await get(`/rest/spenttxouts/${stale}.json`);
      expect(reply.headers['cache-control']).to.equal('no-store');
      if (isGone) expect([reply.status, reply.body.toString()]).to.deep.equal([404, `${stale} undo not available\r\n`]);
      else expect(await answered(stale)).to.deep.equal(lists);
      known.delete(stale);
    }
    for (let i = 0; i < 3; i++) hash = await add(maker.make(hash, busy(i + 40)));
    for (const [active, lists] of known) {
      const reply = await get(`/rest/spenttxouts/${active}.bin`);
      expect(reply.headers['cache-control']).to.equal('public, immutable, max-age=86400');
      expect(await answered(active)).to.deep.equal(lists);
    }
  });
});
