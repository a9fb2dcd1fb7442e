// The answer to a query for unspent outputs (rest_getutxos of Bitcoin Core), as JSON
// and as bytes. Bit i of the bitmap says whether outpoint i of the request is unspent.

import { LONGEST_COMPACT_SIZE, writeCompactSize } from '../bitcoin/reader';
import { OBJECT_END, JsonWriter } from './json-writer';
import { scriptPubKeySchema, writeScriptPubKey, type JsonStyle } from './script';
import { described, listOf, named, object, type Schema } from '../describe/schema';
import { BLOCK_HASH, COINS, COUNT, HEIGHT } from '../describe/values';
import type { Coin } from '../index/types';
import type { BlockPoint } from '../node/types/chain';
import type { ProfileFields } from './profile';

/** An unspent output, from a block or from the pool. */
export type CoinView = Pick<Coin, 'height' | 'value' | 'script'>;

export interface CoinsAnswer {
  /** The tip of the active chain. */
  readonly tip: BlockPoint;
  /** In the order of the request; undefined for an outpoint without a coin. */
  readonly coins: readonly (CoinView | undefined)[];
}

/** Length of the JSON of a usual coin, and of the JSON around all coins. */
const [COIN_BYTES_IN_JSON, BYTES_IN_JSON] = [320, 192];

/** Precedes the height in each record, and has no meaning. */
const VERSION_PLACEHOLDER = 0;

const isCoin = (coin: CoinView | undefined): coin is CoinView => coin !== undefined;

/** `{chainHeight, chaintipHash, bitmap, utxos}` and a line feed. */
export function coinsJson({ tip: { height, hash }, coins }: CoinsAnswer, style: JsonStyle): Buffer {
  const writer = new JsonWriter(BYTES_IN_JSON + coins.length * COIN_BYTES_IN_JSON);
  writer.integerField('{"chainHeight":', height);
  writer.hashField(',"chaintipHash":', hash);
  writer.ascii(',"bitmap":"');
  for (const coin of coins) writer.char(coin === undefined ? 0x30 : 0x31);
  writer.ascii('","utxos":[');
  coins.filter(isCoin).forEach((coin, i) => {
    writer.ascii(i === 0 ? '{"height":' : ',{"height":');
    writer.integer(coin.height);
    writer.amountField(',"value":', coin.value);
    writer.ascii(',"scriptPubKey":');
    writeScriptPubKey(writer, coin.script, 0, coin.script.length, style);
    writer.char(OBJECT_END);
  });
  writer.ascii(']}\n');
  return writer.toBuffer();
}

/** Height (32 bits), tip hash, bitmap, records: placeholder and height (32 bits each), value (64 bits), script. */
export function coinsBinary({ tip: { height, hash }, coins }: CoinsAnswer): Buffer {
  const hits = coins.filter(isCoin);
  const bitmap = bitmapOf(coins);
  const longest =
    4 +
    hash.length +
    bitmap.length +
    2 * LONGEST_COMPACT_SIZE +
    hits.reduce((sum, { script }) => sum + 16 + LONGEST_COMPACT_SIZE + script.length, 0);
  const bytes = Buffer.allocUnsafe(longest);
  let at = bytes.writeInt32LE(height);
  at += hash.copy(bytes, at);
  at = writeCompactSize(bytes, bitmap.length, at);
  at += bitmap.copy(bytes, at);
  at = writeCompactSize(bytes, hits.length, at);
  for (const { height: coinHeight, value, script } of hits) {
    at = bytes.writeUInt32LE(VERSION_PLACEHOLDER, at);
    at = bytes.writeUInt32LE(coinHeight, at);
    at = bytes.writeUInt32LE(value % 0x1_0000_0000, at);
    at = bytes.writeUInt32LE(Math.floor(value / 0x1_0000_0000), at);
    at = writeCompactSize(bytes, script.length, at);
    at += script.copy(bytes, at);
  }
  return bytes.subarray(0, at);
}

function bitmapOf(coins: CoinsAnswer['coins']): Buffer {
  const bitmap = Buffer.alloc(Math.ceil(coins.length / 8));
  coins.forEach((coin, i) => {
    if (coin !== undefined) bitmap[i >> 3] = (bitmap[i >> 3] as number) | (1 << (i & 7));
  });
  return bitmap;
}

/** What `coinsJson` writes. */
export function coinsSchema(fields: ProfileFields): Schema {
  const coin = object({
    height: described('The height of its block; 2147483647 for one of the pool.', COUNT),
    value: COINS,
    scriptPubKey: scriptPubKeySchema(fields)
  });
  return named(
    'Coins',
    object({
      chainHeight: HEIGHT,
      chaintipHash: BLOCK_HASH,
      bitmap: { type: 'string', pattern: '^[01]*$', description: 'For each outpoint of the request, 1 if it is unspent.' },
      utxos: described('The unspent ones, in the order of the request.', listOf(named('Coin', coin)))
    })
  );
}
