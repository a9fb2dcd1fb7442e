// The JSON of a transaction and the outputs that it spends, as Esplora shows it, written straight from its bytes.

import { ByteReader } from '../../bitcoin/reader';
import { writeRustAsm } from '../../bitcoin/rust-asm';
import { lastPush } from '../../bitcoin/script';
import { scriptTypeOf } from '../../bitcoin/script-type';
import { ESPLORA_OUTPUT, writeEsploraOutput } from './output';
import { STATUS, writeStatus, type EsploraStatus } from './status';
import { COMMA, OBJECT_END, QUOTE, type JsonWriter } from '../json-writer';
import { anyOf, described, listOf, named, object, type Schema } from '../../describe/schema';
import { BYTES, COUNT, HEX, SATOSHIS, TEXT, TXID, WEIGHT } from '../../describe/values';
import type { AddressPrefixes } from '../../bitcoin/address';
import type { ScannedInput, ScannedOutput, ScannedTransaction, SpentOutput } from '../../bitcoin/transaction';

export interface EsploraTransactionForm {
  /** The outputs that it spends, in the order of its inputs. Ignored for a coinbase. */
  readonly spent: readonly SpentOutput[];
  readonly status: EsploraStatus;
  readonly prefixes: AddressPrefixes;
}

/** Inputs or outputs between two yields. */
const SLICE = 64;

/** A transaction of this many bytes may have them all in one script or witness item. */
const LONG_BYTES = 0x1_0000;

/** Bytes that are written around the scripts of an input or output; and for each byte of the transaction and the spent scripts. */
const BYTES_AROUND = 520;
const BYTES_PER_BYTE = 5;

/** Roughly the number of bytes of a transaction's JSON. */
export function esploraCapacity({ length, inputCount }: ScannedTransaction, spent: readonly SpentOutput[]): number {
  const scripts = spent.reduce((sum, { script }) => sum + script.length, 0);
  return (length + scripts) * BYTES_PER_BYTE + (inputCount + 2) * BYTES_AROUND;
}

/**
 * Writes the items of one witness stack, moves past them and returns where the last item is, from `start` to before `end`. For an empty
 * stack it writes nothing and returns undefined.
 */
function writeWitness(writer: JsonWriter, witness: ByteReader): { start: number; end: number } | undefined {
  const count = witness.compactSize();
  if (count === 0) return undefined;
  let start = 0;
  for (let i = 0; i < count; i++) {
    writer.ascii(i === 0 ? ',"witness":["' : '","');
    const length = witness.compactSize();
    start = witness.skip(length);
    writer.hex(witness.buffer, start, witness.offset);
  }
  writer.ascii('"]');
  return { start, end: witness.offset };
}

/** Writes the redeem script of a P2SH input, and the witness script of a P2WSH one, which may be wrapped in P2SH. */
function writeInnerScripts(
  writer: JsonWriter,
  { bytes, scriptOffset, scriptLength }: ScannedInput,
  spent: Buffer,
  item: { start: number; end: number } | undefined
): void {
  let type = scriptTypeOf(spent);
  if (type === 'scripthash') {
    const redeemScript = lastPush(bytes, scriptOffset, scriptOffset + scriptLength);
    if (redeemScript === undefined) return;
    writer.ascii(',"inner_redeemscript_asm":"');
    writeRustAsm(writer, redeemScript);
    writer.char(QUOTE);
    type = scriptTypeOf(redeemScript);
  }
  if (type !== 'witness_v0_scripthash' || item === undefined) return;
  writer.ascii(',"inner_witnessscript_asm":"');
  writeRustAsm(writer, bytes, item.start, item.end);
  writer.char(QUOTE);
}

