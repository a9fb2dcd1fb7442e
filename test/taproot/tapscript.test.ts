import { expect } from 'chai';
import fc, { type Arbitrary } from 'fast-check';
import { describe, it } from 'mocha';
import { SCRIPT_ERRORS, ScriptFailure, type ScriptError } from '../../lib/taproot/script-error';
import { SignedInput } from '../../lib/taproot/signature-hash';
import { Machine } from '../../lib/taproot/tapscript/machine';
import { isTrue } from '../../lib/taproot/tapscript/number';
import { runTapscript } from '../../lib/taproot/tapscript/run';
import { testScale } from '../support/process/scale';
import { serialized, spendOf, type MadeTransaction } from './made-transaction';
import { runByHost } from './host-script';
import { COMMON_NAMES, SUCCESS_OPCODES, condition, operation, stack } from './script-arbitraries';
import { opcode, push, script } from './script-text';
import type { Curve } from '../../lib/taproot/curve';

const OUTPUT = { value: 1, script: Buffer.of(opcode('1')) };

const TRANSACTION: MadeTransaction = {
  version: 2,
  locktime: 0,
  inputs: [{ outpoint: Buffer.alloc(36, 1), script: Buffer.alloc(0), sequence: 0, witness: [] }],
  outputs: [OUTPUT]
};

/** These tests run no signature check with a key that is known. */
const NO_CURVE: Curve = {
  verifySchnorr: () => expect.fail('a signature was checked'),
  isTweaked: () => expect.fail('a tweak was checked')
};

interface Run {
  readonly stack?: readonly Buffer[];
  readonly transaction?: MadeTransaction;
  readonly isPolicy?: boolean;
  readonly budget?: number;
}

interface Result {
  /** Undefined: it did not fail. */
  readonly error: ScriptError | undefined;
  readonly stack: readonly Buffer[];
  readonly steps: number;
}

function run(code: Buffer, { stack = [], transaction = TRANSACTION, isPolicy = false, budget = 0 }: Run = {}): Result {
  const spend = spendOf(transaction, [OUTPUT]);
  const signed = new SignedInput(spend, 0, undefined, Buffer.alloc(32));
  const machine = new Machine([...stack], signed, isPolicy, NO_CURVE, budget);
  let steps = 0;
  try {
    for (const running = runTapscript(code, machine); running.next().done !== true;) steps++;
    return { error: undefined, stack: machine.stack, steps };
  } catch (error) {
    if (!(error instanceof ScriptFailure)) throw error;
    return { error: error.error, stack: machine.stack, steps };
  }
}

const errorOf = (code: Buffer, more?: Run): ScriptError | undefined => run(code, more).error;

const bytes = (...values: readonly number[]): Buffer => Buffer.from(values);

