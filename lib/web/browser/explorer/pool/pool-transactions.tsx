import { Amount } from '../../parts/amount';
import { ShortHash } from '../../parts/hash';
import { transactionLink } from '../state/links';
import { rateText } from '../state/sizes';
import type { PoolTransaction } from '../data/types';

/** The transactions that entered the pool last. */
export function PoolTransactions({ list }: { readonly list: readonly PoolTransaction[] }) {
  if (list.length === 0) return <p class="quiet">None yet.</p>;
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Transaction</th>
          <th scope="col" class="number">
            Amount
          </th>
          <th scope="col" class="number">
            sat/vB
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map(({ txid, value, fee, vsize }) => (
          <tr key={txid} data-txid={txid}>
            <td>
              <a href={transactionLink(txid)}>
                <ShortHash text={txid} />
              </a>
            </td>
            <td class="number">
              <Amount sats={value} />
            </td>
            <td class="number">{rateText(fee, vsize)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
