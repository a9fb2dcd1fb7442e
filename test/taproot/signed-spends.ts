// Valid spends of taproot outputs, in all ways that there are.

import { createHash } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import { SignedInput } from '../../lib/taproot/signature-hash';
import { TaprootKey, TaprootOutput, type TaprootTree } from '../support/chain/taproot-key';
import { spendOf, withInput, type MadeTransaction } from './made-transaction';
import { script } from './script-text';
import type { SpentOutput } from '../../lib/bitcoin/transaction';

/** SIGHASH_DEFAULT and the types with a byte of their own. */
export const HASH_TYPES = [0, 1, 2, 3, 0x81, 0x82, 0x83] as const;
export type HashType = (typeof HASH_TYPES)[number];

/** Signs for a leaf; the type is that of the spend. */
type Sign = (key: TaprootKey, codeSeparator?: number) => Buffer;

interface Way {
  /** Undefined: the key path. */
  readonly leaf?: Buffer;
  readonly leafVersion?: number;
  /** The items before script and control block. */
  readonly items: (sign: Sign) => readonly Buffer[];
  /** Bitcoin Core's pool does not take it. */
  readonly isNonstandard?: boolean;
}

const [ALICE, BOB, CAROL] = ['alice', 'bob', 'carol'].map((seed) => TaprootKey.of(seed)) as [TaprootKey, TaprootKey, TaprootKey];
const SECRET = Buffer.from('a secret');
const NO_SIGNATURE = Buffer.alloc(0);

const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();

export const WAYS = {
  key: { items: (sign) => [sign(ALICE)] },
  single: { leaf: script(ALICE.publicKey, 'OP_CHECKSIG'), items: (sign) => [sign(ALICE)] },
  'two of three': {
    leaf: script(ALICE.publicKey, 'OP_CHECKSIG', BOB.publicKey, 'OP_CHECKSIGADD', CAROL.publicKey, 'OP_CHECKSIGADD', 2, 'OP_NUMEQUAL'),
    items: (sign) => [sign(CAROL), NO_SIGNATURE, sign(ALICE)]
  },
  'after a code separator': {
    leaf: script(ALICE.publicKey, 'OP_CHECKSIGVERIFY', 'OP_NOP', 'OP_CODESEPARATOR', BOB.publicKey, 'OP_CHECKSIG'),
    items: (sign) => [sign(BOB, 3), sign(ALICE)]
  },
  'a hash and a key': {
    leaf: script('OP_SHA256', sha256(SECRET), 'OP_EQUALVERIFY', ALICE.publicKey, 'OP_CHECKSIG'),
    items: (sign) => [sign(ALICE), SECRET]
  },
  'one branch or the other': {
    leaf: script('OP_IF', ALICE.publicKey, 'OP_ELSE', 1, 'OP_CHECKSEQUENCEVERIFY', 'OP_DROP', BOB.publicKey, 'OP_ENDIF', 'OP_CHECKSIG'),
    items: (sign) => [sign(BOB), NO_SIGNATURE]
  },
  'no signature': { leaf: script('OP_ADD', 5, 'OP_NUMEQUAL'), items: () => [Buffer.of(2), Buffer.of(3)] },
  'a key of an unknown kind': {
    leaf: script(Buffer.alloc(33, 2), 'OP_CHECKSIG'),
    items: () => [Buffer.of(1)],
    isNonstandard: true
  },
  'an unknown leaf version': { leaf: script('OP_RETURN'), leafVersion: 0xc2, items: () => [Buffer.of(7)], isNonstandard: true },
  'an OP_SUCCESS': { leaf: Buffer.of(0xfe), items: () => [Buffer.of(7)], isNonstandard: true }
} as const satisfies Readonly<Record<string, Way>>;

export type WayName = keyof typeof WAYS;
export const WAY_NAMES = Object.keys(WAYS) as WayName[];

/** All ways lead to the same output. */
const ANNEX = Buffer.concat([Buffer.of(0x50), Buffer.from('an annex')]);

/** The ways of scripts, in the order of the tree's leaves. */
const SCRIPT_WAYS = WAY_NAMES.filter((name) => 'leaf' in WAYS[name]);

