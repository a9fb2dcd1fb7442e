import { Amount } from '../../parts/amount';
import { ShortHash } from '../../parts/hash';
import { Answer } from '../frame/page';
import { transactionLink } from '../state/links';
import { useLoadedOfPool } from '../state/loaded';
import { rateText } from '../state/sizes';
import type { Sats } from '../../parts/amounts';
import type { ScriptSource } from '../data/source';
import type { PoolTransaction, RecentTransaction } from '../data/types';

/** The transactions that entered the pool last. */
export function RecentCard({ scripts }: { readonly scripts: ScriptSource }) {
  const recent = useLoadedOfPool('recent', () => scripts.recent());
  return (
    <section class="card" aria-labelledby="recent">
      <h2 id="recent">Newest transactions</h2>
      <Answer of={recent} what="transactions">
        {(list) => <RecentTransactions list={list} />}
      </Answer>
    </section>
  );
}

function RecentTransactions({ list }: { readonly list: readonly RecentTransaction[] }) {
  if (list.length === 0) return <p class="quiet">None yet.</p>;
  return <PoolTransactions list={list} term="Amount" amountOf={({ value }) => value} />;
}

interface PoolTransactionsProps<T extends PoolTransaction> {
  readonly list: readonly T[];
  /** What the amount is. */
  readonly term: string;
  readonly amountOf: (transaction: T) => Sats;
}

/** Transactions of the pool, each with an amount and its rate. */
export function PoolTransactions<T extends PoolTransaction>({ list, term, amountOf }: PoolTransactionsProps<T>) {
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Transaction</th>
          <th scope="col" class="number">
            {term}
          </th>
          <th scope="col" class="number">
            sat/vB
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((transaction) => {
          const { txid, fee, vsize } = transaction;
          return (
            <tr key={txid} data-txid={txid}>
              <td>
                <a href={transactionLink(txid)}>
                  <ShortHash text={txid} />
                </a>
              </td>
              <td class="number">
                <Amount sats={amountOf(transaction)} />
              </td>
              <td class="number">{rateText(fee, vsize)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
