// The transactions that wait for a block.

import { Amount } from '../../parts/amount';
import { grouped } from '../../parts/amounts';
import { Answer, Fact, useTitle } from '../frame/page';
import { FeesCard } from '../home/fees-card';
import { useLoadedOfPool } from '../state/loaded';
import { useSession, useSource } from '../state/session';
import { sizeText } from '../state/sizes';
import { PoolChart } from './pool-chart';
import { RecentCard } from './pool-transactions';

export function PoolPage() {
  useTitle('Pool');
  const { fees } = useSession();
  const source = useSource();
  const pool = useLoadedOfPool('pool', () => source.pool());
  return (
    <>
      <h1>Pool</h1>
      <Answer of={pool} what="the pool">
        {(value) => (
          <>
            <dl class="card facts">
              <Fact term="Transactions">
                <span data-field="count">{grouped(value.count)}</span>
              </Fact>
              <Fact term="Size">{sizeText(value.vsize, 'vB')}</Fact>
              {value.fees !== undefined && (
                <Fact term="Fees">
                  <Amount sats={value.fees} />
                </Fact>
              )}
            </dl>
            <section class="card" aria-labelledby="by-rate">
              <h2 id="by-rate">By fee rate</h2>
              <PoolChart pool={value} />
            </section>
          </>
        )}
      </Answer>
      {source.scripts !== undefined && (
        <>
          {fees !== undefined && <FeesCard fees={fees} />}
          <RecentCard scripts={source.scripts} />
        </>
      )}
    </>
  );
}
