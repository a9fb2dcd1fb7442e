// An address, or a script by its hash: balance, history, coins.

import { ErrorBoundary, lazy } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { Amount } from '../../parts/amount';
import { amountLine, grouped } from '../../parts/amounts';
import { Hash, ShortHash } from '../../parts/hash';
import { QrCode } from '../../parts/qr-code';
import { UNIT, useSetting } from '../../parts/settings';
import { Time } from '../../parts/time';
import { exactTime } from '../../parts/times';
import { PAGE, type ScriptSource } from '../data/source';
import { Answer, Fact, useTitle } from '../frame/page';
import { searchLink, subjectLink, transactionLink } from '../state/links';
import { useLoaded } from '../state/loaded';
import { useSource, useTracked } from '../state/session';
import { TransactionCard } from '../transaction/transaction-card';
import { TransactionList } from '../transaction/transaction-list';
import { isSameAddress } from './own';
import { balancesOf, effectOf } from './balance';
import { useHistory } from './history';
import type { Coin, Output, Subject, SubjectStats, Transaction } from '../data/types';

const BalanceChart = lazy(() => import('./balance-chart'));

type View = 'history' | 'coins';

export function AddressPage({ subject, view }: { readonly subject: Subject; readonly view: View }) {
  const isAddress = subject.kind === 'address';
  useTitle(isAddress ? `Address ${subject.text.slice(0, 12)}` : `Script ${subject.text.slice(0, 8)}`);
  const { scripts } = useSource();
  return (
    <>
      <h1>{isAddress ? 'Address' : 'Script'}</h1>
      <p class="subject">
        <Hash text={subject.text} what={isAddress ? 'the address' : 'the script hash'} />
      </p>
      {scripts === undefined ? (
        <p class="note">This node cannot say anything about addresses now: it has no index by script.</p>
      ) : (
        <Known subject={subject} view={view} scripts={scripts} />
      )}
    </>
  );
}

interface KnownProps {
  readonly subject: Subject;
  readonly view: View;
  readonly scripts: ScriptSource;
}

function Known({ subject, view, scripts }: KnownProps) {
  const version = useTracked(subject.kind === 'address' ? { kind: 'address', text: subject.text } : undefined);
  const name = `${subject.kind} ${subject.text}`;
  const stats = useLoaded(name, version, () => scripts.stats(subject));
  return (
    <Answer
      of={stats}
      what="the balance"
      missing={
        <p>
          The node knows no such script. <a href={searchLink(subject.text)}>Look for something else with this text</a>
        </p>
      }
    >
      {(value) => (
        <>
          <Overview subject={subject} stats={value} />
          <History subject={subject} stats={value} scripts={scripts} version={version} view={view} />
        </>
      )}
    </Answer>
  );
}

function Overview({ subject, stats: { chain, pool } }: { readonly subject: Subject; readonly stats: SubjectStats }) {
  const balance = chain.funded.value - chain.spent.value;
  const coming = pool.funded.value - pool.spent.value;
  return (
    <div class="overview">
      <dl class="card facts">
        <Fact term="Balance">
          <span class="big" data-field="balance">
            <Amount sats={balance} />
          </span>
          {pool.transactions > 0 && (
            <span class="quiet" data-field="pending">
              {' '}
              <Amount sats={coming} signed /> in the pool
            </span>
          )}
        </Fact>
        <Fact term="Received">
          <span data-field="received">
            <Amount sats={chain.funded.value} />
          </span>{' '}
          <span class="quiet">{outputs(chain.funded.count)}</span>
        </Fact>
        <Fact term="Spent">
          <span data-field="spent">
            <Amount sats={chain.spent.value} />
          </span>{' '}
          <span class="quiet">{outputs(chain.spent.count)}</span>
        </Fact>
        <Fact term="Transactions">
          <span data-field="transactions">{grouped(chain.transactions)}</span>
          {pool.transactions > 0 && <span class="quiet"> and {grouped(pool.transactions)} in the pool</span>}
        </Fact>
      </dl>
      {subject.kind === 'address' && (
        <div class="card code">
          <QrCode text={`bitcoin:${subject.text}`} label={`QR code of the address ${subject.text}`} />
        </div>
      )}
    </div>
  );
}

const outputs = (count: number): string => `in ${grouped(count)} ${count === 1 ? 'output' : 'outputs'}`;

/** Whether an output is the subject's: by hash that is not known, since outputs do not have their hashes. */
const ownBy = ({ kind, text }: Subject) =>
  kind === 'address' ? ({ address }: Pick<Output, 'address'>): boolean => isSameAddress(address, text) : undefined;

interface HistoryProps extends KnownProps {
  readonly stats: SubjectStats;
  readonly version: string;
}