function treeOf(names: readonly WayName[]): TaprootTree {
  const [first, ...others] = names;
  if (first === undefined) throw new Error('expected a leaf');
  const way: Way = WAYS[first];
  const leaf = { script: way.leaf as Buffer, ...(way.leafVersion !== undefined && { version: way.leafVersion }) };
  return others.length === 0 ? leaf : [leaf, treeOf(others)];
}

export const OUTPUT = new TaprootOutput(ALICE, treeOf(SCRIPT_WAYS));

export interface SpendPlan {
  readonly way: WayName;
  readonly type: HashType;
  readonly hasAnnex: boolean;
}

export interface SignedSpend {
  readonly plan: SpendPlan;
  readonly transaction: MadeTransaction;
  readonly spent: readonly SpentOutput[];
  /** The input that spends the taproot output. */
  readonly input: number;
}

/** Puts the witness of a valid spend into an input, whose output must be OUTPUT. */
export function signed({ plan, transaction, spent, input }: SignedSpend): SignedSpend {
  const way: Way = WAYS[plan.way];
  const annex = plan.hasAnnex ? ANNEX : undefined;
  const leaf = way.leaf && OUTPUT.leaf(SCRIPT_WAYS.indexOf(plan.way));
  const hashes = new SignedInput(spendOf(transaction, spent), input, annex, leaf?.hash);
  const sign: Sign = (key, codeSeparator = 0xffff_ffff) => {
    const hash = hashes.signatureHash(plan.type, codeSeparator);
    if (hash === undefined) throw new Error('expected an input that can be signed');
    const signature = (leaf === undefined ? OUTPUT.key : key).sign(hash);
    return plan.type === 0 ? signature : Buffer.concat([signature, Buffer.of(plan.type)]);
  };
  const witness = [...way.items(sign), ...(leaf === undefined ? [] : [leaf.script, leaf.control]), ...(annex === undefined ? [] : [annex])];
  return { plan, transaction: withInput(transaction, input, { witness }), spent, input };
}

const bytes = (length: number): Arbitrary<Buffer> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((data) => Buffer.from(data));

const output = fc.record({
  value: fc.integer({ min: 0, max: 2_100_000_000_000_000 }),
  script: fc.integer({ min: 0, max: 40 }).chain(bytes)
});

/** Spends with up to four inputs and one to four outputs; the input signed for has an output of its own number. */
export const signedSpend: Arbitrary<SignedSpend> = fc
  .record({
    way: fc.constantFrom(...WAY_NAMES),
    type: fc.constantFrom(...HASH_TYPES),
    hasAnnex: fc.boolean(),
    version: fc.constantFrom(2, 3, -1),
    locktime: fc.nat(0xffff_ffff),
    inputs: fc.array(fc.record({ outpoint: bytes(36), sequence: fc.nat(0xfff0), other: output }), { minLength: 1, maxLength: 4 }),
    outputs: fc.array(output, { minLength: 4, maxLength: 4 }),
    place: fc.nat(3),
    value: fc.integer({ min: 0, max: 2_100_000_000_000_000 })
  })
  .map(({ way, type, hasAnnex, version, locktime, inputs, outputs, place, value }) => {
    const input = place % inputs.length;
    return signed({
      plan: { way, type, hasAnnex },
      transaction: {
        version,
        locktime,
        // Not 0: one of the ways waits for a block.
        inputs: inputs.map(({ outpoint, sequence }) => ({ outpoint, sequence: sequence + 1, script: Buffer.alloc(0), witness: [] })),
        outputs
      },
      spent: inputs.map(({ other }, i) => (i === input ? { value, script: OUTPUT.script } : other)),
      input
    });
  });

/** Whether Bitcoin Core's pool takes it, as far as scripts are concerned. */
export const isStandard = ({ way }: SpendPlan): boolean => !('isNonstandard' in WAYS[way]);

/** Whether all of the witness is signed for or committed to. */
export const hasSignature = ({ way }: SpendPlan): boolean => isStandard({ way } as SpendPlan) && way !== 'no signature';
