// gettxoutsetinfo: what all coins of the chain add up to.

import { TxidsMissingError, type CoinStatsHash, type CoinSums } from '../../answers/chain/coin-stats';
import { invalidParameter, misc } from '../../answers/errors';
import { anyOf, described, named, object } from '../../describe/schema';
import { ASKED_HASH, BLOCK_HASH, COINS, COUNT, FLAG, HASH, HEIGHT } from '../../describe/values';
import { JsonWriter } from '../../views/json-writer';
import { jsonAnswer, type CallDefinition } from '../call';

/** What Bitcoin Core counts for a coin beside its script. */
const BYTES_BESIDE_SCRIPT = 50;

export const coinSetCalls = {
  gettxoutsetinfo: {
    summary: 'What all coins of the chain add up to; takes minutes on the main network.',
    parameters: [
      {
        name: 'hash_type',
        type: 'string',
        isOptional: true,
        schema: { enum: ['muhash', 'none'], default: 'muhash', description: 'The hash over all coins; muhash needs --rest-addresses.' }
      },
      {
        name: 'hash_or_height',
        type: 'any',
        isOptional: true,
        schema: described('Cannot be given: the tip is the only block.', anyOf(ASKED_HASH, HEIGHT))
      },
      { name: 'use_index', type: 'bool', isOptional: true, schema: described('Without effect: all coins are read.', FLAG) }
    ],
    result: () =>
      named(
        'CoinSet',
        object(
          {
            height: HEIGHT,
            bestblock: BLOCK_HASH,
            txouts: described('Coins.', COUNT),
            bogosize: described('A measure of their size.', COUNT),
            total_amount: COINS,
            transactions: described('Transactions with coins.', COUNT),
            disk_size: described('0: not known.', COUNT)
          },
          { muhash: HASH }
        )
      ),
    waits: true,
    answer: async (parameters, { coinStats }, client) => {
      const hash = hashIn(parameters.optionalText(0) ?? 'muhash');
      if (parameters.has(1)) throw invalidParameter('Querying specific block heights requires coinstatsindex');
      try {
        return jsonAnswer(textOf(await coinStats.sums(hash, client)));
      } catch (error) {
        throw error instanceof TxidsMissingError ? misc(error.message) : error;
      }
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** @throws CallError -8 */
function hashIn(text: string): CoinStatsHash {
  if (text === 'muhash' || text === 'none') return text;
  if (text === 'hash_serialized_3') throw invalidParameter('hash_serialized_3 cannot be made here: ask for muhash or none');
  throw invalidParameter(`'${text}' is not a valid hash_type`);
}

function textOf({ tip, coins, scriptBytes, muhash, satoshis, transactions }: CoinSums): Buffer {
  const writer = new JsonWriter();
  writer.ascii(`{"height":${tip.height}`);
  writer.hashField(',"bestblock":', tip.hash);
  writer.ascii(`,"txouts":${coins},"bogosize":${coins * BYTES_BESIDE_SCRIPT + scriptBytes}`);
  if (muhash !== undefined) writer.hashField(',"muhash":', muhash);
  // 21 million coins are below 2^53 satoshis.
  writer.amountField(',"total_amount":', Number(satoshis));
  writer.ascii(`,"transactions":${transactions},"disk_size":0}`);
  return writer.toBuffer();
}
