// The content of right answers, from bcoin's own objects. Binary answers are compared whole; of
// JSON, the fields that bcoin itself knows (whole texts are compared by the tests with recorded
// answers).

import { deepStrictEqual } from 'node:assert';
import { display, type ChainCoin, type ChainOutput, type ChainReader, type ChainTransaction } from './chain-reader';

type Fields = Readonly<Record<string, unknown>>;

const SATS = 100_000_000;

/** The amount of a JSON number in whole coins. */
const sats = (value: unknown): number => Math.round(Number(value) * SATS);

/** Compares, at every depth, those fields of `actual` that `expected` has. @throws AssertionError */
export function compareFields(actual: unknown, expected: unknown): void {
  deepStrictEqual(pick(actual, expected), expected);
}

function pick(actual: unknown, like: unknown): unknown {
  if (Array.isArray(like) && Array.isArray(actual)) return actual.map((item, i) => pick(item, like[i]));
  if (typeof like !== 'object' || like === null || typeof actual !== 'object' || actual === null) return actual;
  return Object.fromEntries(Object.keys(like).map((key) => [key, pick((actual as Fields)[key], (like as Fields)[key])]));
}

/** Amounts as integers, at every depth. */
export function readJson(body: Buffer): unknown {
  return JSON.parse(body.toString(), (key, value: unknown) => (key === 'value' || key === 'fee' ? sats(value) : value));
}

export function transactionFields(transaction: ChainTransaction, blockHash?: Buffer): Fields {
  return {
    txid: display(transaction.hash()),
    hash: display(transaction.witnessHash()),
    version: transaction.version,
    size: transaction.getSize(),
    vsize: transaction.getVirtualSize(),
    weight: transaction.getWeight(),
    locktime: transaction.locktime,
    vin: transaction.inputs.map((input) =>
      transaction.isCoinbase()
        ? { coinbase: input.script.toRaw().toString('hex'), sequence: input.sequence }
        : {
            txid: display(input.prevout.hash),
            vout: input.prevout.index,
            scriptSig: { hex: input.script.toRaw().toString('hex') },
            sequence: input.sequence,
            ...(input.witness.items.length > 0 && { txinwitness: input.witness.items.map((item) => item.toString('hex')) })
          }
    ),
    vout: transaction.outputs.map(({ value, script }, n) => ({ value, n, scriptPubKey: { hex: script.toRaw().toString('hex') } })),
    ...(blockHash !== undefined && { blockhash: display(blockHash) }),
    hex: transaction.toRaw().toString('hex')
  };
}

/** `detail`: with transactions instead of their txids. */
export function blockFields(chain: ChainReader, height: number, detail: boolean): Fields {
  const block = chain.block(height);
  return {
    ...headerFields(chain, height),
    strippedsize: block.getBaseSize(),
    size: block.getSize(),
    weight: block.getWeight(),
    tx: block.txs.map((transaction) => (detail ? transactionFields(transaction) : display(transaction.hash())))
  };
}

export function headerFields(chain: ChainReader, height: number): Fields {
  const block = chain.block(height);
  return {
    hash: chain.hash(height),
    confirmations: chain.tipHeight - height + 1,
    height,
    merkleroot: display(block.merkleRoot),
    time: block.time,
    nonce: block.nonce,
    chainwork: chain.chainwork(height),
    nTx: block.txs.length,
    ...(height > 0 && { previousblockhash: chain.hash(height - 1) }),
    ...(height < chain.tipHeight && { nextblockhash: chain.hash(height + 1) })
  };
}

export function chainInfoFields(chain: ChainReader): Fields {
  const { tipHeight } = chain;
  return {
    chain: 'regtest',
    blocks: tipHeight,
    headers: tipHeight,
    bestblockhash: chain.hash(tipHeight),
    chainwork: chain.chainwork(tipHeight)
  };
}

export function poolFields(chain: ChainReader): Fields {
  const waiting = chain.pool();
  const here = new Set(waiting.map(({ tx }) => display(tx.hash())));
  return Object.fromEntries(
    waiting.map(({ tx, size, fee, height }) => [
      display(tx.hash()),
      {
        size,
        fee,
        height,
        wtxid: display(tx.witnessHash()),
        depends: [...new Set(tx.inputs.map(({ prevout }) => display(prevout.hash)))].filter((txid) => here.has(txid)).sort()
      }
    ])
  );
}