function writeInput(
  writer: JsonWriter,
  input: ScannedInput,
  witness: ByteReader | undefined,
  spent: SpentOutput | undefined,
  prefixes: AddressPrefixes
): void {
  const { bytes, offset, scriptOffset, scriptLength } = input;
  writer.hashField('{"txid":', bytes, offset);
  writer.integerField(',"vout":', input.index);
  writer.ascii(',"prevout":');
  if (spent === undefined) writer.ascii('null');
  else writeEsploraOutput(writer, spent.script, 0, spent.script.length, spent.value, prefixes);
  writer.ascii(',"scriptsig":"');
  writer.hex(bytes, scriptOffset, scriptOffset + scriptLength);
  writer.ascii('","scriptsig_asm":"');
  writeRustAsm(writer, bytes, scriptOffset, scriptOffset + scriptLength);
  writer.char(QUOTE);
  const item = witness === undefined ? undefined : writeWitness(writer, witness);
  writer.ascii(',"is_coinbase":');
  writer.boolean(spent === undefined);
  writer.integerField(',"sequence":', input.sequence);
  if (spent !== undefined) writeInnerScripts(writer, input, spent.script, item);
  writer.char(OBJECT_END);
}

/**
 * Writes `{txid, version, locktime, vin, vout, size, weight, fee, status}`. Yields within long transactions.
 * @throws RangeError unless there is one spent output for each input
 */
export function* writeEsploraTransaction(
  writer: JsonWriter,
  transaction: ScannedTransaction,
  { spent, status, prefixes }: EsploraTransactionForm
): Generator<void, void> {
  const { inputs, outputs, isCoinbase, bytes, hasWitness, offset, length } = transaction;
  if (!isCoinbase && spent.length !== inputs.length)
    throw new RangeError(`expected ${inputs.length} spent outputs of the transaction, got ${spent.length}`);
  if (length > LONG_BYTES) yield* writer.prepareHex(bytes, offset, offset + length);
  writer.hashField('{"txid":', transaction.txid);
  writer.integerField(',"version":', transaction.version >>> 0);
  writer.integerField(',"locktime":', transaction.locktime);
  writer.ascii(',"vin":[');
  const witness = hasWitness ? new ByteReader(bytes, transaction.witnessOffset) : undefined;
  let fee = 0;
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i] as ScannedInput; // below the length
    const output = isCoinbase ? undefined : spent[i];
    if (i > 0) writer.char(COMMA);
    writeInput(writer, input, witness, output, prefixes);
    fee += output?.value ?? 0;
    if (i % SLICE === SLICE - 1) yield;
  }
  writer.ascii('],"vout":[');
  for (let n = 0; n < outputs.length; n++) {
    const { value, scriptOffset, scriptLength } = outputs[n] as ScannedOutput; // below the length
    if (n > 0) writer.char(COMMA);
    writeEsploraOutput(writer, bytes, scriptOffset, scriptOffset + scriptLength, value, prefixes);
    fee -= value;
    if (n % SLICE === SLICE - 1) yield;
  }
  writer.integerField('],"size":', length);
  writer.integerField(',"weight":', transaction.weight);
  writer.integerField(',"fee":', isCoinbase ? 0 : fee);
  writer.ascii(',"status":');
  writeStatus(writer, status);
  writer.char(OBJECT_END);
}

function inputSchema(): Schema {
  const fields = { txid: TXID, vout: COUNT, scriptsig: HEX, scriptsig_asm: TEXT, sequence: COUNT };
  const witness = described('The items of the witness.', listOf(HEX));
  const coinbase = object({ ...fields, prevout: { type: 'null' }, is_coinbase: { const: true } }, { witness });
  const other = object(
    { ...fields, prevout: described('The output that is spent.', ESPLORA_OUTPUT), is_coinbase: { const: false } },
    { witness, inner_redeemscript_asm: TEXT, inner_witnessscript_asm: TEXT }
  );
  return named('Input', anyOf(other, coinbase));
}

/** What `writeEsploraTransaction` writes. */
export const ESPLORA_TRANSACTION: Schema = named(
  'Transaction',
  object({
    txid: TXID,
    version: COUNT,
    locktime: COUNT,
    vin: listOf(inputSchema()),
    vout: listOf(ESPLORA_OUTPUT),
    size: BYTES,
    weight: WEIGHT,
    fee: described('Satoshis; 0 for a coinbase.', SATOSHIS),
    status: STATUS
  })
);
