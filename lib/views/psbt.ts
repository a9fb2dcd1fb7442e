// A PSBT as JSON (decodepsbt of Bitcoin Core 31).

import { base58Check } from '../bitcoin/base58';
import { MAX_MONEY } from '../bitcoin/consensus';
import {
  GLOBAL,
  INPUT,
  numberIn,
  OUTPUT,
  unsignedOf,
  fieldOf,
  type Psbt,
  type PsbtField,
  type PsbtInput,
  type PsbtMap,
  type PsbtOutput
} from '../bitcoin/psbt/psbt';
import { leavesIn, readBytes } from '../bitcoin/psbt/values';
import { sortedFields } from '../bitcoin/psbt/write';
import { ByteReader } from '../bitcoin/reader';
import { writeAsm, writeScriptSigAsm } from '../bitcoin/script';
import { SIGHASH_NAMES } from '../bitcoin/signature-encoding';
import { scriptTypeOf } from '../bitcoin/script-type';
import { scanStrippedTransaction, scanWholeTransaction } from '../bitcoin/transaction';
import { unsignedBytes } from '../bitcoin/unsigned-transaction';
import { described, listOf, mapOf, named, object, type Schema } from '../describe/schema';
import { COINS, COUNT, FLAG, HEX, NUMBER, TEXT, TXID } from '../describe/values';
import { JsonWriter } from './json-writer';
import {
  DERIVATIONS,
  derivationOf,
  hexOf,
  LEAF_SCRIPTS,
  leafScripts,
  MEMBER,
  PARTICIPANTS,
  participantOf,
  participantsOf,
  PATH,
  pathOf,
  PROPRIETARIES,
  proprietaryOf,
  TAP_DERIVATIONS,
  tapPathOf,
  UNKNOWN,
  unknownOf
} from './psbt-fields';
import { opcodeNames, scriptPubKeySchema, writeScriptPubKey, type JsonStyle } from './script';
import { transactionSchema, writeTransaction } from './transaction';
import type { ProfileFields } from './profile';

/** Digits of hex for a byte, and the text around them. */
const HEX_SHARE = 3;

/** Writes `{tx?, global_xpubs, …, inputs, outputs, fee?}`. Yields after each input and output, and after each item of a list in them. */
export function* psbtText(psbt: Psbt, style: JsonStyle): Generator<void, Buffer> {
  const writer = new JsonWriter(4_096);
  const { version, fields, inputs, outputs } = psbt;
  writer.ascii('{');
  if (version === 0) {
    writer.ascii('"tx":');
    const unsigned = unsignedOf(psbt);
    if (unsigned !== undefined) yield* writeTransaction(writer, scanStrippedTransaction(unsignedBytes(unsigned)), hiding(style));
    writer.ascii(',');
  }
  writer.ascii('"global_xpubs":');
  yield* writeItems(writer, sortedFields(fields, GLOBAL.xpub, 'global'), ({ key, value }) => ({
    xpub: base58Check(key.subarray(1)),
    ...pathOf(value)
  }));
  if (version === 2) writeCounts(writer, psbt);
  writer.integerField(',"psbt_version":', version);
  writer.ascii(
    `,"proprietary":${JSON.stringify(proprietaryOf(fields, 'global'))},"unknown":${JSON.stringify(unknownOf(fields, 'global'))},"inputs":[`
  );
  let left: bigint | undefined = 0n;
  for (const [i, input] of inputs.entries()) {
    if (i > 0) writer.ascii(',');
    const value: bigint | undefined = yield* writeInput(writer, input, version, style);
    left = value === undefined || left === undefined || !isMoney(value) || !isMoney(left + value) ? undefined : left + value;
    yield;
  }
  writer.ascii('],"outputs":[');
  let paid: bigint | undefined = 0n;
  for (const [i, output] of outputs.entries()) {
    if (i > 0) writer.ascii(',');
    yield* writeOutput(writer, output, version, style);
    const value = output.value.readBigInt64LE();
    paid = paid === undefined || !isMoney(value) || !isMoney(paid + value) ? undefined : paid + value;
    yield;
  }
  writer.ascii(']');
  if (left !== undefined && paid !== undefined) writer.amountField(',"fee":', Number(left - paid));
  writer.ascii('}');
  return writer.toBuffer();
}

