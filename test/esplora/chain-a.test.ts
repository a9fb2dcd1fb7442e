import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin } from '../support/bcoin/bcoin';
import { chainAActiveBlocks, chainAManifest, chainAPool, jsonIn } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, copiedChain, fillChainAPool } from '../support/node/chain-a-node';
import { needsNode, NO_FEED_WHILE_SHORTER } from '../support/fleet/fleet';
import {
  differing,
  DIFFERENT,
  GUESSED_FLAGS,
  PACKAGE_FLAGS,
  recordedBlocks,
  recordedPool,
  type Json,
  type RecordedBlock,
  type RecordedTransaction,
  type Relative
} from './recorded-mempool';
import { sha256 } from '../support/index/script-model';
import { ServedNode } from '../support/node/served-node';
import { askInOneWrite } from '../support/client/http';

interface RecordedAnswer {
  readonly path: string;
  readonly json: unknown;
}

interface ShownOutput {
  readonly scriptpubkey: string;
  readonly value: number;
}

interface Shown {
  readonly txid: string;
  readonly status: { readonly confirmed: boolean; readonly block_height?: number; readonly block_time?: number };
  readonly vin: readonly { readonly prevout: ShownOutput | null }[];
  readonly vout: readonly ShownOutput[];
}

interface Summary {
  readonly txid: string;
  readonly height: number;
  readonly value: number;
  readonly time: number;
  readonly tx_position: number;
}

/** Requests that are sent together. */
const TOGETHER = 250;
/** Space for all of these requests. */
const SETTINGS = { 'rest-work-queue': 2 * TOGETHER };

const PAGE_SIZE = 25;

const recordedAnswers = (): RecordedAnswer[] => jsonIn(join(__dirname, '../vectors/esplora/answers.jsonl.gz'));

