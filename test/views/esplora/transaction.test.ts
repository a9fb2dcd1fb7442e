import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scanWholeTransaction, type ScannedTransaction, type SpentOutput } from '../../../lib/bitcoin/transaction';
import { esploraCapacity, writeEsploraTransaction } from '../../../lib/views/esplora/transaction';
import { JsonWriter } from '../../../lib/views/json-writer';
import { coreRegtestPrefixes } from '../../support/chain/chain-a';
import { chainATransactions, type ChainATransaction } from '../../support/chain/chain-a-transactions';
import { finish } from '../../support/expectations/finish';
import { esploraText, lacksWitnessScript, recordedJson, type RecordedTransaction } from '../../support/recorded/esplora';
import { needsShared } from '../../support/recorded/shared';

const ofTransaction = /^\/tx\/[0-9a-f]{64}$/;

function textOf({ transaction, spent, status }: ChainATransaction): string {
  const writer = new JsonWriter(esploraCapacity(transaction, spent));
  finish(writeEsploraTransaction(writer, transaction, { spent, status, prefixes: coreRegtestPrefixes }));
  return writer.toString();
}

const ofChainA = (txid: string): ChainATransaction => {
  const found = chainATransactions().get(txid);
  if (found === undefined) throw new Error(`expected a transaction of chain A, got ${txid}`);
  return found;
};

/** Our text without the witness scripts that the recording lacks. */
function comparable(text: string, recorded: RecordedTransaction): string {
  if (!recorded.vin.some(lacksWitnessScript)) return text;
  const json = JSON.parse(text) as { vin: { inner_witnessscript_asm?: string }[] };
  recorded.vin.forEach((input, i) => {
    if (lacksWitnessScript(input)) delete json.vin[i]?.inner_witnessscript_asm;
  });
  return JSON.stringify(json);
}

/** The backend invents a status for the transaction of the first block. */
const isGenesis = ({ status }: RecordedTransaction): boolean => 'block_height' in status && status.block_height === 0;

function check(records: readonly { json: unknown }[]): void {
  for (const json of records.map((record) => record.json as RecordedTransaction))
    if (!isGenesis(json)) expect(comparable(textOf(ofChainA(json.txid)), json), json.txid).to.equal(esploraText(json));
}

/** A transaction of one output and an input for each script and witness, in hex. */
function madeTransaction(inputs: readonly { script?: string; witness?: readonly string[] }[]): ScannedTransaction {
  const sized = (hex: string): string => (hex.length / 2).toString(16).padStart(2, '0') + hex;
  const counted = (items: readonly string[]): string => items.length.toString(16).padStart(2, '0') + items.map(sized).join('');
  const count = Buffer.from(inputs.length < 0xfd ? [inputs.length] : [0xfd, inputs.length & 255, inputs.length >> 8]).toString('hex');
  const vin = inputs.map(({ script = '' }) => `${'11'.repeat(32)}00000000${sized(script)}ffffffff`).join('');
  const witness = inputs.map(({ witness: items = [] }) => counted(items)).join('');
  return scanWholeTransaction(Buffer.from(`020000000001${count}${vin}010000000000000000016a${witness}00000000`, 'hex'));
}

interface ShownInput {
  readonly witness?: string[];
  readonly inner_redeemscript_asm?: string;
  readonly inner_witnessscript_asm?: string;
}

/** How an input with this script and witness shows the inner scripts. */
function inner(spent: string, script: string, witness: readonly string[]): [redeem: string | undefined, witness: string | undefined] {
  const transaction = madeTransaction([{ script, witness }, { witness: ['00'] }]);
  const outputs = [spent, '51'].map((hex) => ({ value: 1, script: Buffer.from(hex, 'hex') }));
  const { vin } = JSON.parse(textOf({ transaction, spent: outputs, status: undefined })) as { vin: [ShownInput] };
  return [vin[0].inner_redeemscript_asm, vin[0].inner_witnessscript_asm];
}