/** What `psbtText` writes. */
export function psbtSchema(fields: ProfileFields): Schema {
  const transaction = transactionSchema('DecodedTransaction', fields, false, {}, true);
  return named(
    'DecodedPsbt',
    object(
      {
        global_xpubs: described('Extended keys, with the way to them.', listOf(object({ xpub: TEXT, ...PATH }))),
        psbt_version: { enum: [0, 2], description: 'Of the PSBT.' },
        proprietary: PROPRIETARIES,
        unknown: described('What is not known, by key.', UNKNOWN),
        inputs: listOf(inputSchema(fields, transaction)),
        outputs: listOf(outputSchema(fields))
      },
      {
        tx: described('Only in version 0.', transaction),
        tx_version: described('This, and what follows, only in version 2.', COUNT),
        fallback_locktime: COUNT,
        input_count: COUNT,
        output_count: COUNT,
        inputs_modifiable: FLAG,
        outputs_modifiable: FLAG,
        has_sighash_single: FLAG,
        fee: described('If all outputs that are spent are known.', { ...NUMBER, description: 'BTC.' })
      }
    )
  );
}

const itself = <T>(item: T): T => item;

const isMoney = (value: bigint): boolean => value >= 0n && value <= MAX_MONEY;

const hiding = (style: JsonStyle): Parameters<typeof writeTransaction>[2] => ({ ...style, hexWithWitness: false, hidesHex: true });

function writeCounts(writer: JsonWriter, { fields, transactionVersion, inputs, outputs }: Psbt): void {
  const [locktime, modifiable] = [numberIn(fields, GLOBAL.locktime), fieldOf(fields, GLOBAL.modifiable)?.[0]];
  writer.integerField(',"tx_version":', transactionVersion);
  if (locktime !== undefined) writer.integerField(',"fallback_locktime":', locktime);
  writer.integerField(',"input_count":', inputs.length);
  writer.integerField(',"output_count":', outputs.length);
  if (modifiable === undefined) return;
  const bit = (n: number): boolean => (modifiable & (1 << n)) !== 0;
  writer.ascii(`,"inputs_modifiable":${bit(0)},"outputs_modifiable":${bit(1)},"has_sighash_single":${bit(2)}`);
}

/** Writes an array. Yields after each item. */
function* writeItems<T>(writer: JsonWriter, items: Iterable<T>, jsonOf: (item: T) => unknown): Generator<void> {
  let before = '[';
  for (const item of items) {
    writer.ascii(`${before}${JSON.stringify(jsonOf(item))}`);
    before = ',';
    yield;
  }
  writer.ascii(before === '[' ? '[]' : ']');
}

/** Writes the fields of an object, each with what stands before it. */
class FieldWriter {
  readonly #writer: JsonWriter;
  #isFirst = true;

  constructor(writer: JsonWriter) {
    this.#writer = writer;
    writer.ascii('{');
  }

  /** Begins a field. */
  name(name: string): JsonWriter {
    this.#writer.ascii(`${this.#isFirst ? '' : ','}"${name}":`);
    this.#isFirst = false;
    return this.#writer;
  }

  json(name: string, value: unknown): void {
    this.name(name).ascii(JSON.stringify(value));
  }

  /** Yields after each item. */
  *items<T>(name: string, items: Iterable<T>, jsonOf: (item: T) => unknown): Generator<void> {
    yield* writeItems(this.name(name), items, jsonOf);
  }

  /** The same, unless the list is empty. */
  *list<T>(name: string, list: readonly T[], jsonOf: (item: T) => unknown): Generator<void> {
    if (list.length > 0) yield* this.items(name, list, jsonOf);
  }

  /** Hashes with what they are of. */
  preimages(name: string, fields: readonly PsbtField[]): void {
    if (fields.length > 0) this.json(name, Object.fromEntries(fields.map(({ key, value }) => [hexOf(key.subarray(1)), hexOf(value)])));
  }

  hex(name: string, bytes: Buffer | undefined): void {
    if (bytes !== undefined) this.json(name, hexOf(bytes));
  }

  number(name: string, value: number | undefined): void {
    if (value !== undefined) this.json(name, value);
  }

  end(): void {
    this.#writer.ascii('}');
  }
}

