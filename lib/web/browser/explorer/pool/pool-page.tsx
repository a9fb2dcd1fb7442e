// The transactions that wait for a block.

import { Amount } from '../../parts/amount';
import { grouped } from '../../parts/amounts';
import { Answer, Fact, useTitle } from '../frame/page';
import { FeeTiles } from '../home/fee-tiles';
import { useLoaded } from '../state/loaded';
import { useSession, useSource } from '../state/session';
import { sizeText } from '../state/sizes';
import { PoolChart } from './pool-chart';
import { RecentTransactions } from './pool-transactions';

export function PoolPage() {
  useTitle('Pool');
  const { poolVersion, chainVersion, fees } = useSession();
  const source = useSource();
  const version = `${poolVersion}/${chainVersion}`;
  const pool = useLoaded('pool', version, () => source.pool());
  const recent = useLoaded('recent', version, () => source.scripts?.recent() ?? Promise.resolve([]));
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
          {fees !== undefined && (
            <section class="card" aria-labelledby="fees">
              <h2 id="fees">Recommended fees</h2>
              <FeeTiles fees={fees} />
            </section>
          )}
          <section class="card" aria-labelledby="recent">
            <h2 id="recent">Newest transactions</h2>
            <Answer of={recent} what="transactions">
              {(list) => <RecentTransactions list={list} />}
            </Answer>
          </section>
        </>
      )}
    </>
  );
}
