// Verdicts of a real node on changed spends and random scripts: BITCOIND=/path/to/bitcoind (BITCOIND_FLAGS: more options). Not every build
// words everything as Bitcoin Core of today.

import { expect } from 'chai';
import fc, { type Arbitrary } from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { SCRIPT_ERRORS } from '../../lib/taproot/script-error';
import { SignedInput } from '../../lib/taproot/signature-hash';
import { hasStandardWitness } from '../../lib/taproot/verify';
import { TaprootKey, TaprootOutput } from '../support/chain/taproot-key';
import { testScale, testSeed } from '../support/process/scale';
import { allCurves } from './curves';
import { changedWitness } from './changed-witness';
import { CoreNode, coinsOf, type CoreCoin } from '../support/node/core-node';
import { serialized, spendOf, withInput, type MadeInput, type MadeTransaction } from './made-transaction';
import { operation, stack } from './script-arbitraries';
import { script } from './script-text';
import { HASH_TYPES, OUTPUT, WAY_NAMES, signed, type SignedSpend } from './signed-spends';
import { VALID, verdict } from './verdict';
import type { Curve } from '../../lib/taproot/curve';

const CASES = 2_000 * testScale();
const PER_CALL = 200;
const TIMEOUT_MS = 120_000 * testScale();

/** The words between the brackets of `…-script-verify-flag-failed (WORDS)`. */
const SCRIPT_WORDS = /script-verify-flag(?:-failed)? \((.*?)\)(?:,|$)/;

/** Words of Bitcoin Core 29 and before for what has words of its own today. */
const OLDER_WORDS: Readonly<Record<string, string>> = {
  [SCRIPT_ERRORS.TAPSCRIPT_EMPTY_PUBKEY]: 'Public key is neither compressed or uncompressed',
  [SCRIPT_ERRORS.SCRIPTNUM]: 'unknown error'
};

/** What Bitcoin Knots' pool says also where its limits are lower than those of Bitcoin Core: for pushes, control blocks and OP_IF. */
const KNOTS_LIMITS: ReadonlySet<string> = new Set([
  SCRIPT_ERRORS.PUSH_SIZE,
  SCRIPT_ERRORS.TAPROOT_WRONG_CONTROL_SIZE,
  SCRIPT_ERRORS.TAPSCRIPT_MINIMALIF
]);

const MINER = new TaprootOutput(TaprootKey.of('miner'));
/** To each script, and to miners for it. */
const PAID = 10_000;
const FEE = 100;
const ANYONE = Buffer.of(0x51, 2, 0x4e, 0x73);

const program = process.env['BITCOIND'];

const unsignedInput = ({ outpoint }: CoreCoin): MadeInput => ({ outpoint, script: Buffer.alloc(0), sequence: 1, witness: [] });

/** Not signed yet. */
const spending = (target: CoreCoin): MadeTransaction => ({
  version: 2,
  locktime: 0,
  inputs: [unsignedInput(target)],
  outputs: [1, 2].map((output) => ({ value: output * 1_000, script: ANYONE }))
});

function wordsOf(refusal: string | undefined): string {
  return refusal === undefined ? VALID : (SCRIPT_WORDS.exec(refusal)?.[1] ?? refusal);
}

const wordings = (words: string): string[] => [words, OLDER_WORDS[words] ?? words];

/** Signatures that are empty or of keys of an unknown kind: no key is known that could sign. */
const signatureOperation = fc
  .tuple(
    fc.constantFrom('OP_CHECKSIG', 'OP_CHECKSIGVERIFY', 'OP_CHECKSIGADD', 'OP_CHECKMULTISIG', 'OP_CODESEPARATOR'),
    fc.constantFrom(...[0, 1, 31, 32, 33].map((length) => Buffer.alloc(length, 0x42)))
  )
  .map(([name, key]) => script(key, name));

interface Case {
  readonly transaction: MadeTransaction;
  readonly spent: SignedSpend['spent'];
}