/** Gives the value of the output that it spends, if it is known. */
function* writeInput(writer: JsonWriter, input: PsbtInput, version: 0 | 2, style: JsonStyle): Generator<void, bigint | undefined> {
  const { fields } = input;
  const of = (type: number): PsbtField[] => sortedFields(fields, type, 'input');
  const out = new FieldWriter(writer);
  const value = yield* writeSpent(out, input, style);
  out.preimages('partial_signatures', of(INPUT.signature));
  const sighash = fieldOf(fields, INPUT.sighash);
  if (sighash !== undefined) out.json('sighash', SIGHASH_NAMES.get(sighash[0]) ?? '');
  writeScripts(out, fields, INPUT.redeemScript, INPUT.witnessScript, style);
  yield* out.list('bip32_derivs', of(INPUT.derivation), derivationOf);
  const final = fieldOf(fields, INPUT.finalScript);
  if (final !== undefined) out.json('final_scriptSig', { asm: asmOf(final, style, true), hex: hexOf(final) });
  const witness = fieldOf(fields, INPUT.finalWitness);
  if (witness !== undefined) yield* out.items('final_scriptwitness', itemsIn(witness), hexOf);
  out.preimages('ripemd160_preimages', of(INPUT.ripemd160));
  out.preimages('sha256_preimages', of(INPUT.sha256));
  out.preimages('hash160_preimages', of(INPUT.hash160));
  out.preimages('hash256_preimages', of(INPUT.hash256));
  if (version === 2) {
    out.json('previous_txid', hexOf(Buffer.from(input.txid).reverse()));
    out.json('previous_vout', input.index);
    out.number('sequence', input.sequence);
    out.number('time_locktime', numberIn(fields, INPUT.timeLock));
    out.number('height_locktime', numberIn(fields, INPUT.heightLock));
  }
  yield* writeTaprootInput(out, fields, of);
  yield* writeOthers(out, fields, 'input');
  out.end();
  return value;
}

const PREIMAGES = mapOf(HEX, HEX);
const SCRIPT = object({ asm: TEXT, hex: HEX, type: TEXT });

/** What `writeInput` writes. */
function inputSchema(fields: ProfileFields, transaction: Schema): Schema {
  const input = object(
    {},
    {
      witness_utxo: described('The output that is spent.', object({ amount: COINS, scriptPubKey: scriptPubKeySchema(fields) })),
      non_witness_utxo: described('The transaction that has it.', transaction),
      partial_signatures: described('Signatures by their keys.', PREIMAGES),
      sighash: TEXT,
      redeem_script: SCRIPT,
      witness_script: SCRIPT,
      bip32_derivs: DERIVATIONS,
      final_scriptSig: object({ asm: TEXT, hex: HEX }),
      final_scriptwitness: listOf(HEX),
      ripemd160_preimages: PREIMAGES,
      sha256_preimages: PREIMAGES,
      hash160_preimages: PREIMAGES,
      hash256_preimages: PREIMAGES,
      previous_txid: TXID,
      previous_vout: COUNT,
      sequence: COUNT,
      time_locktime: COUNT,
      height_locktime: COUNT,
      taproot_key_path_sig: HEX,
      taproot_script_path_sigs: listOf(object({ pubkey: HEX, leaf_hash: HEX, sig: HEX })),
      taproot_scripts: LEAF_SCRIPTS,
      taproot_bip32_derivs: TAP_DERIVATIONS,
      taproot_internal_key: HEX,
      taproot_merkle_root: HEX,
      musig2_participant_pubkeys: PARTICIPANTS,
      musig2_pubnonces: listOf(object({ ...MEMBER, pubnonce: HEX }, { leaf_hash: HEX })),
      musig2_partial_sigs: listOf(object({ ...MEMBER, partial_sig: HEX }, { leaf_hash: HEX })),
      proprietary: PROPRIETARIES,
      unknown: UNKNOWN
    }
  );
  return named('PsbtInput', input);
}

/** The output that an input spends, alone or in its whole transaction. Gives its value, if it is known. */
function* writeSpent(out: FieldWriter, { fields, index }: PsbtInput, style: JsonStyle): Generator<void, bigint | undefined> {
  let value: bigint | undefined;
  const spent = fieldOf(fields, INPUT.output);
  if (spent !== undefined) {
    value = spent.readBigInt64LE();
    const script = readBytes(new ByteReader(spent, 8));
    const writer = out.name('witness_utxo');
    writer.ascii('{"amount":');
    writer.amountIn(spent, 0);
    writer.ascii(',"scriptPubKey":');
    writeScriptPubKey(writer, script, 0, script.length, style);
    writer.ascii('}');
  }
  const raw = fieldOf(fields, INPUT.wholeOutput);
  if (raw !== undefined) {
    const whole = scanWholeTransaction(raw);
    const output = whole.outputs[index];
    if (output !== undefined) value = raw.readBigInt64LE(output.offset);
    yield* writeTransaction(out.name('non_witness_utxo'), whole, hiding(style));
  }
  return value;
}

