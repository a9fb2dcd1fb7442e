import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { writeAddress } from '../../lib/bitcoin/address';
import { scriptTypeOf } from '../../lib/bitcoin/script-type';
import { TextWriter } from '../../lib/bitcoin/text-writer';
import { esploraCapacity, writeEsploraTransaction } from '../../lib/views/esplora/transaction';
import { JsonWriter } from '../../lib/views/json-writer';
import { bcoin } from '../support/bcoin';
import { chainAPool, coreRegtestPrefixes } from '../support/chain-a';
import { CHAIN_A_TIMEOUT_MS, copiedChain } from '../support/chain-a-node';
import { chainATransactions } from '../support/chain-a-transactions';
import { openEsploraNode, type EsploraNode } from '../support/esplora-node';
import { finish } from '../support/finish';
import { recordedJson } from '../support/recorded-esplora';
import { sharedFolder } from '../support/shared';
import type { AddressPrefixes } from '../../lib/bitcoin/address';

interface Derived {
  readonly path: string;
  readonly json: unknown;
}

/** Requests under way at a time. */
const AT_ONCE = 8;

const ofScript = /^\/scripthash\//;

/** A script of many transactions, and one with an address. */
const LONG_HISTORY = '3541d87acb6aa86d51416fd1abf3016312803344705b63aebd7aed9e0657facb';

describe('the scripts of chain A over Esplora’s interface', () => {
  let served: EsploraNode;
  let prefix: string;
  let prefixes: AddressPrefixes;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    prefix = await copiedChain();
    served = await openEsploraNode({}, { prefix });
    for (const raw of chainAPool()) await served.node.mempool.addTX(bcoin.TX.fromRaw(raw));
    prefixes = served.source.network.addressPrefixes;
  });
  after(async () => {
    await served.node.close();
    await rm(prefix, { recursive: true });
  });

  const text = async (path: string): Promise<string> => {
    const { status, body } = await served.get(path);
    return `${status} ${body.toString()}`;
  };

  const json = async (path: string): Promise<unknown> => {
    const { status, body } = await served.get(path);
    expect(status, path).to.equal(200);
    return JSON.parse(body.toString());
  };

  const txids = async (path: string): Promise<string[]> => ((await json(path)) as { txid: string }[]).map(({ txid }) => txid);

  /** The text of a page that shows these transactions. */
  function pageOf(shown: readonly string[]): string {
    const texts = shown.map((txid) => {
      const found = chainATransactions().get(txid);
      if (found === undefined) throw new Error(`expected a transaction of chain A, got ${txid}`);
      const writer = new JsonWriter(esploraCapacity(found.transaction, found.spent));
      finish(writeEsploraTransaction(writer, found.transaction, { ...found, prefixes }));
      return writer.toString();
    });
    return `[${texts.join(',')}]`;
  }

  /** What a derived record is, as the reply's text. */
  async function check({ path, json: derived }: Derived): Promise<void> {
    const [asked = '', kind] = path.split('#');
    const { status, body } = await served.get(asked);
    expect(status, path).to.equal(200);
    const reply = body.toString();
    if (kind === 'txids') {
      expect(reply === pageOf(derived as string[]), path).to.equal(true);
    } else if (kind === 'sorted') {
      const coins = JSON.parse(reply) as { txid: string; vout: number }[];
      const sorted = coins.sort((a, b) => (a.txid === b.txid ? a.vout - b.vout : a.txid < b.txid ? -1 : 1));
      const expected = (derived as typeof coins).sort((a, b) => (a.txid === b.txid ? a.vout - b.vout : a.txid < b.txid ? -1 : 1));
      expect(JSON.stringify(sorted), path).to.equal(JSON.stringify(expected));
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

  it('has the stats, pages and coins that follow from blocks and pool', async () => {
    const records = recordedJson(join(__dirname, '../vectors/esplora/scripts.jsonl.gz'), ofScript);
    expect(records).to.have.length.above(100);
    await checkAll(records);
  });

  it('has them for every script', async function () {
    this.timeout(60_000);
    const folder = sharedFolder();
    if (folder === undefined) {
      console.log('      skipped: no shared folder with the derived answers');
      this.skip();
    }
    const records = recordedJson(join(folder, 'fixtures/wallet/A-derived.jsonl.gz'), ofScript);
    expect(records).to.have.length.above(5_000);
    await checkAll(records);
  });
});