function History({ subject, stats, scripts, version, view }: HistoryProps) {
  const { newest, confirmed, list, state, loadOlder } = useHistory(subject, scripts, version);
  const isOwn = ownBy(subject);
  const link = subjectLink(subject);
  const left = stats.chain.transactions - confirmed.length;
  return (
    <>
      {isOwn !== undefined && stats.chain.transactions > 1 && confirmed.length > 0 && (
        <BalanceSection stats={stats} confirmed={confirmed} isOwn={isOwn} />
      )}
      <nav class="views" aria-label="Views">
        <a href={link} aria-current={view === 'history' ? 'page' : undefined}>
          History
        </a>
        <a href={`${link}?view=coins`} aria-current={view === 'coins' ? 'page' : undefined}>
          Coins
        </a>
      </nav>
      {view === 'coins' ? (
        <Coins subject={subject} scripts={scripts} version={version} />
      ) : (
        <section aria-labelledby="history">
          <h2 id="history" class="unseen">
            History
          </h2>
          <Answer of={newest} what="the history">
            {() =>
              list.length === 0 ? (
                <p class="quiet">No transaction has used it yet.</p>
              ) : (
                <TransactionList
                  list={list}
                  card={(transaction) => (
                    <TransactionCard
                      key={transaction.txid}
                      transaction={transaction}
                      hasTime
                      {...(isOwn && { address: subject.text, effect: effectOf(transaction, isOwn) })}
                    />
                  )}
                />
              )
            }
          </Answer>
          {left > 0 && confirmed.length > 0 && (
            <p class="more-row">
              <button type="button" disabled={state === 'loading'} onClick={() => void loadOlder()}>
                {state === 'loading' ? 'Loading …' : `Load ${Math.min(left, PAGE)} more of ${grouped(stats.chain.transactions)}`}
              </button>
              {state === 'failed' && <span role="alert"> The node did not answer. Try again.</span>}
            </p>
          )}
        </section>
      )}
    </>
  );
}

interface BalanceProps {
  readonly stats: SubjectStats;
  readonly confirmed: readonly Transaction[];
  readonly isOwn: (output: Pick<Output, 'address'>) => boolean;
}

function BalanceSection({ stats: { chain }, confirmed, isOwn }: BalanceProps) {
  const unit = useSetting(UNIT);
  const balance = chain.funded.value - chain.spent.value;
  const points = useMemo(
    () =>
      balancesOf(
        confirmed.map((each) => ({ effect: effectOf(each, isOwn), time: each.confirmation?.time ?? 0 })),
        balance
      ),
    [confirmed.length, confirmed[0]?.txid, balance]
  );
  const [first] = points;
  const isWhole = confirmed.length >= chain.transactions;
  return (
    <section class="card" aria-labelledby="balance-title">
      <h2 id="balance-title">Balance</h2>
      <p class="quiet small">
        {isWhole ? 'Over the whole history' : `Over the newest ${grouped(confirmed.length)} of ${grouped(chain.transactions)} transactions`}
        {first !== undefined && `, from ${amountLine(first.sats, unit)} (${exactTime(first.time)}) to ${amountLine(balance, unit)}`}.
      </p>
      <ErrorBoundary>
        <BalanceChart points={points} />
      </ErrorBoundary>
    </section>
  );
}

function Coins({ subject, scripts, version }: { readonly subject: Subject; readonly scripts: ScriptSource; readonly version: string }) {
  const coins = useLoaded(`coins ${subject.text}`, version, () => scripts.coins(subject));
  return (
    <section class="card" aria-labelledby="coins">
      <h2 id="coins">Coins</h2>
      <Answer of={coins} what="coins">
        {(list) => <CoinTable list={list} />}
      </Answer>
    </section>
  );
}

function CoinTable({ list }: { readonly list: readonly Coin[] }) {
  if (list.length === 0) return <p class="quiet">It has none.</p>;
  const newest = [...list].sort((a, b) => (b.confirmation?.height ?? Infinity) - (a.confirmation?.height ?? Infinity));
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Output</th>
          <th scope="col">Since</th>
          <th scope="col" class="number">
            Amount
          </th>
        </tr>
      </thead>
      <tbody>
        {newest.map(({ txid, vout, value, confirmation }) => (
          <tr key={`${txid}:${vout}`} data-coin={`${txid}:${vout}`}>
            <td>
              <a href={transactionLink(txid, vout)}>
                <ShortHash text={txid} />:{vout}
              </a>
            </td>
            <td>{confirmation === undefined ? <span class="badge warn">in the pool</span> : <Time seconds={confirmation.time} />}</td>
            <td class="number">
              <Amount sats={value} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
