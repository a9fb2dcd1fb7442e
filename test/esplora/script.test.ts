import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { esploraCapacity, writeEsploraTransaction } from '../../lib/views/esplora/transaction';
import { JsonWriter } from '../../lib/views/json-writer';
import { CHAIN_A_TIMEOUT_MS, copiedChain, fillChainAPool } from '../support/node/chain-a-node';
import { chainATransactions } from '../support/chain/chain-a-transactions';
import { ServedNode } from '../support/node/served-node';
import { finish } from '../support/expectations/finish';
import { recordedJson } from '../support/recorded/esplora';
import { testScale } from '../support/process/scale';
import { needsShared } from '../support/recorded/shared';
import type { AddressPrefixes } from '../../lib/bitcoin/address';

interface Derived {
  readonly path: string;
  readonly json: unknown;
}

/** Requests under way at a time. */
const AT_ONCE = 8;

const ofScript = /^\/scripthash\//;

const scriptIn = (path: string): string => path.split(/[/#]/)[2] ?? '';

interface Coin {
  readonly txid: string;
  readonly vout: number;
}

const inOrder = (coins: readonly Coin[]): Coin[] =>
  [...coins].sort((a, b) => (a.txid === b.txid ? a.vout - b.vout : a.txid < b.txid ? -1 : 1));

describe('the scripts of chain A over Esplora’s interface', () => {
  let served: ServedNode;
  let prefixes: AddressPrefixes;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await ServedNode.open({ prefix: await copiedChain() });
    await fillChainAPool(served.node);
    prefixes = served.source.network.addressPrefixes;
  });
  after(() => served.node.close());

  const known = new Map<string, string>();

  function textOf(txid: string): string {
    const found = chainATransactions().get(txid);
    if (found === undefined) throw new Error(`expected a transaction of chain A, got ${txid}`);
    const writer = new JsonWriter(esploraCapacity(found.transaction, found.spent));
    finish(writeEsploraTransaction(writer, found.transaction, { ...found, prefixes }));
    return writer.toString();
  }

  /** The text of a page that shows these transactions. */
  function pageOf(txids: readonly string[]): string {
    const texts = txids.map((txid) => {
      const text = known.get(txid) ?? textOf(txid);
      known.set(txid, text);
      return text;
    });
    return `[${texts.join(',')}]`;
  }

  /** Compares the reply with a derived record. */
  async function check({ path, json: derived }: Derived): Promise<void> {
    const [asked = '', kind] = path.split('#');
    const { status, body } = await served.get(asked);
    expect(status, path).to.equal(200);
    const reply = body.toString();
    if (kind === 'txids') {
      expect(reply === pageOf(derived as string[]), path).to.equal(true);
    } else if (kind === 'sorted') {
      expect(JSON.stringify(inOrder(JSON.parse(reply) as Coin[])), path).to.equal(JSON.stringify(inOrder(derived as Coin[])));
    } else {
      expect(JSON.parse(reply), path).to.deep.equal(derived);
    }
  }

  async function checkAll(records: readonly Derived[]): Promise<void> {
    const left = records.values();
    const work = async (): Promise<void> => {
      for (const record of left) await check(record);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  it('have the stats, pages and coins that follow from blocks and pool', async () => {
    const records = recordedJson(join(__dirname, '../vectors/esplora/scripts.jsonl.gz'), ofScript);
    expect(records).to.have.length.above(100);
    await checkAll(records);
  });

  it('have them for every tenth script, or every script in a longer test', async function () {
    const folder = needsShared(this);
    this.timeout(60_000 * testScale());
    const records = recordedJson(join(folder, 'fixtures/wallet/A-derived.jsonl.gz'), ofScript);
    const scripts = [...new Set(records.map(({ path }) => scriptIn(path)))];
    expect(scripts).to.have.length.above(1_000);
    const step = Math.max(1, Math.floor(10 / testScale()));
    const chosen = new Set(scripts.filter((_, i) => i % step === 0));
    await checkAll(records.filter(({ path }) => chosen.has(scriptIn(path))));
  });
});