describe('writeEsploraTransaction', () => {
  it('writes recorded transactions byte for byte: every type of script, in the chain and in the pool', () => {
    const records = recordedJson(join(__dirname, '../../vectors/esplora/transactions.jsonl.gz'), ofTransaction);
    expect(records).to.have.length.above(30);
    check(records);
  });

  it('writes every transaction of chain A as it was recorded, with fee, size and weight computed from the blocks', function () {
    const folder = needsShared(this);
    const records = recordedJson(join(folder, 'fixtures/wallet/A-mempool-backend.jsonl.gz'), ofTransaction);
    expect(records).to.have.length(chainATransactions().size);
    check(records);
    const derived = recordedJson(join(folder, 'fixtures/wallet/A-derived.jsonl.gz'), /^\/tx\/[0-9a-f]{64}#fee,size,weight$/);
    expect(derived).to.have.length.above(5000);
    for (const { path, json } of derived) expect(JSON.parse(textOf(ofChainA(path.slice(4, 68)))), path).to.include(json);
  });

  it('shows a coinbase without a spent output', () => {
    const [coinbase] = chainATransactions().values();
    if (coinbase === undefined) throw new Error('expected the first transaction of chain A');
    expect(textOf(coinbase)).to.match(
      new RegExp(
        `,"vin":\\[\\{"txid":"${'00'.repeat(32)}","vout":4294967295,"prevout":null,"scriptsig":"\\w+","scriptsig_asm":"[^"]+","is_coinbase":true,`
      )
    );
    expect(textOf(coinbase)).to.include('"fee":0,"status":{"confirmed":true,"block_height":0,"block_hash":"0f9188f13cb7b2c7');
  });

  it('reads versions as unsigned', () => {
    const raw = Buffer.from(madeTransaction([{ witness: ['00'] }]).raw);
    raw.writeInt32LE(-1);
    const spent = [{ value: 5, script: Buffer.alloc(0) }];
    const json = JSON.parse(textOf({ transaction: scanWholeTransaction(raw), spent, status: undefined })) as object;
    expect(json).to.include({ version: 0xffff_ffff, fee: 5 });
    expect(json).to.have.nested.property('vin[0].prevout.scriptpubkey_type', 'empty');
    expect(json).to.have.nested.property('status').that.deep.equals({ confirmed: false });
  });

  it('shows as a key only a push of 33 or 65 bytes before OP_CHECKSIG', () => {
    const typeOf = (script: string): unknown => {
      const output = { value: 1, script: Buffer.from(script, 'hex') };
      const json = JSON.parse(
        textOf({ transaction: madeTransaction([{ witness: ['00'] }]), spent: [output], status: undefined })
      ) as object;
      return (json as { vin: [{ prevout: { scriptpubkey_type: unknown } }] }).vin[0].prevout.scriptpubkey_type;
    };
    for (const length of [33, 65]) {
      const [push, any] = [length.toString(16), '05'.repeat(length)];
      expect([`${push}${any}ac`, `4c${any}ac`, `${push}${any}ad`].map(typeOf)).to.deep.equal(['p2pk', 'unknown', 'unknown']);
    }
    expect(typeOf(`22${'05'.repeat(34)}ac`)).to.equal('unknown');
  });

  it('shows the redeem script of a script hash when the last operation pushes it', () => {
    const scriptHash = `a914${'00'.repeat(20)}87`;
    expect(inner(scriptHash, '5101ac', [])).to.deep.equal(['OP_CHECKSIG', undefined]);
    expect(inner(scriptHash, '00', [])).to.deep.equal(['', undefined]);
    for (const script of ['', '51', '01ac51', '05ac'])
      expect(inner(scriptHash, script, ['51']), script).to.deep.equal([undefined, undefined]);
    expect(inner('51', '01ac', ['51'])).to.deep.equal([undefined, undefined]);
  });

  it('shows the witness script of a witness script hash, also if that is wrapped in a script hash', () => {
    const program = `0020${'00'.repeat(32)}`;
    const scriptHash = `a914${'00'.repeat(20)}87`;
    expect(inner(program, '', ['01', '5152'])).to.deep.equal([undefined, 'OP_PUSHNUM_1 OP_PUSHNUM_2']);
    expect(inner(program, '', [''])).to.deep.equal([undefined, '']);
    expect(inner(program, '', [])).to.deep.equal([undefined, undefined]);
    expect(inner(scriptHash, `22${program}`, ['51'])).to.deep.equal([`OP_0 OP_PUSHBYTES_32 ${'00'.repeat(32)}`, 'OP_PUSHNUM_1']);
    expect(inner(`5120${'00'.repeat(32)}`, '', ['51'])).to.deep.equal([undefined, undefined]);
  });

  it('yields within a long transaction', () => {
    const transaction = madeTransaction(Array.from({ length: 200 }, () => ({ witness: ['51'] })));
    const spent: SpentOutput[] = Array.from({ length: 200 }, () => ({ value: 1, script: Buffer.of(0x51) }));
    const steps = writeEsploraTransaction(new JsonWriter(), transaction, { spent, status: undefined, prefixes: coreRegtestPrefixes });
    expect([...steps]).to.have.length.above(2);
  });

  it('yields within one long item of a witness, and writes it whole', () => {
    const item = Buffer.alloc(1_000_000, 'witness');
    const before = Buffer.from(`02000000000101${'11'.repeat(32)}0000000000ffffffff010000000000000000016a01fe40420f00`, 'hex');
    const raw = Buffer.concat([before, item, Buffer.alloc(4)]);
    const writer = new JsonWriter();
    const spent: SpentOutput[] = [{ value: 1, script: Buffer.of(0x51) }];
    const form = { spent, status: undefined, prefixes: coreRegtestPrefixes };
    expect([...writeEsploraTransaction(writer, scanWholeTransaction(raw), form)]).to.have.length.above(10);
    expect(JSON.parse(writer.toString())).to.have.nested.property('vin[0].witness[0]', item.toString('hex'));
  });

  it('refuses to write without all spent outputs', () => {
    const transaction = madeTransaction([{ witness: ['51'] }, {}]);
    expect(() => textOf({ transaction, spent: [{ value: 1, script: Buffer.of(0x51) }], status: undefined })).to.throw(
      RangeError,
      'expected 2 spent outputs of the transaction, got 1'
    );
  });
});