/** With the field names of today's edition. */
export function modernPoolFields(chain: ChainReader): Fields {
  const entries = poolFields(chain) as Readonly<Record<string, { readonly size: number; readonly fee: number }>>;
  return Object.fromEntries(
    Object.entries(entries).map(([txid, { size, fee, ...entry }]) => [txid, { ...entry, vsize: size, fees: { base: fee / SATS } }])
  );
}

/** A block with the coins that it spends and the resulting fees. */
export function blockWithCoinsFields(chain: ChainReader, height: number): Fields {
  const spent = chain.spentBy(height);
  return {
    ...blockFields(chain, height, false),
    tx: chain.block(height).txs.map((transaction, i) => {
      const fields = transactionFields(transaction);
      const coins = spent[i] ?? [];
      if (coins.length === 0) return fields;
      const sum = (outputs: readonly ChainOutput[]): number => outputs.reduce((total, { value }) => total + value, 0);
      const vin = (fields['vin'] as readonly Fields[]).map((input, n) => ({ ...input, prevout: outputFields(coins[n]) }));
      return { ...fields, vin, fee: sum(coins) - sum(transaction.outputs) };
    })
  };
}

export function spentFields(chain: ChainReader, height: number): unknown {
  return chain.spentBy(height).map((coins) => coins.map(outputFields));
}

const outputFields = (output: ChainOutput | undefined): Fields => ({
  value: output?.value,
  scriptPubKey: { hex: output?.script.toRaw().toString('hex') }
});

/** The spent outputs of a block's transactions, as bytes. */
export function spentBinary(chain: ChainReader, height: number): Buffer {
  const lists = chain.spentBy(height);
  const record = ({ value, script }: ChainOutput): Buffer => {
    const amount = Buffer.alloc(8);
    amount.writeBigInt64LE(BigInt(value));
    const raw = script.toRaw();
    return Buffer.concat([amount, compactSize(raw.length), raw]);
  };
  return Buffer.concat([compactSize(lists.length), ...lists.flatMap((coins) => [compactSize(coins.length), ...coins.map(record)])]);
}

function compactSize(count: number): Buffer {
  if (count < 0xfd) return Buffer.from([count]);
  const bytes = Buffer.from([0xfd, 0, 0]);
  bytes.writeUInt16LE(count, 1);
  return bytes;
}

export interface FoundCoin extends ChainCoin {
  readonly txid: Buffer;
  readonly index: number;
}

/** The answer to unspent outpoints, as bytes (BIP64). */
export function coinsBinary(chain: ChainReader, coins: readonly FoundCoin[]): Buffer {
  const tip = chain.block(chain.tipHeight);
  const bitmap = Buffer.alloc(Math.ceil(coins.length / 8));
  coins.forEach((_, i) => {
    bitmap[i >> 3] = (bitmap[i >> 3] ?? 0) | (1 << (i & 7));
  });
  const records = coins.map(({ height, value, script }) => {
    const raw = script.toRaw();
    const head = Buffer.alloc(17);
    head.writeUInt32LE(height, 4);
    head.writeBigUInt64LE(BigInt(value), 8);
    head[16] = raw.length;
    return Buffer.concat([head, raw]);
  });
  const height = Buffer.alloc(4);
  height.writeInt32LE(chain.tipHeight);
  return Buffer.concat([height, tip.hash(), Buffer.from([bitmap.length]), bitmap, Buffer.from([coins.length]), ...records]);
}

export function coinsFields(chain: ChainReader, coins: readonly FoundCoin[]): Fields {
  return {
    chainHeight: chain.tipHeight,
    chaintipHash: chain.hash(chain.tipHeight),
    bitmap: '1'.repeat(coins.length),
    utxos: coins.map(({ height, value, script }) => ({ height, value, scriptPubKey: { hex: script.toRaw().toString('hex') } }))
  };
}