describe('a tapscript', () => {
  describe('runs operations as bcoin runs those of version 0 scripts', function () {
    this.timeout(120_000);

    const check = (code: Buffer, items: readonly Buffer[], isPolicy: boolean, transaction: MadeTransaction): string => {
      const result = run(code, { stack: items, isPolicy, transaction });
      const theirs = runByHost(code, items, isPolicy, serialized(transaction), 0);
      if (typeof theirs === 'string') {
        expect(result.error).to.equal(theirs);
        return theirs;
      }
      if (theirs.length !== 1) {
        expect(result.error).to.equal(SCRIPT_ERRORS.CLEANSTACK);
        expect(result.stack).to.deep.equal(theirs);
      } else {
        expect(result.error).to.equal(isTrue(theirs[0] as Buffer) ? undefined : SCRIPT_ERRORS.EVAL_FALSE);
      }
      return 'runs to its end';
    };

    const transactions: Arbitrary<MadeTransaction> = fc
      .record({
        version: fc.constantFrom(0, 1, 2, 3, -1),
        locktime: fc.constantFrom(0, 5, 499_999_999, 500_000_000, 500_000_005, 0xffff_ffff),
        sequence: fc.constantFrom(0, 5, 0xffff, 0x40_0000, 0x40_0005, 0x8000_0000, 0xffff_fffe, 0xffff_ffff, 0x10_0005)
      })
      .map(({ version, locktime, sequence }) => ({
        ...TRANSACTION,
        version,
        locktime,
        inputs: TRANSACTION.inputs.map((input) => ({ ...input, sequence }))
      }));

    it('each of them, on any stack', () => {
      const ends = new Map<string, Set<string>>();
      for (const name of COMMON_NAMES)
        fc.assert(
          fc.property(stack, fc.boolean(), transactions, (items, isPolicy, transaction) => {
            const end = check(script(name), items, isPolicy, transaction);
            ends.set(name, (ends.get(name) ?? new Set()).add(end));
          }),
          { numRuns: 100 * testScale() }
        );
      const neverRan = [...ends].flatMap(([name, set]) => (set.has('runs to its end') ? [] : [name]));
      const CANNOT = ['OP_IF', 'OP_NOTIF', 'OP_VERIF', 'OP_VERNOTIF', 'OP_ELSE', 'OP_ENDIF', 'OP_RETURN', 'OP_FROMALTSTACK'];
      const SELDOM_CAN = ['OP_EQUALVERIFY', 'OP_NUMEQUALVERIFY', 'OP_INVALIDOPCODE'];
      expect([...CANNOT, ...SELDOM_CAN]).to.include.members(neverRan);
      expect(neverRan).to.include.members(CANNOT);
    });

    it('many of them, one after the other', () => {
      fc.assert(
        fc.property(
          fc.array(operation, { minLength: 1, maxLength: 40 }),
          stack,
          fc.boolean(),
          transactions,
          (operations, items, isPolicy, transaction) => {
            check(Buffer.concat(operations), items, isPolicy, transaction);
          }
        ),
        { numRuns: 5_000 * testScale() }
      );
    });

    it('with conditions within conditions', () => {
      fc.assert(
        fc.property(
          fc.array(condition, { maxLength: 30 }),
          fc.array(fc.constantFrom(bytes(), bytes(1)), { minLength: 10, maxLength: 20 }),
          (operations, items) => {
            check(Buffer.concat(operations), items, false, TRANSACTION);
          }
        ),
        { numRuns: 2_000 * testScale() }
      );
    });
  });

  describe('with an OP_SUCCESS', () => {
    it('is valid whatever else it has, and never in the pool', () => {
      for (let code = 79; code < 256; code++) {
        // Behind the opcode are a push that is too long for any script, and one that is cut off.
        const garbage = Buffer.concat([script(0, 'OP_IF', 'OP_RETURN'), bytes(code), push(Buffer.alloc(600)), bytes(0x4d, 1)]);
        expect(errorOf(garbage), `opcode ${code}`).to.equal(SUCCESS_OPCODES.includes(code) ? undefined : SCRIPT_ERRORS.BAD_OPCODE);
        if (SUCCESS_OPCODES.includes(code)) expect(errorOf(garbage, { isPolicy: true })).to.equal(SCRIPT_ERRORS.DISCOURAGE_OP_SUCCESS);
      }
    });

    it('is not valid if bytes that are no opcode come first', () => {
      expect(errorOf(bytes(0x4d, 5, 0, 1, 80))).to.equal(SCRIPT_ERRORS.BAD_OPCODE);
    });

    it('does not take its number within data for it', () => {
      expect(errorOf(bytes(2, 80, 80), { isPolicy: true })).to.equal(undefined);
    });
  });

  it('may have 1,000 items at the start and on both stacks together', () => {
    const ones = (count: number): Buffer[] => Array.from({ length: count }, () => bytes(1));
    const dropping = (count: number, ...before: readonly string[]): Buffer => script(...before, ...ones(count).map(() => 'OP_DROP'));
    expect(errorOf(dropping(999), { stack: ones(1000) })).to.equal(undefined);
    expect(errorOf(dropping(1000), { stack: ones(1001) })).to.equal(SCRIPT_ERRORS.STACK_SIZE);
    expect(errorOf(dropping(998, 'OP_TOALTSTACK', 'OP_DUP'), { stack: ones(999) })).to.equal(undefined);
    expect(errorOf(dropping(998, 'OP_TOALTSTACK', 'OP_DUP'), { stack: ones(1000) })).to.equal(SCRIPT_ERRORS.STACK_SIZE);
  });

  it('may have items of 520 bytes at the start and in pushes, and no longer ones even where they do not run', () => {
    expect(errorOf(script('OP_SIZE', 'OP_NIP'), { stack: [Buffer.alloc(520)] })).to.equal(undefined);
    expect(errorOf(script(1, 'OP_NIP'), { stack: [Buffer.alloc(521)] })).to.equal(SCRIPT_ERRORS.PUSH_SIZE);
    const skipped = (length: number): Buffer => Buffer.concat([script(0, 'OP_IF'), push(Buffer.alloc(length)), script('OP_ENDIF', 1)]);
    expect(errorOf(skipped(520))).to.equal(undefined);
    expect(errorOf(skipped(521))).to.equal(SCRIPT_ERRORS.PUSH_SIZE);
  });

  it('may be long and have many operations', () => {
    expect(errorOf(Buffer.concat([Buffer.alloc(100_000, opcode('OP_NOP')), script(1)]))).to.equal(undefined);
  });

  it('has no OP_CHECKMULTISIG, unless it does not run', () => {
    for (const name of ['OP_CHECKMULTISIG', 'OP_CHECKMULTISIGVERIFY']) {
      expect(errorOf(script(0, 0, 0, name))).to.equal(SCRIPT_ERRORS.TAPSCRIPT_CHECKMULTISIG);
      expect(errorOf(script(0, 'OP_IF', name, 'OP_ENDIF', 1))).to.equal(undefined);
    }
  });

  describe('with signatures', () => {
    const unknownKey = bytes(2, 3);
    const key = Buffer.alloc(32, 1);

    it('pays 50 for each that is not empty, whatever its key', () => {
      const code = script(unknownKey, 'OP_CHECKSIGVERIFY', unknownKey, 'OP_CHECKSIG');
      expect(errorOf(code, { stack: [bytes(1), bytes(1)], budget: 100 })).to.equal(undefined);
      expect(errorOf(code, { stack: [bytes(1), bytes(1)], budget: 99 })).to.equal(SCRIPT_ERRORS.TAPSCRIPT_VALIDATION_WEIGHT);
    });

    it('takes empty ones for free and as not given', () => {
      expect(errorOf(script(key, 'OP_CHECKSIG', 'OP_NOT'), { stack: [bytes()] })).to.equal(undefined);
      expect(errorOf(script(key, 'OP_CHECKSIGVERIFY', 1), { stack: [bytes()] })).to.equal(SCRIPT_ERRORS.CHECKSIGVERIFY);
      expect(errorOf(script(5, key, 'OP_CHECKSIGADD', 5, 'OP_EQUAL'), { stack: [bytes()] })).to.equal(undefined);
    });

    it('counts those that are given', () => {
      const code = script(0, unknownKey, 'OP_CHECKSIGADD', unknownKey, 'OP_CHECKSIGADD', unknownKey, 'OP_CHECKSIGADD', 2, 'OP_NUMEQUAL');
      expect(errorOf(code, { stack: [bytes(1), bytes(), bytes(1)], budget: 100 })).to.equal(undefined);
      expect(errorOf(code, { stack: [bytes(1), bytes(), bytes()], budget: 100 })).to.equal(SCRIPT_ERRORS.EVAL_FALSE);
    });

    it('has no empty key, and in the pool none that is not known', () => {
      for (const code of [script(0, 'OP_CHECKSIG'), script(0, 'OP_CHECKSIGVERIFY', 1), script(1, 0, 'OP_CHECKSIGADD')])
        expect(errorOf(code, { stack: [bytes()] })).to.equal(SCRIPT_ERRORS.TAPSCRIPT_EMPTY_PUBKEY);
      for (const length of [1, 31, 33, 65]) {
        const code = script(Buffer.alloc(length, 0x42), 'OP_CHECKSIG');
        expect(errorOf(code, { stack: [bytes(1)], budget: 50 })).to.equal(undefined);
        expect(errorOf(code, { stack: [bytes(1)], budget: 50, isPolicy: true })).to.equal(SCRIPT_ERRORS.DISCOURAGE_UPGRADABLE_PUBKEYTYPE);
      }
    });

    it('adds to a number of four bytes, which has its shortest form in the pool', () => {
      const code = script('OP_SWAP', key, 'OP_CHECKSIGADD', 'OP_SIZE', 'OP_NIP');
      const stack = (number: string): Buffer[] => [Buffer.from(number, 'hex'), bytes()];
      expect(errorOf(code, { stack: stack('ffffff7f') })).to.equal(undefined);
      expect(errorOf(code, { stack: stack('ffffffff00') })).to.equal(SCRIPT_ERRORS.SCRIPTNUM);
      expect(errorOf(code, { stack: stack('0100') })).to.equal(undefined);
      expect(errorOf(code, { stack: stack('0100'), isPolicy: true })).to.equal(SCRIPT_ERRORS.SCRIPTNUM);
    });
  });

  it('yields after each signature and at least after each 128 operations', () => {
    const operations = run(Buffer.concat([Buffer.alloc(10_000, opcode('OP_NOP')), script(1)]));
    expect(operations.steps).to.be.at.least(10_000 / 128 - 1);
    const signatures = run(
      Buffer.concat([...Array.from({ length: 20 }, () => script(0, Buffer.alloc(32, 1), 'OP_CHECKSIG', 'OP_DROP')), script(1)])
    );
    expect(signatures.steps).to.equal(20);
    const scanned = run(Buffer.concat([Buffer.alloc(100_000, opcode('OP_NOP')), bytes(80)]));
    expect(scanned.steps).to.equal(Math.floor(100_000 / 16_384));
  });
});
