import type { Fees } from '../data/types';

const TILES: readonly (readonly [field: keyof Fees, within: string])[] = [
  ['fastestFee', 'Next block'],
  ['halfHourFee', '30 minutes'],
  ['hourFee', '1 hour'],
  ['economyFee', 'No hurry']
];

/** Three digits of a rate, or all that are before its decimal point. */
const rateText = (rate: number): string => String(rate < 100 ? Number(rate.toPrecision(3)) : Math.round(rate));

/** Recommended fee rates. */
export function FeesCard({ fees }: { readonly fees: Fees }) {
  return (
    <section class="card" aria-labelledby="fees">
      <h2 id="fees">Recommended fees</h2>
      <dl class="tiles">
        {TILES.map(([field, within]) => (
          <div class="tile" key={field}>
            <dt>{within}</dt>
            <dd>
              <span class="big" data-field={field}>
                {rateText(fees[field])}
              </span>{' '}
              <span class="unit">sat/vB</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
