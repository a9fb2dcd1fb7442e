// gettxout: an unspent output, of the chain or of the pool.

import { styleOf } from '../../answers/answers';
import { JsonWriter } from '../../views/json-writer';
import { described, named, nullable, object, type Schema } from '../../describe/schema';
import { ASKED_HASH, BLOCK_HASH, COINS, COUNT, FLAG } from '../../describe/values';
import { scriptPubKeySchema, writeScriptPubKey } from '../../views/script';
import { jsonAnswer, plainAnswer, type CallContext, type CallDefinition } from '../call';
import type { BlockPoint } from '../../node/types/chain';
import type { ProfileFields } from '../../views/profile';

interface FoundCoin {
  readonly tip: BlockPoint;
  readonly confirmations: number;
  readonly value: number;
  readonly script: Buffer;
  readonly coinbase: boolean;
}

export const coinCalls = {
  gettxout: {
    summary: 'An unspent output of the chain, or of the pool.',
    parameters: [
      { name: 'txid', type: 'string', schema: ASKED_HASH },
      { name: 'n', type: 'number', schema: { ...COUNT, maximum: 0xffff_ffff, description: 'The index of the output.' } },
      {
        name: 'include_mempool',
        type: 'bool',
        isOptional: true,
        schema: { ...FLAG, default: true, description: 'Whether the pool spends and creates outputs.' }
      }
    ],
    result: (fields) => described('null for an output that is spent or unknown.', nullable(coinSchema(fields))),
    answer: (parameters, context) => {
      const txid = parameters.hash(0);
      const index = parameters.integer(1, 0, 0, 0xffff_ffff);
      const found = find(txid, index, parameters.flag(2, true), context);
      return found === undefined ? plainAnswer(null) : jsonAnswer(coinJson(found, context));
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** Index and pool are read in one tick, so that the answer is of one moment. */
function find(txid: Buffer, index: number, withPool: boolean, { reader, node: { pool } }: CallContext): FoundCoin | undefined {
  return reader.read((snapshot) => {
    const { tip } = snapshot;
    if (withPool && pool.isSpent(txid, index)) return undefined;
    const coin = snapshot.coin(txid, index);
    if (coin !== undefined) {
      const { height, value, script, coinbase } = coin;
      return { tip, confirmations: tip.height - height + 1, value, script, coinbase };
    }
    const pooled = withPool ? pool.coin(txid, index) : undefined;
    return pooled && { tip, confirmations: 0, value: pooled.value, script: pooled.script, coinbase: false };
  });
}

function coinJson({ tip, confirmations, value, script, coinbase }: FoundCoin, context: CallContext): Buffer {
  const writer = new JsonWriter();
  writer.hashField('{"bestblock":', tip.hash);
  writer.integerField(',"confirmations":', confirmations);
  writer.amountField(',"value":', value);
  writer.ascii(',"scriptPubKey":');
  writeScriptPubKey(writer, script, 0, script.length, styleOf(context));
  writer.ascii(`,"coinbase":${coinbase}}`);
  return writer.toBuffer();
}

/** What `coinJson` writes. */
const coinSchema = (fields: ProfileFields): Schema =>
  named(
    'UnspentOutput',
    object({
      bestblock: BLOCK_HASH,
      confirmations: described('0 in the pool.', COUNT),
      value: COINS,
      scriptPubKey: scriptPubKeySchema(fields),
      coinbase: FLAG
    })
  );
