// Somebody who sends transactions that are costly to judge or to replace, beside an honest client: today's pool gives way in between.

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { hash256 } from '../../lib/bitcoin/hash';
import { askInOneWrite } from '../support/client/http';
import { madeTransaction, type MadeInput } from '../support/chain/made-blocks';
import { testScale } from '../support/process/scale';
import { Trial, type Attack } from './trial';
import type { MeteredFacts } from '../support/programs/metered-node';

/** Transactions of a cluster at most. */
const CLUSTER = 64;

const FEW_CLUSTERS = 25;
/** As many as a transaction may change at most, if there is time. */
const CLUSTERS = Math.min(100, FEW_CLUSTERS * testScale());
const REPLACEMENTS = 200 * testScale();
const CHEAP = 200;

/** OP_1 */
const OPEN_SCRIPT = Buffer.from('51', 'hex');

/** Requests of one write. */
const AT_ONCE = 6;

/** What each output of a cluster's first transaction is worth. */
const PART = 71_400;

/** Signs the number 1: the hash for an input of which the output is missing, if the signature is for that output only. */
const PUBLIC_KEY = '02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9';
const SIGNATURE =
  '3045022100a82c2963dacc629ed061444714370e5ece86078a4bdc6a0a616215db134c9d8902202e95fecdb7421846eb07994fea593f717f4b369ea3fb1809e3a53f5d625c5b4403';
/** As many checks of a signature as a script's 201 operations allow. */
const CHECKS = 67;
const CHECKED_INPUTS = 5;

type Sent = readonly { readonly accepted: boolean; readonly text: string }[];

