import { expect } from 'chai';
import { describe, it } from 'mocha';
import { mempoolInfoJson } from '../../lib/views/pool-info';
import { PROFILES } from '../../lib/views/profile';
import type { PoolInfo } from '../../lib/node/types/pool';

describe('the summary of the pool since Bitcoin Core 31', () => {
  const counted = { size: 3, bytes: 700, usage: 4_000, totalFee: 5_000, unbroadcast: 2 };
  const info: PoolInfo = {
    ...counted,
    mostDataCarrierBytes: 83,
    maxUsage: 300_000_000,
    minFeeRate: 100,
    minRelayFeeRate: 100,
    replaces: false
  };
  const shown = (isBestOrder: boolean): object => {
    const fields = { ...PROFILES.modern.fields, fullRbf: true };
    return JSON.parse(mempoolInfoJson(info, fields, isBestOrder).toString()) as object;
  };

  it('says whether the order is the best one', () => {
    expect([true, false].map(shown).map((json) => 'optimal' in json && json.optimal)).to.deep.equal([true, false]);
  });

  it('says what this pool does: how long data may be, and whether it replaces transactions', () => {
    expect(shown(true)).to.include({ maxdatacarriersize: 83, fullrbf: false, unbroadcastcount: 2 });
  });
});
