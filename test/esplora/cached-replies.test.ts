import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { EsploraRequest } from '../../lib/esplora/endpoint';
import { esploraRoutes } from '../../lib/esplora/routes';
import { ScriptsUnavailableError } from '../../lib/scripts/errors';
import { HttpError, UnavailableError } from '../../lib/server/errors';
import { needsNode } from '../support/fleet/fleet';
import { askInOneWrite } from '../support/client/http';
import { PoolWalk, scriptHash, SCRIPTS } from '../support/pool/walk';
import { mine } from '../support/bcoin/regtest-node';
import { itIsMadeAnew, servedWalks, type ServedWalk } from '../support/pool/served-walks';
import { uncachedAnswers } from '../support/node/uncached-answers';
import type { Route } from '../../lib/esplora/endpoint';
import type { NotifyingNode } from '../support/node/notifying-node';

/** More than are asked in one write. */
const WORK_QUEUE = 1_000;

const HASHES = SCRIPTS.map(({ script }) => scriptHash(script).toString('hex'));
const OF_SCRIPT = ['', '/txs', '/txs?max_txs=3', '/txs/chain', '/txs/mempool', '/utxo'];
/** Transactions of the walk about which is asked, and the first outputs of each. */
const TRANSACTIONS = 12;
const OUTPUTS = 2;

/** Answered from one snapshot, of the moment at which they are asked. */
const ofScripts = HASHES.flatMap((hash) => OF_SCRIPT.map((path) => `/scripthash/${hash}${path}`));

/** A reply as text; `isImmutable`: whether clients may cache it for years. */
const shown = (status: number, isImmutable: boolean, body: Buffer): string => `${status}${isImmutable ? ', final' : ''} ${body.toString()}`;

/** What a node answers without what it has cached. */
class Uncached {
  readonly #routes: readonly Route[];

  constructor(all: NotifyingNode) {
    this.#routes = esploraRoutes({
      ...uncachedAnswers(all),
      broadcast: false,
      mining: false,
      list: undefined,
      maxUnspent: 500,
      version: '1.0.0'
    });
  }

  route(path: string): Route {
    return this.#routes.find((route) => route.path === path) ?? expect.fail(`a route ${path}`);
  }

  async answer(question: string): Promise<string> {
    const [path = '', query = ''] = question.split('?');
    for (const { path: route, endpoint } of this.#routes) {
      const names = route.split('/');
      const segments = path.split('/');
      if (names.length !== segments.length || !names.every((name, i) => name.startsWith(':') || name === segments[i])) continue;
      const parameters = new Map(names.flatMap((name, i) => (name.startsWith(':') ? [[name.slice(1), segments[i] ?? ''] as const] : [])));
      const request = new EsploraRequest(parameters, query, Buffer.alloc(0), { destroyed: false });
      try {
        const { body, isImmutable = false } = await endpoint(request);
        return shown(200, isImmutable, body);
      } catch (error) {
        if (error instanceof HttpError) return shown(error.status, false, Buffer.from(error.message));
        throw error;
      }
    }
    return expect.fail(`a route for ${question}`);
  }
}

/** Questions about blocks, the lowest of which is final. */
function questionsAboutBlocks({ answers }: NotifyingNode): string[] {
  const blocks = answers.reader.read((index) =>
    [0, 1, 2, 11].map((depth) => index.headerAt(index.tip.height - depth) ?? expect.fail('a block'))
  );
  return [
    '/blocks',
    ...blocks.flatMap(({ hash, height }) => {
      const block = `/block/${toDisplayHex(hash)}`;
      return [
        `/blocks/${height}`,
        `/v1/blocks/${height}`,
        `/v1${block}`,
        `/v1${block}/summary`,
        `/block-height/${height}`,
        block,
        `${block}/status`,
        `${block}/txids`,
        `${block}/txid/0`,
        `${block}/txs`
      ];
    })
  ];
}

/** Questions about transactions that were sent: their spends, and pages behind them. */
function questionsAbout(txids: readonly string[]): string[] {
  return txids.flatMap((txid, i) => {
    // The script may be another one than the transaction's.
    const script = `/scripthash/${HASHES[i % HASHES.length] ?? ''}`;
    return [
      ...['', '/status', '/merkle-proof', '/outspends'].map((path) => `/tx/${txid}${path}`),
      ...Array.from({ length: OUTPUTS }, (_, n) => `/tx/${txid}/outspend/${n}`),
      `${script}/txs/chain/${txid}`,
      `${script}/txs?after_txid=${txid}`
    ];
  });
}

