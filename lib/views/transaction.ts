// The JSON of a transaction (TxToUniv of Bitcoin Core), written straight from its bytes.

import { ByteReader } from '../bitcoin/reader';
import { writeScriptSigAsm } from '../bitcoin/script';
import { WEIGHT_PER_VBYTE, type ScannedInput, type ScannedOutput, type ScannedTransaction } from '../bitcoin/transaction';
import { ARRAY_END, COMMA, LINE_FEED, OBJECT_END, JsonWriter } from './json-writer';
import { opcodeNames, scriptPubKeySchema, writeScriptPubKey, type JsonStyle } from './script';
import { anyOf, described, listOf, named, object, type NamedSchema, type Properties, type Schema } from '../describe/schema';
import { BYTES, COINS, COUNT, FLAG, HASH, HEIGHT, HEX, INTEGER, TEXT, TXID, VBYTES, WEIGHT } from '../describe/values';
import type { SpentNodeCoin } from '../node/types/coins';
import type { ProfileFields } from './profile';

/** JSON is six to seven times as long as the bytes it shows. */
export const JSON_BYTES_PER_BYTE = 7;

/** Inputs or outputs between two yields. */
const SLICE = 64;

export interface TransactionContext extends JsonStyle {
  /** Hash of the block that holds it: 32 bytes in wire order; undefined: unconfirmed, or not shown. */
  readonly blockHash?: Buffer | undefined;
}

export interface TransactionForm extends TransactionContext {
  /** Whether the `hex` field includes the witness. */
  readonly hexWithWitness: boolean;
  /** Whether there is no `hex` field. */
  readonly hidesHex?: boolean | undefined;
  /**
   * The outputs that it spends, in the order of its inputs: each input shows its own, and `fee` is computed from them. Ignored
   * for a coinbase.
   */
  readonly spent?: readonly SpentNodeCoin[] | undefined;
  /** Whether inputs do not show the outputs that they spend, though the fee is shown. */
  readonly hidesSpent?: boolean | undefined;
}

/** Writes `{txid, hash, version, size, vsize, weight, locktime, vin, vout, fee?, blockhash?, hex?}`. Yields within long transactions. */
export function* writeTransaction(writer: JsonWriter, transaction: ScannedTransaction, form: TransactionForm): Generator<void, void> {
  const { inputs, outputs, isCoinbase, weight, bytes, offset, length } = transaction;
  const { fields, spent } = form;
  // Prepared once: every script and witness item is also part of the hex at the end.
  yield* writer.prepareHex(bytes, offset, offset + length);
  writer.hashField('{"txid":', transaction.txid);
  writer.hashField(',"hash":', transaction.wtxid);
  writer.integerField(',"version":', shownVersion(transaction, form));
  writer.integerField(',"size":', length);
  writer.integerField(',"vsize":', Math.ceil(weight / WEIGHT_PER_VBYTE));
  writer.integerField(',"weight":', weight);
  writer.integerField(',"locktime":', transaction.locktime);
  writer.ascii(',"vin":[');
  const showsWitness = transaction.hasWitness && (!isCoinbase || fields.coinbaseWitness);
  const witness = showsWitness ? new ByteReader(bytes, transaction.witnessOffset) : undefined;
  let left = 0;
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i] as ScannedInput; // below the length
    const coin = spent?.[i];
    if (i > 0) writer.char(COMMA);
    if (isCoinbase) writeCoinbaseInput(writer, input, witness);
    else writeInput(writer, input, witness, form.hidesSpent === true ? undefined : coin, form);
    left += coin?.value ?? 0;
    if (i % SLICE === SLICE - 1) yield;
  }
  writer.ascii('],"vout":[');
  for (let n = 0; n < outputs.length; n++) {
    const output = outputs[n] as ScannedOutput; // below the length
    if (n > 0) writer.char(COMMA);
    writeOutput(writer, output, n, form);
    left -= output.value;
    if (n % SLICE === SLICE - 1) yield;
  }
  writer.char(ARRAY_END);
  if (spent !== undefined && !isCoinbase) writer.amountField(',"fee":', left);
  if (form.blockHash !== undefined) writer.hashField(',"blockhash":', form.blockHash);
  if (form.hidesHex === true) {
    writer.char(OBJECT_END);
    return;
  }
  writer.ascii(',"hex":"');
  if (form.hexWithWitness) writer.hex(bytes, offset, offset + length);
  else writer.hex(transaction.stripped);
  writer.ascii('"}');
}

function writeCoinbaseInput(writer: JsonWriter, { script, sequence }: ScannedInput, witness: ByteReader | undefined): void {
  writer.ascii('{"coinbase":');
  writer.hexString(script);
  if (witness !== undefined) writeWitness(writer, witness);
  writer.integerField(',"sequence":', sequence);
  writer.char(OBJECT_END);
}

