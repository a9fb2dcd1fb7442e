// Four blocks of the main network, whose transactions were printed by Bitcoin Core 0.17 and by 29, which prints them as 31 does.
// They are in the shared folder (test/support/recorded/shared.ts), since they have megabytes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { blockWithoutWitness, scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { PROFILES } from '../../lib/views/profile';
import { transactionJson } from '../../lib/views/transaction';
import { finish } from '../support/expectations/finish';
import { inBech32m } from '../support/recorded/core';
import { needsShared } from '../support/recorded/shared';

const MAIN = { pubkeyhash: 0x00, scripthash: 0x05, bech32: 'bc' };

const BLOCKS: [height: number, transactions: number][] = [
  [300025, 461],
  [413567, 1557],
  [482683, 12],
  [574200, 3315]
];

interface PrintedTransaction {
  readonly block: string;
  readonly txid: string;
  /** The JSON without `blockhash` and `hex`. */
  readonly json: string;
}

describe('blocks of the main network', () => {
  let shared = '';

  before(function () {
    shared = needsShared(this);
  });

  const read = (name: string): Buffer => gunzipSync(readFileSync(join(shared, 'fixtures/real-blocks', `mainnet-${name}.gz`)));

  const printedBy = (edition: string, height: number): PrintedTransaction[] =>
    read(`${height}.${edition}.jsonl`)
      .toString('utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as PrintedTransaction);

  for (const [height, count] of BLOCKS) {
    it(`${height}: all ${count} transactions are printed as Bitcoin Core 0.17 printed them`, () => {
      const block = scanBlock(read(`${height}.raw`));
      const printed = printedBy('core17', height);
      expect([block.transactions.length, printed.length]).to.deep.equal([count, count]);
      for (const [i, { raw, txid }] of block.transactions.entries()) {
        const expected = printed[i];
        expect([toDisplayHex(block.hash), toDisplayHex(txid)]).to.deep.equal([expected?.block, expected?.txid]);
        expect(finish(transactionJson(scanWholeTransaction(raw), { prefixes: MAIN, fields: PROFILES['0.17'].fields })).toString()).to.equal(
          `${inBech32m(expected?.json.slice(0, -1) ?? '')},"hex":"${raw.toString('hex')}"}\n`
        );
      }
    });

    it(`${height}: all ${count} transactions are printed as Bitcoin Core 29 printed them`, () => {
      const { transactions } = scanBlock(read(`${height}.raw`));
      const printed = printedBy('core29', height);
      expect([transactions.length, printed.length]).to.deep.equal([count, count]);
      for (const [i, { raw, txid }] of transactions.entries()) {
        const expected = printed[i];
        expect(toDisplayHex(txid)).to.equal(expected?.txid);
        expect(finish(transactionJson(scanWholeTransaction(raw), { prefixes: MAIN, fields: PROFILES.modern.fields })).toString()).to.equal(
          `${expected?.json.slice(0, -1) ?? ''},"hex":"${raw.toString('hex')}"}\n`
        );
      }
    });

    it(`${height}: the block keeps its transactions when its witnesses are dropped`, () => {
      const raw = read(`${height}.raw`);
      const [before, after] = [scanBlock(raw), scanBlock(blockWithoutWitness(raw))];
      expect(after.length).to.equal(before.strippedLength);
      expect(after.transactions.map(({ txid }) => toDisplayHex(txid))).to.deep.equal(
        before.transactions.map(({ txid }) => toDisplayHex(txid))
      );
    });
  }
});
