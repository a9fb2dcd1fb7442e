// What a signature of an input signs (BIP341, and BIP342's extension for scripts; SignatureHashSchnorr of Bitcoin Core).

import { sha256 } from '../bitcoin/hash';
import { ANYONE_CAN_PAY } from '../bitcoin/signature-encoding';
import { serializedLength, serializedValue, type Spend } from './spend';
import { tapSighash } from './tagged-hash';
import type { ScannedInput, SpentOutput } from '../bitcoin/transaction';

/** SIGHASH_DEFAULT: as SIGHASH_ALL, but no byte of the signature says so. */
export const DEFAULT_TYPE = 0;
const NONE = 2;
const SINGLE = 3;
const OUTPUTS_MASK = 3;

/** The version of signature hashes, and that of keys in scripts. */
const EPOCH = 0;
const KEY_VERSION = 0;

/** The input of a transaction that signatures sign for. */
export class SignedInput {
  readonly #annexHash: Buffer | undefined;
  #outputHash: Buffer | undefined;

  /** `leafHash`: of the script that runs; undefined for the key path. */
  constructor(
    readonly spend: Spend,
    readonly input: number,
    annex: Buffer | undefined,
    readonly leafHash: Buffer | undefined
  ) {
    this.#annexHash = annex && sha256(Buffer.concat([serializedLength(annex), annex]));
  }

  /**
   * The hash that is signed: 32 bytes. `codeSeparator`: position of the last one that ran, in opcodes; 0xffffffff: none did. Undefined for a
   * type that is not defined, and for SIGHASH_SINGLE without an output of the input's number.
   */
  signatureHash(type: number, codeSeparator: number): Buffer | undefined {
    const { spend, input, leafHash } = this;
    const outputs = type & OUTPUTS_MASK;
    const isAlone = (type & ANYONE_CAN_PAY) !== 0;
    if ((type & ~(OUTPUTS_MASK | ANYONE_CAN_PAY)) !== 0 || type === ANYONE_CAN_PAY) return undefined;
    const singleHash = outputs === SINGLE ? this.#hashOfOutput() : undefined;
    if (outputs === SINGLE && singleHash === undefined) return undefined;
    const { transaction } = spend;
    const parts: Buffer[] = [Buffer.of(EPOCH, type), serialized(transaction.version >>> 0), serialized(transaction.locktime)];
    if (!isAlone) parts.push(spend.outpointsHash, spend.valuesHash, spend.scriptsHash, spend.sequencesHash);
    if (outputs !== NONE && outputs !== SINGLE) parts.push(spend.outputsHash);
    parts.push(Buffer.of((leafHash === undefined ? 0 : 2) + (this.#annexHash === undefined ? 0 : 1)));
    if (isAlone) {
      const { sequence } = spend.inputs[input] as ScannedInput;
      const { value, script } = spend.spent[input] as SpentOutput; // one for each input
      parts.push(spend.outpoint(input), serializedValue(value), serializedLength(script), script, serialized(sequence));
    } else {
      parts.push(serialized(input));
    }
    if (this.#annexHash !== undefined) parts.push(this.#annexHash);
    if (singleHash !== undefined) parts.push(singleHash);
    if (leafHash !== undefined) parts.push(leafHash, Buffer.of(KEY_VERSION), serialized(codeSeparator));
    return tapSighash(...parts);
  }

  /** Undefined: there is no output of the input's number. */
  #hashOfOutput(): Buffer | undefined {
    if (this.#outputHash === undefined) {
      const output = this.spend.output(this.input);
      this.#outputHash = output && sha256(output);
    }
    return this.#outputHash;
  }
}

function serialized(integer: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(integer);
  return bytes;
}