describe('hostile transactions do not hold up today’s pool', function () {
  this.timeout(600_000);
  let trial: Trial;
  let used = 0;

  before(async () => {
    trial = await Trial.open({ 'rest-pool': 'modern', 'mempool-size': 300, workers: true });
  });
  after(() => trial.close());

  /** Coins of nobody, each once. */
  const coins = ({ openTxid }: MeteredFacts, count: number): MadeInput[] => {
    const txid = Buffer.from(openTxid, 'hex').reverse();
    return Array.from({ length: count }, () => ({ txid, index: used++ }));
  };

  const attack = (name: string, run: (facts: MeteredFacts) => Promise<void>): Attack => ({
    name,
    begin: async (facts) => {
      await run(facts);
      return undefined;
    }
  });

  it('with thousands of replacements of one transaction, and of refused ones', async () => {
    await trial.judge([
      attack('replacements', async (facts) => {
        const { openValue } = facts;
        const [coin] = coins(facts, 1);
        const all = Array.from({ length: REPLACEMENTS }, (_, i) => spend([coin], [openValue - 100 - 20 * i]));
        expectAccepted(await send(facts, all));
        const refused = Array.from({ length: REPLACEMENTS }, (_, i) => spend([coin], [openValue - 200 - i]));
        for (const { text } of await send(facts, refused)) expect(text).to.include('insufficient fee, rejecting replacement');
      }),
      attack('siblings of version 3', async (facts) => {
        const { openValue } = facts;
        const [coin] = coins(facts, 1);
        const half = openValue / 2 - 100;
        const parent = spend([coin], [half, half], 3);
        const children = Array.from({ length: REPLACEMENTS }, (_, i) => spend([outputOf(parent, i % 2)], [half - 100 - 20 * i], 3));
        expectAccepted(await send(facts, [parent, ...children]));
      }),
      attack('a heavy descendant', async (facts) => {
        const { openValue } = facts;
        const [coin] = coins(facts, 1);
        const parent = spend([coin], [openValue - 100]);
        // 90,000 bytes at the lowest rate.
        const heavy = spend([outputOf(parent, 0)], [openValue - 9_600, ...Array<number>(8_900).fill(0)]);
        expectAccepted(await send(facts, [parent, heavy]));
        const cheap = Array.from({ length: CHEAP }, (_, i) => spend([coin], [openValue - 200 - i]));
        expect((await send(facts, cheap)).some(({ accepted }) => accepted)).to.equal(false);
        const [dear] = await send(facts, [spend([coin], [openValue - 9_800])]);
        expect(dear?.accepted).to.equal(true);
      })
    ]);
  });

  const shapes: Readonly<Record<string, (parents: { root: Buffer; last: Buffer; left: number }, i: number) => [MadeInput[], number]>> = {
    star: ({ root }, i) => [[outputOf(root, i)], PART],
    chain: ({ root, last, left }) => [[outputOf(last, 0)], last === root ? PART : left],
    mixed: ({ root, last, left }, i) =>
      i < CLUSTER / 2 ? [[outputOf(root, i)], PART] : [[outputOf(last, 0), outputOf(root, i)], left + PART]
  };

  it('with full clusters that are changed, and replaced all at once', async () => {
    await trial.judge(
      Object.entries(shapes).map(([shape, next]) =>
        attack(`clusters like a ${shape}`, async (facts) => {
          const { openValue } = facts;
          const conflicts = coins(facts, CLUSTERS);
          for (const [c, coin] of conflicts.entries()) {
            const root = spend([coin], Array<number>(CLUSTER - 1).fill(PART));
            const cluster = [root];
            let [last, left] = [root, 0];
            for (let i = 0; i < CLUSTER - 1; i++) {
              const [inputs, value] = next({ root, last, left }, i);
              // One pays well.
              left = value - (i === 0 ? 5_000 : 50 + ((i * 7919 + c * 104_729) % 500));
              last = spend(inputs, [left, 0]);
              cluster.push(last);
            }
            expectAccepted(await send(facts, cluster));
            const [more] = await send(facts, [spend([outputOf(last, 0)], [left - 100])]);
            expect(more?.text).to.include('too-large-cluster');
          }
          const all = CLUSTERS * openValue;
          const [little] = await send(facts, [spend(conflicts, [all - 1_000])]);
          expect(little?.text).to.include('insufficient fee');
          // Pays more than all that it replaces, at a lower rate than the best of that.
          const some = conflicts.slice(0, FEW_CLUSTERS);
          const outputs = [FEW_CLUSTERS * (openValue - 27_000), ...Array<number>(8_900).fill(0)];
          const [worse] = await send(facts, [spend(some, outputs)]);
          expect(worse?.text).to.include('does not improve feerate diagram');
          const [better] = await send(facts, [spend(conflicts, [all - CLUSTERS * 100_000])]);
          expect(better?.accepted).to.equal(true);
        })
      )
    );
  });

  it('with as many signatures as scripts may check', async () => {
    const checks = Buffer.concat([
      pushed(PUBLIC_KEY),
      ...Array<Buffer>(CHECKS - 1).fill(Buffer.from('6ead', 'hex')), // 2DUP CHECKSIGVERIFY
      Buffer.from('ac', 'hex') // CHECKSIG
    ]);
    await trial.judge([
      attack('signatures', async (facts) => {
        const [coin, other] = coins(facts, 2);
        const part = Math.floor((facts.openValue - 10_000) / CHECKED_INPUTS);
        const paid = spend([coin], Array<number>(CHECKED_INPUTS).fill(part), 2, checks);
        // There is an output for the first input.
        const checked = Array.from({ length: CHECKED_INPUTS }, (_, i) => ({ ...outputOf(paid, i), unlock: pushed(SIGNATURE) }));
        const good = spend([other, ...checked], [facts.openValue + CHECKED_INPUTS * part - 10_000]);
        expect(await send(facts, [paid, good])).to.have.nested.property('[1].accepted', true);
      })
    ]);
  });
});

const expectAccepted = (sent: Sent): void => {
  expect(sent.find(({ accepted }) => !accepted)?.text).to.equal(undefined);
};

/** Their answers are waited for. */
async function send({ http }: MeteredFacts, transactions: readonly Buffer[]): Promise<Sent> {
  const sent: { accepted: boolean; text: string }[] = [];
  for (let from = 0; from < transactions.length; from += AT_ONCE) {
    const requests = transactions
      .slice(from, from + AT_ONCE)
      .map((raw) => ({ method: 'POST', path: '/api/tx', body: Buffer.from(raw.toString('hex')) }));
    for (const { status, body } of await askInOneWrite(http, requests)) sent.push({ accepted: status === 200, text: body.toString() });
  }
  return sent;
}

function spend(inputs: readonly (MadeInput | undefined)[], values: readonly number[], version = 2, script: Buffer = OPEN_SCRIPT): Buffer {
  const spent = inputs.filter((input) => input !== undefined);
  // Below 65 bytes it would be refused.
  const paid = spent.length + values.length > 2 ? values : [...values, 0];
  const raw = madeTransaction(
    spent,
    paid.map((value) => ({ value, script })),
    0
  );
  raw.writeUInt32LE(version);
  return raw;
}

const outputOf = (raw: Buffer, index: number): MadeInput => ({ txid: hash256(raw), index });

function pushed(hex: string): Buffer {
  const bytes = Buffer.from(hex, 'hex');
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}