function writeInput(
  writer: JsonWriter,
  input: ScannedInput,
  witness: ByteReader | undefined,
  spent: SpentNodeCoin | undefined,
  style: JsonStyle
): void {
  const { bytes, offset, scriptOffset, scriptLength } = input;
  writer.hashField('{"txid":', bytes, offset);
  writer.integerField(',"vout":', input.index);
  writer.ascii(',"scriptSig":{"asm":"');
  if (scriptLength > 0) writeScriptSigAsm(writer, opcodeNames(style.fields), bytes, scriptOffset, scriptOffset + scriptLength);
  writer.ascii('","hex":"');
  writer.hex(bytes, scriptOffset, scriptOffset + scriptLength);
  writer.ascii('"}');
  if (witness !== undefined) writeWitness(writer, witness);
  if (spent !== undefined) writeSpent(writer, spent, style);
  writer.integerField(',"sequence":', input.sequence);
  writer.char(OBJECT_END);
}

function writeSpent(writer: JsonWriter, { coinbase, height, value, script }: SpentNodeCoin, style: JsonStyle): void {
  writer.ascii(',"prevout":{"generated":');
  writer.boolean(coinbase);
  writer.integerField(',"height":', height);
  writer.amountField(',"value":', value);
  writer.ascii(',"scriptPubKey":');
  writeScriptPubKey(writer, script, 0, script.length, style);
  writer.char(OBJECT_END);
}

/** Writes the items of one witness stack, and moves past them. Writes nothing for an empty stack. */
function writeWitness(writer: JsonWriter, witness: ByteReader): void {
  const count = witness.compactSize();
  if (count === 0) return;
  for (let i = 0; i < count; i++) {
    writer.ascii(i === 0 ? ',"txinwitness":["' : '","');
    const length = witness.compactSize();
    writer.hex(witness.buffer, witness.offset, witness.offset + length);
    witness.skip(length);
  }
  writer.ascii('"]');
}

function writeOutput(writer: JsonWriter, output: ScannedOutput, n: number, style: JsonStyle): void {
  const { bytes, offset, value, scriptOffset, scriptLength } = output;
  if (Number.isSafeInteger(value)) writer.amountField('{"value":', value);
  else {
    writer.ascii('{"value":');
    writer.amountIn(bytes, offset);
  }
  writer.integerField(',"n":', n);
  writer.ascii(',"scriptPubKey":');
  writeScriptPubKey(writer, bytes, scriptOffset, scriptOffset + scriptLength, style);
  writer.char(OBJECT_END);
}

/** Versions are unsigned since Bitcoin Core 28. */
export function shownVersion({ version }: ScannedTransaction, { fields }: JsonStyle): number {
  return fields.unsignedVersion ? version >>> 0 : version;
}

/** The JSON of a transaction and a line feed. Its `hex` includes the witness. Yields within long transactions. */
export function* transactionJson(
  transaction: ScannedTransaction,
  { prefixes, fields, blockHash }: TransactionContext
): Generator<void, Buffer> {
  const writer = new JsonWriter(transaction.length * JSON_BYTES_PER_BYTE + 1_024);
  yield* writeTransaction(writer, transaction, { prefixes, fields, blockHash, hexWithWitness: true });
  writer.char(LINE_FEED);
  return writer.toBuffer();
}

const SEQUENCE = described('The sequence number of the input.', COUNT);

const WITNESS = described('The items of the witness.', listOf(HEX));

/** What `writeTransaction` writes. `spent`: inputs may show the outputs that they spend. `more`: fields that only some replies have. `hidesHex`: as
 * in the form. */
export function transactionSchema(
  name: string,
  fields: ProfileFields,
  spent: boolean,
  more: Properties = {},
  hidesHex = false
): NamedSchema {
  const coinbase = object({ coinbase: HEX, sequence: SEQUENCE }, fields.coinbaseWitness ? { txinwitness: WITNESS } : {});
  return named(
    name,
    object(
      {
        txid: TXID,
        hash: described('The hash with the witness (wtxid).', HASH),
        version: fields.unsignedVersion ? COUNT : INTEGER,
        size: BYTES,
        vsize: VBYTES,
        weight: WEIGHT,
        locktime: COUNT,
        vin: described('The inputs.', listOf(anyOf(named('CoinbaseInput', coinbase), inputSchema(fields, spent)))),
        vout: described('The outputs.', listOf(outputSchema(fields))),
        ...(!hidesHex && { hex: described('The serialized transaction in hex.', HEX) })
      },
      { ...(spent && { fee: COINS }), ...more }
    )
  );
}

function inputSchema(fields: ProfileFields, spent: boolean): Schema {
  const prevout = object({
    generated: described('Whether a coinbase made it.', FLAG),
    height: HEIGHT,
    value: COINS,
    scriptPubKey: scriptPubKeySchema(fields)
  });
  return named(
    spent ? 'InputWithOutput' : 'Input',
    object(
      {
        txid: TXID,
        vout: described('The index of the output that is spent.', COUNT),
        scriptSig: object({ asm: TEXT, hex: HEX }),
        sequence: SEQUENCE
      },
      { txinwitness: WITNESS, ...(spent && { prevout: described('The output that is spent.', named('PreviousOutput', prevout)) }) }
    )
  );
}

const outputSchema = (fields: ProfileFields): Schema =>
  named('Output', object({ value: COINS, n: described('The index of the output.', COUNT), scriptPubKey: scriptPubKeySchema(fields) }));
