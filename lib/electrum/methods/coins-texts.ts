// Unspent outputs of scripts as JSON. The text of the chain's coins is cached, and right until a block changes rows of the script. If the
// pool has to do with the script, the text is made each time.

import { RowCache } from '../../answers/scripts/row-cache';
import { compareDisplayed } from '../../bitcoin/hash';
import { TXID_LENGTH } from '../../bitcoin/transaction';
import { TooManyCoinsError } from '../../scripts/errors';
import { heightIn } from '../../scripts/records/positions';
import { ownCopy } from '../../system/own-copy';
import { runInSlices } from '../../turns/slices';
import { sorted } from '../../turns/sorted';
import { JsonWriter } from '../../views/json-writer';
import { beginItem, ITEM_LENGTH, ITEMS_PER_SLICE } from './history-texts';
import { COIN_POINTS } from './points';
import type { PooledOutputs } from '../../answers/scripts/pooled-script';
import type { ScriptHistory } from '../../answers/status/history';
import type { ScriptCoins } from '../../scripts/script-coins';
import type { AnswerCache } from '../../server/cache/answer-cache';
import type { ElectrumClient, MethodContext } from '../method';

/** The coins of the chain as a list, with its brackets. */
interface ChainText {
  readonly coins: number;
  readonly text: Buffer;
}

export class CoinsTexts {
  readonly #cached: RowCache<ChainText>;
  readonly #coins: MethodContext['coins'];
  readonly #most: number;

  /** `most`: coins of one script. */
  constructor(cache: AnswerCache, coins: MethodContext['coins'], most: number) {
    this.#cached = new RowCache(cache, 'coins-text', ({ text }) => text.length);
    this.#coins = coins;
    this.#most = most;
  }

  /** Those of the chain first. @throws TooManyCoinsError */
  of(history: ScriptHistory, client: ElectrumClient): Buffer | Promise<Buffer> {
    if (!history.pooled.isEmpty) return this.#withPool(history, client);
    const known = this.#cached.get(history.script, history.snapshot);
    if (known === undefined) return this.#ofChain(history, client);
    client.charge(known.coins * COIN_POINTS);
    return known.text;
  }

  #ofChain({ script, snapshot }: ScriptHistory, client: ElectrumClient): Buffer | Promise<Buffer> {
    const written = (unspent: ScriptCoins): Buffer | Promise<Buffer> => {
      client.charge(unspent.count * COIN_POINTS);
      const keep = (text: Buffer): Buffer => {
        this.#cached.setIfAskedBefore(script, snapshot.stamp, () => ({ coins: unspent.count, text: ownCopy(text) }));
        return text;
      };
      if (unspent.count > ITEMS_PER_SLICE) return runInSlices(coinsText(unspent), client).then(keep);
      const writer = beginCoins(unspent.count);
      writeCoins(writer, unspent, 0, unspent.count);
      return keep(endCoins(writer));
    };
    const found = this.#coins.of(script, this.#most, snapshot, client);
    return found instanceof Promise ? found.then(written) : written(found);
  }

  async #withPool({ script, snapshot, pooled }: ScriptHistory, client: ElectrumClient): Promise<Buffer> {
    const ofPool = await pooled.outputs(client);
    const ofChain = await this.#coins.of(script, this.#most + ofPool.totals.spent.count, snapshot, client);
    client.charge((ofChain.count + ofPool.coins.length) * COIN_POINTS);
    const unspent = ofChain.without(ofPool.spends);
    if (unspent.count + ofPool.coins.length > this.#most) throw new TooManyCoinsError(this.#most);
    return runInSlices(coinsText(unspent, await runInSlices(sorted(ofPool.coins, byOutpoint), client)), client);
  }
}

type MadeCoin = PooledOutputs['coins'][number];

const byOutpoint = (a: MadeCoin, b: MadeCoin): number => compareDisplayed(a.txid, b.txid) || a.index - b.index;

/** `made`: in the pool. */
function* coinsText(ofChain: ScriptCoins, made: readonly MadeCoin[] = []): Generator<void, Buffer> {
  const writer = beginCoins(ofChain.count + made.length);
  for (let from = 0; from < ofChain.count; from += ITEMS_PER_SLICE) {
    writeCoins(writer, ofChain, from, Math.min(from + ITEMS_PER_SLICE, ofChain.count));
    yield;
  }
  for (const [i, { txid, index, value }] of made.entries()) {
    beginItem(writer, txid, 0);
    endCoin(writer, index, value);
    if (i % ITEMS_PER_SLICE === ITEMS_PER_SLICE - 1) yield;
  }
  return endCoins(writer);
}

function beginCoins(count: number): JsonWriter {
  const writer = new JsonWriter(count * ITEM_LENGTH + 2);
  writer.ascii('[');
  return writer;
}

function writeCoins(writer: JsonWriter, { positions, txids, indexes, values }: ScriptCoins, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    beginItem(writer, txids, heightIn(positions[i] as number), i * TXID_LENGTH); // within the columns
    endCoin(writer, indexes[i] as number, values[i] as number);
  }
}

function endCoin(writer: JsonWriter, index: number, value: number): void {
  writer.integerField(',"tx_pos":', index);
  writer.integerField(',"value":', value);
  writer.ascii('}');
}

function endCoins(writer: JsonWriter): Buffer {
  writer.ascii(']');
  return writer.toBuffer();
}
