// Adds the outputs that a PSBT spends to its inputs, as Bitcoin Core's updater does without keys.

import { hash160, scriptHashOf } from '../hash';
import { isScriptHash, witnessProgramOf } from '../script-type';
import { ANYONE_CAN_PAY } from '../signature-encoding';
import { scanWholeTransaction } from '../transaction';
import { withLength } from '../unsigned-transaction';
import { fieldOf, INPUT, locktimeOf, numberIn, setField, type Psbt, type PsbtInput, type PsbtMap } from './psbt';

const ALL = 1;
const SCHNORR_LENGTH = 64;
const SCRIPT_HASH_LENGTH = 32;
const KEY_HASH_LENGTH = 20;

/** To be called once inputs have the transactions that they spend from (`INPUT.wholeOutput`), as far as these are known. Yields after each. */
export function* updateInputs(psbt: Psbt): Generator<void, void> {
  // Otherwise there is no transaction to be signed.
  if (locktimeOf(psbt) !== undefined)
    for (const input of psbt.inputs) {
      showOutput(input);
      yield;
    }
  dropWhole(psbt.inputs);
}

/** An output that is spent with a witness is shown beside its transaction. */
function showOutput({ fields, index }: PsbtInput): void {
  const raw = fieldOf(fields, INPUT.wholeOutput);
  if (raw === undefined || isFinal(fields)) return;
  const output = scanWholeTransaction(raw).outputs[index];
  if (output === undefined || !agrees(fields, output.script) || !needsWitness(output.script, fields)) return;
  setField(fields, INPUT.output, Buffer.concat([output.bytes.subarray(output.offset, output.offset + 8), withLength(output.script)]));
}

const isFinal = (fields: PsbtMap): boolean => [INPUT.finalScript, INPUT.finalWitness].some((type) => fieldOf(fields, type) !== undefined);

/** Whether the kind of signature that is wanted, and those that are there, are the usual one. */
function agrees(fields: PsbtMap, script: Buffer): boolean {
  const usual = witnessProgramOf(script)?.version === 1 && script.length === 2 + SCRIPT_HASH_LENGTH ? 0 : ALL;
  if ((numberIn(fields, INPUT.sighash) ?? usual) !== usual) return false;
  return [...fields.values()].every(({ type, value }) => {
    if (type === INPUT.tapSignature || type === INPUT.tapScriptSignature)
      return usual === 0 ? value.length === SCHNORR_LENGTH : value.length > SCHNORR_LENGTH && value.at(-1) === usual;
    return type !== INPUT.signature || usual === 0 || value.at(-1) === usual;
  });
}

/** Whether the output is spent with a witness, as far as its script and those that the input has say so. */
function needsWitness(script: Buffer, fields: PsbtMap): boolean {
  const program = witnessProgramOf(script);
  if (program?.version === 1 && program.program.length === SCRIPT_HASH_LENGTH) return true;
  if (program !== undefined) return program.version === 0 && isKnownV0(program.program, fields);
  if (!isScriptHash(script)) return false;
  const redeem = fieldOf(fields, INPUT.redeemScript);
  if (redeem === undefined || !hash160(redeem).equals(script.subarray(2, 2 + KEY_HASH_LENGTH))) return false;
  const inner = witnessProgramOf(redeem);
  return inner?.version === 0 && isKnownV0(inner.program, fields);
}

/** Of a key, or of a script that the input has. */
function isKnownV0(program: Buffer, fields: PsbtMap): boolean {
  if (program.length === KEY_HASH_LENGTH) return true;
  const script = fieldOf(fields, INPUT.witnessScript);
  return script !== undefined && scriptHashOf(script).equals(program);
}

/** Whole transactions say nothing more if all inputs spend outputs of taproot or later: their signatures are for the values, too. */
function dropWhole(inputs: readonly PsbtInput[]): void {
  const isLater = ({ fields }: PsbtInput): boolean => {
    const output = fieldOf(fields, INPUT.output);
    const version = output && witnessProgramOf(output.subarray(9))?.version;
    const sighash = numberIn(fields, INPUT.sighash) ?? 0;
    return version !== undefined && version > 0 && (sighash & ANYONE_CAN_PAY) === 0;
  };
  if (!inputs.every(isLater)) return;
  for (const { fields } of inputs) fields.delete(Buffer.of(INPUT.wholeOutput).toString('latin1'));
}
