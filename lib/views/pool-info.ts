// The JSON of the pool's summary (mempoolInfoToJSON of Bitcoin Core, as in 0.17 and as since 31).

import { WEIGHT_PER_VBYTE } from '../bitcoin/transaction';
import { LIMITS } from '../policy/limits';
import { JsonWriter } from './json-writer';
import { described, named, object, type Schema } from '../describe/schema';
import { BYTES, COINS, CORE_FEE_RATE, COUNT, FLAG, VBYTES } from '../describe/values';
import type { PoolInfo } from '../node/types/pool';
import type { ProfileFields } from './profile';

/** The summary, and a line feed. `isBestOrder`: whether the order in which the contents were last shown is the best one. */
export function mempoolInfoJson(info: PoolInfo, fields: Pick<ProfileFields, 'chunks' | 'fullRbf'>, isBestOrder: boolean): Buffer {
  const writer = new JsonWriter();
  writer.ascii(fields.chunks ? '{"loaded":true,' : '{');
  writer.ascii(`"size":${info.size},"bytes":${info.bytes},"usage":${info.usage}`);
  if (fields.chunks) writer.amountField(',"total_fee":', info.totalFee);
  writer.integerField(',"maxmempool":', info.maxUsage);
  writer.amountField(',"mempoolminfee":', info.minFeeRate);
  writer.amountField(',"minrelaytxfee":', info.minRelayFeeRate);
  if (fields.chunks) {
    // Where the pool replaces nothing, nothing has to pay it.
    writer.amountField(',"incrementalrelayfee":', LIMITS.incrementalRate);
    writer.ascii(`,"unbroadcastcount":${info.unbroadcast},"permitbaremultisig":true,"maxdatacarriersize":${info.mostDataCarrierBytes}`);
    // bcoin limits ancestors, not clusters: up to these limits its pool is in the best order.
    writer.ascii(`,"limitclustercount":${LIMITS.mostInCluster},"limitclustersize":${LIMITS.mostClusterWeight / WEIGHT_PER_VBYTE}`);
    writer.ascii(`,"optimal":${isBestOrder}`);
    if (fields.fullRbf) writer.ascii(`,"fullrbf":${info.replaces}`);
  }
  writer.ascii('}\n');
  return writer.toBuffer();
}

/** What `mempoolInfoJson` writes. */
export function mempoolInfoSchema({ chunks, fullRbf }: Pick<ProfileFields, 'chunks' | 'fullRbf'>): Schema {
  return named(
    'MempoolInfo',
    object({
      ...(chunks && { loaded: FLAG }),
      size: described('The number of transactions.', COUNT),
      bytes: described('The virtual bytes of all transactions.', VBYTES),
      usage: described('The memory of the pool in bytes.', BYTES),
      ...(chunks && { total_fee: COINS }),
      maxmempool: described('The most memory that the pool may use, in bytes.', BYTES),
      mempoolminfee: described('What a transaction has to pay for entering, in BTC for each 1,000 virtual bytes.', CORE_FEE_RATE),
      minrelaytxfee: CORE_FEE_RATE,
      ...(chunks && {
        incrementalrelayfee: CORE_FEE_RATE,
        unbroadcastcount: COUNT,
        permitbaremultisig: FLAG,
        maxdatacarriersize: BYTES,
        limitclustercount: COUNT,
        limitclustersize: VBYTES,
        optimal: described('Whether the contents are in the best order.', FLAG)
      }),
      ...(fullRbf && { fullrbf: FLAG })
    })
  );
}