describe('Esplora’s interface over a long chain', () => {
  let served: ServedNode;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await ServedNode.open({ prefix: await copiedChain(), settings: SETTINGS });
  });
  after(() => served.node.close());

  const texts = async (paths: readonly string[]): Promise<string[]> => {
    const bodies: string[] = [];
    for (let at = 0; at < paths.length; at += TOGETHER) {
      const requests = paths.slice(at, at + TOGETHER).map((path) => ({ path: `/api${path}` }));
      bodies.push(...(await askInOneWrite(served.port, requests)).map(({ body }) => body.toString()));
    }
    return bodies;
  };

  const text = async (path: string): Promise<string> => (await served.get(path)).body.toString();

  /** The answer in the form of the records. */
  function shown(path: string, text: string): unknown {
    const [, fields] = path.split('#');
    if (fields === undefined) return text;
    const json = JSON.parse(text) as Record<string, unknown>;
    return Object.fromEntries(fields.split(',').map((field) => [field, json[field]]));
  }

  async function replay(answers: readonly RecordedAnswer[]): Promise<void> {
    const replies = await texts(answers.map(({ path }) => path.split('#')[0] as string));
    const differences = answers.flatMap(({ path, json }, i) => {
      const expected = path.includes('#') || typeof json === 'string' ? json : JSON.stringify(json);
      const reply = shown(path, replies[i] as string);
      return JSON.stringify(reply) === JSON.stringify(expected) ? [] : [{ path, reply, expected }];
    });
    expect(differences).to.deep.equal([]);
  }

  it('shows transactions as they follow from the blocks, also from the cache', async () => {
    const pool = new Set(chainAManifest().mempool.map(({ txid }) => txid));
    const isOfPool = ({ path, json }: RecordedAnswer): boolean =>
      pool.has(path.slice(4, 68)) || JSON.stringify(json).includes('"confirmed":false');
    const answers = recordedAnswers().filter((answer) => !isOfPool(answer));
    expect(answers).to.have.length.above(500);
    await replay(answers);
    await replay(answers);
  });

  it('shows the transactions of a block page by page', async () => {
    const long = chainAActiveBlocks().filter((block) => scanBlock(block.raw).transactions.length > 2 * PAGE_SIZE);
    const { raw, hash } = long.reduce((a, b) => (b.raw.length < a.raw.length ? b : a));
    const { transactions } = scanBlock(raw);
    const txids = transactions.map(({ txid }) => toDisplayHex(txid));
    expect(await texts([`/block/${hash}/txids`])).to.deep.equal([JSON.stringify(txids)]);
    expect(await texts(txids.map((_, i) => `/block/${hash}/txid/${i}`))).to.deep.equal(txids);
    expect(await texts(txids.map((txid) => `/tx/${txid}/hex`))).to.deep.equal(transactions.map((each) => each.raw.toString('hex')));
    const starts = Array.from({ length: Math.ceil(txids.length / PAGE_SIZE) }, (_, i) => i * PAGE_SIZE);
    const pages = await texts(starts.map((start) => `/block/${hash}/txs/${start}`));
    const each = await texts(txids.map((txid) => `/tx/${txid}`));
    expect(pages).to.deep.equal(starts.map((start) => `[${each.slice(start, start + PAGE_SIZE).join(',')}]`));
    expect((await served.get(`/block/${hash}/raw`)).body.equals(raw)).to.equal(true);
    expect(await texts([`/block/${hash}/header`])).to.deep.equal([raw.toString('hex', 0, 80)]);
  });

  it('shows all blocks, ten at a time, each as by its hash', async () => {
    const blocks = chainAActiveBlocks();
    const { height } = chainAManifest();
    const [all, fromTen] = await texts([`/blocks/${height}`, '/blocks/9']);
    const alone = await texts(blocks.slice(-10).map(({ hash }) => `/block/${hash}`));
    expect(all).to.equal(`[${alone.reverse().join(',')}]`);
    const lowest = JSON.parse(fromTen as string) as { height: number; previousblockhash: string | null; tx_count: number }[];
    expect(lowest.map((block) => block.height)).to.deep.equal([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(lowest.at(-1)?.previousblockhash).to.equal(null);
  });

  it('shows all transactions as they follow from blocks and pool', async () => {
    await fillChainAPool(served.node);
    await replay(recordedAnswers());
    const txids = chainAManifest().mempool.map(({ txid }) => txid);
    expect(await texts(txids.map((txid) => `/tx/${txid}/hex`))).to.deep.equal(chainAPool().map((raw) => raw.toString('hex')));
    const { headers } = await served.get(`/tx/${txids[0] as string}`);
    expect(headers['cache-control']).to.equal('public, max-age=10');
    const ofMany = await texts([`/txs/outspends?txids=${txids.slice(0, 50).join(',')}`]);
    expect(ofMany).to.deep.equal([`[${(await texts(txids.slice(0, 50).map((txid) => `/tx/${txid}/outspends`))).join(',')}]`]);
  });

  it('takes a malformed txid among several for one that is unknown, as electrs does', async () => {
    const [txid = ''] = chainAManifest().mempool.map(({ txid }) => txid);
    const spends = await served.get(`/tx/${txid}/outspends`);
    const { status, body } = await served.get(`/txs/outspends?txids=xx,${txid},,${'0'.repeat(64)}`);
    expect([status, body.toString()]).to.deep.equal([200, `[[],${spends.body.toString()},[],[]]`]);
  });

  it('shows the transactions of several scripts in one list: each once, of the pool first, then the newest', async () => {
    const recorded = jsonIn<RecordedAnswer>(join(__dirname, '../vectors/esplora/scripts.jsonl.gz'));
    const hashes = [...new Set(recorded.map(({ path }) => path.split(/[/?#]/)[2] ?? ''))].slice(0, 12);
    const walk = async (page: (query: string) => Promise<{ readonly body: Buffer }>): Promise<Shown[]> => {
      const all: Shown[] = [];
      for (let query = '?max_txs=100'; ; query = `?max_txs=100&after_txid=${all.at(-1)?.txid ?? ''}`) {
        const list = JSON.parse((await page(query)).body.toString()) as Shown[];
        all.push(...list);
        if (list.length === 0) return all;
      }
    };
    const single = await Promise.all(hashes.map((hash) => walk((query) => served.get(`/scripthash/${hash}/txs${query}`))));
    const body = Buffer.from(JSON.stringify([...hashes, hashes[0]]));
    const together = await walk((query) => served.get(`/scripthashes/txs${query}`, { method: 'POST', body }));
    const txidsOf = (list: readonly Shown[]): string[] => list.map(({ txid }) => txid);
    expect(together.length).to.be.above(100);
    const first = JSON.parse((await served.get('/scripthashes/txs', { method: 'POST', body })).body.toString()) as Shown[];
    expect(first).to.deep.equal(together.slice(0, 50));
    expect(txidsOf(together)).to.have.members([...new Set(txidsOf(single.flat()))]);
    const heights = together.map(({ status }) => status.block_height ?? Infinity);
    expect(heights).to.deep.equal(heights.toSorted((a, b) => b - a));
  });

  it('says what each transaction of the chain changed for a script, and for several, page by page, as the transactions themselves do', async () => {
    const recorded = jsonIn<RecordedAnswer>(join(__dirname, '../vectors/esplora/scripts.jsonl.gz'));
    const hashes = [...new Set(recorded.map(({ path }) => path.split(/[/?#]/)[2] ?? ''))].slice(0, 40);
    const post = (path: string, names: readonly string[]): Promise<string> =>
      served.get(path, { method: 'POST', body: Buffer.from(JSON.stringify(names)) }).then(({ body }) => body.toString());
    const all = new Map<string, Shown>();
    for (const hash of hashes)
      for (let cursor = ''; ;) {
        const page = JSON.parse(await text(`/scripthash/${hash}/txs/chain${cursor}?max_txs=100`)) as Shown[];
        for (const one of page) all.set(one.txid, one);
        if (page.length === 0) break;
        cursor = `/${page.at(-1)?.txid ?? ''}`;
      }
    const places = new Map(
      chainAActiveBlocks().flatMap(({ raw }) => scanBlock(raw).transactions.map(({ txid }, i) => [toDisplayHex(txid), i] as const))
    );
    const hashed = new Map<string, string>();
    const hashOf = (script: string): string => {
      const hash = hashed.get(script) ?? sha256(Buffer.from(script, 'hex')).toString('hex');
      hashed.set(script, hash);
      return hash;
    };
    const expected = (scripts: readonly string[]): Summary[] => {
      const ofScripts = (output: ShownOutput | null): number => (output !== null && scripts.includes(hashOf(output.scriptpubkey)) ? 1 : 0);
      return [...all.values()]
        .flatMap(({ txid, vin, vout, status }) => {
          const spent = vin.flatMap(({ prevout }) => (ofScripts(prevout) === 0 ? [] : [-(prevout?.value ?? 0)]));
          const paid = vout.flatMap((output) => (ofScripts(output) === 0 ? [] : [output.value]));
          if (spent.length + paid.length === 0) return [];
          const value = [...spent, ...paid].reduce((sum, each) => sum + each, 0);
          return [{ txid, height: status.block_height ?? 0, value, time: status.block_time ?? 0, tx_position: places.get(txid) ?? 0 }];
        })
        .sort((a, b) => b.height - a.height || b.tx_position - a.tx_position);
    };
    for (const hash of hashes) {
      const whole = JSON.stringify(expected([hash]));
      for (const path of [`/scripthash/${hash}`, `/v1/scripthash/${hash}`]) expect(await text(`${path}/txs/summary`)).to.equal(whole);
    }
    const together = expected(hashes);
    expect(together.length).to.be.above(200);
    for (const below of ['', '/v1'])
      expect(await post(`${below}/scripthashes/txs/summary`, [...hashes, ...hashes])).to.equal(JSON.stringify(together));
    const longest = hashes.reduce((a, b) => (expected([b]).length > expected([a]).length ? b : a));
    const history = expected([longest]);
    for (let at = 0; at <= history.length; at += 7) {
      const page = JSON.stringify(history.slice(at, at + 7));
      const cursor = at === 0 ? '' : `/${history[at - 1]?.txid ?? ''}`;
      expect(await text(`/scripthash/${longest}/txs/summary${cursor}?max_txs=7`)).to.equal(page);
      expect(await text(`/scripthash/${longest}/txs/summary?max_txs=7&after_txid=${cursor.slice(1)}`)).to.equal(page);
    }
    for (let at = 50; at <= 150; at += 50)
      expect(await post(`/scripthashes/txs/summary/${together[at - 1]?.txid ?? ''}?max_txs=50`, hashes)).to.equal(
        JSON.stringify(together.slice(at, at + 50))
      );
    const written = hashes.map((hash, i) => (i % 2 === 0 ? hash : hash.toUpperCase()));
    expect(await post('/scripthashes/txs/summary', [...hashes, ...written])).to.equal(JSON.stringify(together));
    // Of another script, of the pool, of nobody.
    const foreign = together.find(({ txid }) => !history.some((one) => one.txid === txid))?.txid ?? expect.fail('another script');
    const [pooled] = chainAManifest().mempool;
    expect(await text(`/scripthash/${longest}/txs/summary/${foreign}`)).to.equal('[]');
    expect(await text(`/scripthash/${longest}/txs/summary/${pooled?.txid ?? ''}`)).to.equal('[]');
    expect(await text(`/scripthash/${longest}/txs/summary/${'ff'.repeat(32)}`)).to.equal('after_txid not found');
    expect(await text(`/scripthash/${longest}/txs/summary/zz?max_txs=0`)).to.equal('[]');
  });

  it('refuses lists of scripts that it cannot read, and too long ones', async () => {
    const post = async (names: unknown): Promise<string> => {
      const { status, body } = await served.get('/addresses/txs', { method: 'POST', body: Buffer.from(JSON.stringify(names)) });
      return `${status} ${body.toString()}`;
    };
    expect(await post({})).to.equal('400 Invalid body: expected a JSON array of addresses or script hashes');
    expect(await post(['x'])).to.equal('400 Invalid Bitcoin address');
    expect(await post(Array.from({ length: 101 }, () => 'x'))).to.equal('400 Exceeded maximum of 100 addresses or script hashes');
    expect(await post([])).to.equal('200 []');
  });

  const json = async <T>(path: string): Promise<T> => JSON.parse((await served.get(path)).body.toString()) as T;

  it('shows every recorded block as mempool’s backend does, but for a few fields', async () => {
    const blocks = recordedBlocks();
    expect(blocks).to.have.lengthOf(84);
    const found = new Set<string>();
    let equal = 0;
    for (const block of blocks) {
      const ours = await json<RecordedBlock>(`/v1/block/${block.id}`);
      const names = differing(ours, block);
      for (const name of names) found.add(name);
      if (names.every((name) => name === 'stale' || name === 'pool')) equal++;
      expect(ours.extras['pool']).to.deep.equal({ id: 0, ...(block.extras['pool'] as Json) });
    }
    expect([...found]).to.have.members(Object.keys(DIFFERENT));
    expect(equal).to.equal(75);
  });

  it('shows the same rate, relatives and flags of every transaction of the pool', async () => {
    const transactions = recordedPool();
    expect(transactions).to.have.lengthOf(78);
    const [block] = await json<{ readonly nTx: number; readonly totalFees: number }[]>('/v1/fees/mempool-blocks');
    expect(block).to.include({ nTx: 78, totalFees: transactions.reduce((sum, { fee }) => sum + fee, 0) });
    const txids = (list: readonly Relative[] = []): string[] => list.map(({ txid }) => txid).sort();
    const { blocks } = await served.answers.projections.get();
    const flags = new Map(blocks[0]?.transactions.map((one) => [one.txid.toString('hex'), BigInt(one.flags)]));
    let equal = 0;
    for (const { txid, fee, effectiveFeePerVsize, ancestors, descendants, flags: theirs } of transactions) {
      const ours = await json<RecordedTransaction & { readonly cluster?: unknown }>(`/v1/cpfp/${txid}`);
      expect(ours.fee, txid).to.equal(fee);
      const known = flags.get(Buffer.from(txid, 'hex').reverse().toString('hex')) ?? expect.fail(txid);
      expect(known & ~PACKAGE_FLAGS, txid).to.equal(BigInt(theirs) & ~GUESSED_FLAGS & ~PACKAGE_FLAGS);
      if (Math.abs(ours.effectiveFeePerVsize - effectiveFeePerVsize) > 1e-9) {
        // It is mined together with others than in an order by ancestors.
        expect(ours.cluster, txid).to.not.equal(undefined);
        continue;
      }
      equal++;
      expect(txids([...ours.ancestors, ...ours.descendants]), txid).to.deep.equal(txids([...ancestors, ...descendants]));
      // Brothers may come in any order.
      expect((known & PACKAGE_FLAGS) === 0n, txid).to.equal((BigInt(theirs) & PACKAGE_FLAGS) === 0n);
    }
    expect(equal).to.equal(70);
  });

  it('recommends what mempool’s backend recommends', async () => {
    // As recorded under `/fee-estimates`.
    expect(await json('/v1/fees/precise')).to.deep.equal({
      fastestFee: 1.5,
      halfHourFee: 1.25,
      hourFee: 1,
      economyFee: 1,
      minimumFee: 1
    });
  });

  it('forgets blocks that are disconnected, and knows them again when they are connected again', async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    needsNode(this, NO_FEED_WHILE_SHORTER);
    const { height } = chainAManifest();
    const taken = chainAActiveBlocks().slice(height - 19);
    const block = taken.reduce((a, b) => (b.raw.length > a.raw.length ? b : a));
    const txid = toDisplayHex(scanBlock(block.raw).transactions[0]?.txid as Buffer);
    const paths = [`/tx/${txid}`, `/tx/${txid}/status`, `/tx/${txid}/merkle-proof`, `/block/${block.hash}`, `/block/${block.hash}/status`];
    const before = await texts(paths);
    expect(await texts(paths)).to.deep.equal(before);
    await served.node.chain.reset(height - 20);
    await served.settle();
    expect(await texts(paths)).to.deep.equal([
      'Transaction not found',
      '{"confirmed":false}',
      'Transaction not found or is unconfirmed',
      'Block not found',
      '{"in_best_chain":false,"height":null,"next_best":null}'
    ]);
    for (const { raw } of taken) await served.node.chain.add(bcoin.Block.fromRaw(raw));
    await served.settle();
    expect(await texts(paths)).to.deep.equal(before);
  });
});