describe('a real node', function () {
  this.timeout(TIMEOUT_MS);
  const seed = testSeed();
  let node: CoreNode;
  let curve: Curve;
  let coin: CoreCoin;

  before(async function () {
    if (program === undefined) {
      console.log('    skipped: BITCOIND does not name a node');
      this.skip();
    }
    const curves = await allCurves();
    curve = [...curves.values()].at(-1) as Curve; // the quickest
    node = await CoreNode.start(program);
    [coin] = (await node.mine(1, MINER.script)) as [CoreCoin];
  });

  after(async () => {
    if (program !== undefined) await node.stop();
  });

  /** Pays a coin of the miner to scripts, in a block. */
  async function pay(scripts: readonly Buffer[]): Promise<CoreCoin[]> {
    const change = coin.value - scripts.length * (PAID + FEE);
    const outputs = [...scripts.map((to) => ({ value: PAID, script: to })), { value: change, script: MINER.script }];
    const unsigned: MadeTransaction = { version: 2, locktime: 0, inputs: [unsignedInput(coin)], outputs };
    const hash = new SignedInput(spendOf(unsigned, [coin]), 0, undefined, undefined).signatureHash(0, 0) as Buffer; // a type that is defined
    const raw = serialized(withInput(unsigned, 0, { witness: [MINER.key.sign(hash)] }));
    await node.mineTransactions([raw]);
    const coins = coinsOf(raw);
    coin = coins.at(-1) as CoreCoin;
    return coins.slice(0, -1);
  }

  /** Compares both verdicts on each case with the node's, and counts what it says of blocks. */
  async function compare(cases: readonly Case[]): Promise<Map<string, number>> {
    const seen = new Map<string, number>();
    for (let start = 0; start < cases.length; start += PER_CALL) {
      const some = cases.slice(start, start + PER_CALL);
      const raws = some.map(({ transaction }) => serialized(transaction));
      const [blocks, pools] = [await node.blockVerdicts(raws), await node.poolVerdicts(raws)];
      for (const [i, { transaction, spent }] of some.entries()) {
        const spend = spendOf(transaction, spent);
        const describe = `${(raws[i] as Buffer).toString('hex')} spends ${spent.map(({ value, script: lock }) => `${value} ${lock.toString('hex')}`).join()}`;
        const block = verdict(spend, 0, 'block', curve);
        expect(wordsOf(blocks[i]), describe).to.be.oneOf(wordings(block));
        seen.set(block, (seen.get(block) ?? 0) + 1);
        const policy = verdict(spend, 0, 'policy', curve);
        const pool = wordsOf(pools[i]);
        // Other rules of the pool come before scripts.
        if (pool.startsWith('bad-witness-')) expect(hasStandardWitness(spend, 0), describe).to.equal(false);
        else if (pool !== 'tx-size' && !KNOTS_LIMITS.has(pool)) expect(pool, describe).to.be.oneOf(wordings(policy));
      }
    }
    return seen;
  }

  it('judges changed spends in the same words', async () => {
    const [target] = (await pay([OUTPUT.script])) as [CoreCoin];
    const changed: Arbitrary<Case> = fc
      .record({ way: fc.constantFrom(...WAY_NAMES), type: fc.constantFrom(...HASH_TYPES), hasAnnex: fc.boolean() })
      .map((plan) => signed({ plan, transaction: spending(target), spent: [target], input: 0 }))
      .chain((spend) =>
        changedWitness(spend).map((witness) => ({ transaction: withInput(spend.transaction, 0, { witness }), spent: spend.spent }))
      );
    const seen = await compare(fc.sample(changed, { numRuns: CASES, seed }));
    expect(seen.size, `seed ${seed}`).to.be.at.least(8);
    expect(seen.get(VALID) ?? 0).to.be.at.least(1);
  });

  it('judges random scripts on random stacks in the same words', async () => {
    const cases: Case[] = [];
    const programs = fc.tuple(
      fc.array(fc.oneof({ weight: 12, arbitrary: operation }, { weight: 1, arbitrary: signatureOperation }), {
        minLength: 1,
        maxLength: 12
      }),
      stack
    );
    const drawn = fc.sample(programs, { numRuns: CASES, seed });
    for (let start = 0; start < drawn.length; start += PER_CALL) {
      const some = drawn.slice(start, start + PER_CALL);
      const outputs = some.map(([operations]) => new TaprootOutput(MINER.key, { script: Buffer.concat(operations) }));
      const coins = await pay(outputs.map(({ script: lock }) => lock));
      for (const [i, target] of coins.entries()) {
        const { script: code, control } = (outputs[i] as TaprootOutput).leaf(0);
        const witness = [...(some[i]?.[1] ?? []), code, control];
        cases.push({ transaction: withInput(spending(target), 0, { witness }), spent: [target] });
      }
    }
    const seen = await compare(cases);
    expect(seen.size, `seed ${seed}`).to.be.at.least(8);
    expect(seen.get(VALID) ?? 0).to.be.at.least(1);
  });
});
