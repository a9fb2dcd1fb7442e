// The newest blocks, and what waits for the next one.

import { grouped } from '../../parts/amounts';
import { Hash } from '../../parts/hash';
import { Time } from '../../parts/time';
import { Answer, useTitle } from '../frame/page';
import { PoolChart } from '../pool/pool-chart';
import { RecentCard } from '../pool/pool-transactions';
import { blockLink } from '../state/links';
import { useLoadedOfPool } from '../state/loaded';
import { useSession, useSource } from '../state/session';
import { BlockRow } from './block-row';
import { Difficulty } from './difficulty';
import { FeesCard } from './fees-card';
import type { Block } from '../data/types';

export function HomePage() {
  useTitle('Newest blocks');
  const { blocks, fees } = useSession();
  const source = useSource();
  const pool = useLoadedOfPool('pool', () => source.pool());
  const [tip] = blocks;
  return (
    <>
      <h1 class="unseen">Newest blocks</h1>
      {tip === undefined ? <p class="quiet loading">Loading blocks …</p> : <BlockRow blocks={blocks} pool={pool.value} />}
      <div class="columns">
        <div class="column">
          <section class="card" aria-labelledby="pool">
            <h2 id="pool">Pool by fee rate</h2>
            <Answer of={pool} what="the pool">
              {(value) => <PoolChart pool={value} />}
            </Answer>
          </section>
          {source.scripts !== undefined && <RecentCard scripts={source.scripts} />}
        </div>
        <div class="column">
          {fees !== undefined && <FeesCard fees={fees} />}
          {tip !== undefined && (
            <>
              <section class="card" aria-labelledby="tip">
                <h2 id="tip">Newest block</h2>
                <TipFacts tip={tip} />
              </section>
              <section class="card" aria-labelledby="difficulty">
                <h2 id="difficulty">Difficulty</h2>
                <Difficulty tip={tip} />
              </section>
            </>
          )}
        </div>
      </div>
    </>
  );
}

function TipFacts({ tip }: { readonly tip: Block }) {
  return (
    <>
      <p class="big">
        <a href={blockLink(tip.hash)} data-field="tip">
          {grouped(tip.height)}
        </a>
      </p>
      <p class="quiet">
        <Time seconds={tip.time} exact />
      </p>
      <p>
        <Hash text={tip.hash} what="the hash of the newest block" />
      </p>
    </>
  );
}