/** What signs for taproot (BIP371), and several signers for one key (MuSig2, BIP373). */
function* writeTaprootInput(out: FieldWriter, fields: PsbtMap, of: (type: number) => PsbtField[]): Generator<void> {
  out.hex('taproot_key_path_sig', fieldOf(fields, INPUT.tapSignature));
  yield* out.list('taproot_script_path_sigs', of(INPUT.tapScriptSignature), ({ key, value: sig }) => ({
    pubkey: hexOf(key.subarray(1, 33)),
    leaf_hash: hexOf(key.subarray(33)),
    sig: hexOf(sig)
  }));
  yield* out.list('taproot_scripts', leafScripts(of(INPUT.tapScript)), itself);
  yield* out.list('taproot_bip32_derivs', of(INPUT.tapDerivation), tapPathOf);
  out.hex('taproot_internal_key', fieldOf(fields, INPUT.tapKey));
  out.hex('taproot_merkle_root', fieldOf(fields, INPUT.tapRoot));
  yield* out.list('musig2_participant_pubkeys', of(INPUT.participants), participantsOf);
  yield* out.list('musig2_pubnonces', of(INPUT.nonce), (field) => ({ ...participantOf(field), pubnonce: hexOf(field.value) }));
  yield* out.list('musig2_partial_sigs', of(INPUT.partialSignature), (field) => ({
    ...participantOf(field),
    partial_sig: hexOf(field.value)
  }));
}

function* writeOutput(writer: JsonWriter, { fields, value, script }: PsbtOutput, version: 0 | 2, style: JsonStyle): Generator<void> {
  const of = (type: number): PsbtField[] => sortedFields(fields, type, 'output');
  const out = new FieldWriter(writer);
  writeScripts(out, fields, OUTPUT.redeemScript, OUTPUT.witnessScript, style);
  yield* out.list('bip32_derivs', of(OUTPUT.derivation), derivationOf);
  if (version === 2) {
    out.name('amount').amountIn(value, 0);
    out.name('script');
    writeScriptPubKey(writer, script, 0, script.length, style);
  }
  out.hex('taproot_internal_key', fieldOf(fields, OUTPUT.tapKey));
  const tree = fieldOf(fields, OUTPUT.tapTree);
  if (tree !== undefined)
    yield* out.items('taproot_tree', leavesIn(new ByteReader(tree)), ({ depth, version: leafVersion, script: leaf }) => ({
      depth,
      leaf_ver: leafVersion,
      script: hexOf(leaf)
    }));
  yield* out.list('taproot_bip32_derivs', of(OUTPUT.tapDerivation), tapPathOf);
  yield* out.list('musig2_participant_pubkeys', of(OUTPUT.participants), participantsOf);
  yield* writeOthers(out, fields, 'output');
  out.end();
}

/** What `writeOutput` writes. */
function outputSchema(fields: ProfileFields): Schema {
  const output = object(
    {},
    {
      redeem_script: SCRIPT,
      witness_script: SCRIPT,
      bip32_derivs: DERIVATIONS,
      amount: COINS,
      script: scriptPubKeySchema(fields),
      taproot_internal_key: HEX,
      taproot_tree: listOf(object({ depth: COUNT, leaf_ver: COUNT, script: HEX })),
      taproot_bip32_derivs: TAP_DERIVATIONS,
      musig2_participant_pubkeys: PARTICIPANTS,
      proprietary: PROPRIETARIES,
      unknown: UNKNOWN
    }
  );
  return named('PsbtOutput', output);
}

/** Fields that are not Bitcoin Core's. */
function* writeOthers(out: FieldWriter, fields: PsbtMap, of: 'input' | 'output'): Generator<void> {
  yield* out.list('proprietary', proprietaryOf(fields, of), itself);
  const unknown = unknownOf(fields, of);
  if (Object.keys(unknown).length > 0) out.json('unknown', unknown);
}

function writeScripts(out: FieldWriter, fields: PsbtMap, redeem: number, witness: number, style: JsonStyle): void {
  for (const [name, type] of [
    ['redeem_script', redeem],
    ['witness_script', witness]
  ] as const) {
    const script = fieldOf(fields, type);
    if (script !== undefined) out.json(name, { asm: asmOf(script, style, false), hex: hexOf(script), type: scriptTypeOf(script) });
  }
}

/** The items of a witness. */
function* itemsIn(witness: Buffer): Generator<Buffer> {
  const reader = new ByteReader(witness);
  for (let count = reader.compactSize(); count > 0; count--) yield readBytes(reader);
}

function asmOf(script: Buffer, { fields }: JsonStyle, hasSignatures: boolean): string {
  const writer = new JsonWriter(script.length * HEX_SHARE + 64);
  if (hasSignatures) writeScriptSigAsm(writer, opcodeNames(fields), script);
  else writeAsm(writer, opcodeNames(fields), script, 0, script.length);
  return writer.toString();
}