describe('replies of Esplora’s interface that are cached', () => {
  const openWalk = servedWalks();
  const open = (start = (): Promise<PoolWalk> => PoolWalk.start()): Promise<ServedWalk> =>
    openWalk(async () => {
      const walk = await start();
      walk.host.config.inject({ 'rest-work-queue': WORK_QUEUE });
      return walk;
    });

  const replies = async ({ port }: NotifyingNode, questions: readonly string[]): Promise<string[]> => {
    const asked = await askInOneWrite(
      port,
      questions.map((question) => ({ path: `/api${question}` }))
    );
    return asked.map(({ status, body, headers }) => shown(status, headers['cache-control']?.includes('=157784630') === true, body));
  };

  /** The reply from the cache, if there is one and something is answered at this moment. */
  const cached = ({ serving }: NotifyingNode, question: string): string | undefined => {
    try {
      const reply = serving.replies.find(`/api${question}`);
      return reply && shown(200, reply.isImmutable === true, reply.body);
    } catch (error) {
      if (error instanceof UnavailableError || error instanceof ScriptsUnavailableError) return undefined;
      throw error;
    }
  };

  /** Compares what is in the cache at this moment with what would be answered if it were not. */
  const comparedNow = (all: NotifyingNode): Promise<void>[] => {
    const uncached = new Uncached(all);
    return ofScripts.flatMap((question) => {
      const reply = cached(all, question);
      return reply === undefined
        ? []
        : uncached.answer(question).then((answer) => {
            expect(reply, question).to.equal(answer);
          });
    });
  };

  itIsMadeAnew(open, ({ walk, all }) => {
    const sent = new Set<string>();
    return {
      inMidst: () => comparedNow(all),
      afterStep: async () => {
        for (const { txid } of await walk.spendable()) sent.add(toDisplayHex(txid));
        const questions = [...ofScripts, ...questionsAboutBlocks(all), ...questionsAbout([...sent].slice(-TRANSACTIONS))];
        const uncached = new Uncached(all);
        const expected = await Promise.all(questions.map((question) => uncached.answer(question)));
        // From the second time on a reply may be cached.
        for (const time of ['once', 'twice', 'again'])
          for (const [i, reply] of (await replies(all, questions)).entries())
            expect(reply, `${questions[i] ?? ''} ${time}`).to.equal(expected[i]);
      }
    };
  });

  it('come from memory until a block or the pool has to do with the script', async function () {
    needsNode(this, 'a reader hears of each step a moment later than its node');
    const { walk, all } = await open();
    const questions = OF_SCRIPT.map((path) => `/scripthash/${HASHES[0] ?? ''}${path}`);
    const areCached = (): boolean[] => questions.map((question) => cached(all, question) !== undefined);
    const [none, everything] = [questions.map(() => false), questions.map(() => true)];
    const ask = async (): Promise<void> => {
      for (let time = 0; time < 2; time++) await replies(all, questions);
      expect(areCached()).to.deep.equal(everything);
    };
    await ask();
    await mine(walk.host, 3);
    await all.settle();
    expect(areCached(), 'after blocks without the script').to.deep.equal(everything);
    await walk.step({ do: 'send', spends: [1], pays: [1], fee: 5_000 });
    expect(areCached(), 'with another script’s transaction in the pool').to.deep.equal(everything);
    await walk.step({ do: 'send', spends: [0], pays: [0, 0], fee: 5_000 });
    const ofPool = questions.map((question) => question.endsWith('/chain'));
    expect(areCached(), 'with a transaction of the script in the pool').to.deep.equal(ofPool);
    await ask();
    await walk.step({ do: 'mine' });
    await all.settle();
    expect(areCached(), 'after a block with the script').to.deep.equal(none);
  });

  it('rest on the rows of a script only if they are about that script alone', async () => {
    const { all } = await open();
    const { endpoint } = new Uncached(all).route('/scripthashes/txs/summary');
    const isCacheable = async (hashes: readonly string[]): Promise<boolean> =>
      (await endpoint(new EsploraRequest(new Map(), '', Buffer.from(JSON.stringify(hashes)), { destroyed: false }))).basis !== undefined;
    const [one = '', other = ''] = HASHES;
    expect(await isCacheable([one, one])).to.equal(true);
    expect(await isCacheable([one, other])).to.equal(false);
    expect(await isCacheable([])).to.equal(false);
  });

  it('come from memory until their block is disconnected, however deep it was', async () => {
    const { walk, all } = await open();
    const txid = await walk.send((await walk.spendable()).slice(0, 1), [1], 5_000);
    await mine(walk.host, 15);
    await all.settle();
    const { height } = walk.host.chain;
    const tx = `/tx/${toDisplayHex(txid ?? expect.fail('a transaction'))}`;
    const questions = [tx, `${tx}/status`, `${tx}/merkle-proof`, `/blocks/${height - 12}`, `/block-height/${height - 12}`];
    for (let time = 0; time < 2; time++) await replies(all, questions);
    await mine(walk.host, 1);
    await all.settle();
    const areCached = (): boolean[] => questions.map((question) => cached(all, question) !== undefined);
    expect(areCached(), 'after a block').to.deep.equal(questions.map(() => true));
    await walk.goBack('fork', 16);
    await all.settle();
    expect(areCached(), 'after a reorganization').to.deep.equal(questions.map(() => false));
  });
});
