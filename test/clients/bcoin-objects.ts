// Blocks and transactions as read by bcoin's own objects, with the field names of Bitcoin Core's JSON.

import { bcoin } from '../support/bcoin/bcoin';

export interface TransactionFields {
  readonly txid: string;
  readonly vout: readonly { readonly value: number; readonly n: number; readonly scriptPubKey: { readonly hex: string } }[];
  readonly hex: string;
  readonly [more: string]: unknown;
}

export interface HeaderFields {
  readonly hash: string;
  readonly [more: string]: unknown;
}

export interface BlockFields extends HeaderFields {
  readonly tx: readonly TransactionFields[];
}

/** A transaction as bcoin prints it. */
interface PrintedTransaction {
  readonly hash: string;
  readonly witnessHash: string;
  readonly version: number;
  readonly locktime: number;
  readonly inputs: readonly {
    readonly prevout: { readonly hash: string; readonly index: number };
    readonly script: string;
    readonly sequence: number;
  }[];
  readonly outputs: readonly { readonly value: number; readonly script: string }[];
  readonly hex: string;
}

interface PrintedBlock {
  readonly hash: string;
  readonly version: number;
  readonly prevBlock: string;
  readonly merkleRoot: string;
  readonly time: number;
  readonly bits: number;
  readonly nonce: number;
  readonly txs: readonly PrintedTransaction[];
}

const NO_OUTPOINT = 0xffffffff;
const SATS = 100_000_000;

export function transactionFields(raw: Buffer): TransactionFields {
  return fieldsOf((bcoin.TX.fromRaw(raw) as unknown as { toJSON(): PrintedTransaction }).toJSON());
}

export function headerFields(raw: Buffer): HeaderFields {
  return headerFieldsOf(printed(raw));
}

export function blockFields(raw: Buffer): BlockFields {
  const block = printed(raw);
  return { ...headerFieldsOf(block), size: raw.length, tx: block.txs.map(fieldsOf) };
}

const printed = (raw: Buffer): PrintedBlock => (bcoin.Block.fromRaw(raw) as unknown as { toJSON(): PrintedBlock }).toJSON();

const headerFieldsOf = ({ hash, version, prevBlock, merkleRoot, time, bits, nonce, txs }: PrintedBlock): HeaderFields => ({
  hash,
  version,
  merkleroot: merkleRoot,
  time,
  nonce,
  bits: bits.toString(16).padStart(8, '0'),
  nTx: txs.length,
  previousblockhash: prevBlock
});

const fieldsOf = ({ hash, witnessHash, version, locktime, inputs, outputs, hex }: PrintedTransaction): TransactionFields => ({
  txid: hash,
  hash: witnessHash,
  version,
  size: hex.length / 2,
  locktime,
  vin: inputs.map(({ prevout, script, sequence }) =>
    prevout.index === NO_OUTPOINT
      ? { coinbase: script, sequence }
      : { txid: prevout.hash, vout: prevout.index, scriptSig: { hex: script }, sequence }
  ),
  vout: outputs.map(({ value, script }, n) => ({ value: value / SATS, n, scriptPubKey: { hex: script } })),
  hex
});
