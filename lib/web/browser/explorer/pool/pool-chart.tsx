// The pool by fee rate as bars, in each of which the part is marked that the next block would take.

import { grouped } from '../../parts/amounts';
import { sizeText } from '../state/sizes';
import { barsOf, nextBlock, rangeText } from './bands';
import type { Pool } from '../data/types';

export function PoolChart({ pool }: { readonly pool: Pool }) {
  const { bands, count, vsize } = pool;
  if (count === 0) return <p class="quiet">The pool is empty: the next transaction would be alone in the next block.</p>;
  if (bands === undefined)
    return <p class="quiet">{grouped(count)} transactions wait. Their fee rates are left out: there are too many.</p>;
  const bars = barsOf(bands);
  const most = Math.max(...bars.map((bar) => bar.vsize));
  const next = nextBlock(bands);
  return (
    <figure class="pool-chart">
      <figcaption class="quiet">
        The next block would take <strong>{sizeText(next.vsize, 'vB')}</strong> of {sizeText(vsize, 'vB')}
        {next.lowest !== undefined && ` at ${next.lowest.toFixed(2)} sat/vB and more`}.
      </figcaption>
      <div class="legend" aria-hidden="true">
        <span class="key-next">next block</span>
        <span class="key-later">later</span>
      </div>
      <div class="bars" role="table" aria-label="Virtual bytes in the pool by fee rate">
        <div role="row" class="unseen">
          <span role="columnheader">sat/vB</span>
          <span role="columnheader">waiting</span>
          <span role="columnheader">of these in the next block</span>
        </div>
        {[...bars].reverse().map((bar) => (
          <div class="bar-row" role="row" key={bar.from}>
            <span class="bar-rate" role="cell">
              {rangeText(bar)}
            </span>
            <span class="bar-track" role="cell">
              <span class="bar-next" style={{ width: `${(bar.next / most) * 100}%` }} />
              <span class="bar-later" style={{ width: `${((bar.vsize - bar.next) / most) * 100}%` }} />
              <span class="bar-size">{sizeText(bar.vsize, 'vB')}</span>
            </span>
            <span class="unseen" role="cell">
              {sizeText(bar.next, 'vB')}
            </span>
          </div>
        ))}
      </div>
      <p class="quiet small">Fee rates in sat/vB</p>
    </figure>
  );
}
