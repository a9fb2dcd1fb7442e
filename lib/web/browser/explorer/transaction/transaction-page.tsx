import { useEffect, useState } from 'preact/hooks';
import { Amount } from '../../parts/amount';
import { grouped } from '../../parts/amounts';
import { CopyButton } from '../../parts/copy-button';
import { Hash } from '../../parts/hash';
import { Time } from '../../parts/time';
import { vsizeOf, type PoolPlace, type Transaction } from '../data/types';
import { Answer, Fact, useTitle } from '../frame/page';
import { PoolTransactions } from '../pool/pool-transactions';
import { blockLink, searchLink, transactionLink } from '../state/links';
import { useLoaded } from '../state/loaded';
import { useSession, useSource, useTracked } from '../state/session';
import { feeRate, sizeText } from '../state/sizes';
import { LongText } from './long-text';
import { Sides } from './sides';

/** Rows of each side that are shown at once. */
const ROWS = 50;

/** Transactions with which it is mined that are listed. */
const MOST_OTHERS = 25;

const LOCKTIME_IS_TIME = 500_000_000;

export function TransactionPage({ txid, output }: { readonly txid: string; readonly output: number | undefined }) {
  useTitle(`Transaction ${txid.slice(0, 8)}`);
  const { replacements } = useSession();
  const source = useSource();
  const version = useTracked({ kind: 'transaction', text: txid });
  const transaction = useLoaded(`tx ${txid}`, version, () => source.transaction(txid));
  const spends = useLoaded(`spends ${txid}`, version, () => source.scripts?.spends(txid) ?? Promise.resolve(undefined));
  const isPooled = transaction.value !== undefined && transaction.value.confirmation === undefined && transaction.error === undefined;
  useEffect(() => {
    if (output !== undefined && transaction.value !== undefined) document.querySelector('.pointed')?.scrollIntoView({ block: 'center' });
  }, [output, transaction.value === undefined]);
  const pooled = usePooled(isPooled ? txid : undefined, version);
  const replacement = replacements.get(txid);
  return (
    <>
      <h1>Transaction</h1>
      <p class="subject">
        <Hash text={txid} what="the txid" />
      </p>
      {replacement !== undefined && (
        <p class="note warn" role="status">
          Another transaction has taken its place: <a href={transactionLink(replacement)}>{replacement}</a>
        </p>
      )}
      <Answer
        of={transaction}
        what="the transaction"
        missing={
          <>
            <p>Neither the chain nor the pool has this transaction.</p>
            <p class="quiet">
              It may not have been sent yet, may have been replaced, or may be of another network.{' '}
              <a href={searchLink(txid)}>Look for a block or a script with this hash</a>
            </p>
          </>
        }
      >
        {(value) => (
          <>
            <Facts transaction={value} isMissing={transaction.error !== undefined} pooled={pooled} />
            {output !== undefined && output >= value.outputs.length && (
              <p class="note warn" role="status">
                It has no output {output}: the last one is {value.outputs.length - 1}.
              </p>
            )}
            <section class="card" aria-labelledby="sides">
              <h2 id="sides" class="unseen">
                Inputs and outputs
              </h2>
              <Sides transaction={value} most={ROWS} isWhole spends={spends.value} output={output} />
            </section>
            {pooled.place !== undefined && pooled.place.others.length > 0 && <Others others={pooled.place.others} />}
            <Raw txid={txid} size={value.size} />
          </>
        )}
      </Answer>
    </>
  );
}

/** What is known of a transaction as long as it waits for a block. */
interface Pooled {
  readonly place: PoolPlace | undefined;
  readonly since: number | undefined;
}

/** `txid`: undefined for a transaction that does not wait. */
function usePooled(txid: string | undefined, version: string): Pooled {
  const { scripts } = useSource();
  const { placed } = useSession();
  const place = useLoaded(`place in the pool ${txid}`, version, async () => (txid === undefined ? undefined : scripts?.placeInPool(txid)));
  const since = useLoaded(`since ${txid}`, version, async () => (txid === undefined ? undefined : scripts?.enteredAt(txid)));
  return { place: txid !== undefined && placed?.txid === txid ? placed.place : place.value, since: since.value };
}

interface FactsProps {
  readonly transaction: Transaction;
  readonly isMissing: boolean;
  readonly pooled: Pooled;
}

function Facts({ transaction, isMissing, pooled: { place, since } }: FactsProps) {
  const { confirmation, size, weight, version, locktime, inputs, outputs } = transaction;
  const isCoinbase = inputs[0]?.isCoinbase === true;
  const total = outputs.reduce((sum, { value }) => sum + value, 0n);
  return (
    <dl class="card facts">
      <Fact term="State">
        <State confirmation={confirmation} isMissing={isMissing} />
      </Fact>
      {since !== undefined && (
        <Fact term="In the pool since">
          <Time seconds={since} exact />
        </Fact>
      )}
      {place?.blocksBefore !== undefined && (
        <Fact term="Expected">
          <span data-field="expected">{expectedText(place.blocksBefore)}</span>
        </Fact>
      )}
      {confirmation !== undefined && (
        <Fact term="Block">
          <a href={blockLink(confirmation.hash)} data-field="block">
            {grouped(confirmation.height)}
          </a>{' '}
          <span class="quiet">
            <Time seconds={confirmation.time} exact />
          </span>
        </Fact>
      )}
      <Fact term="Amount">
        <span data-field="total">
          <Amount sats={total} />
        </span>
      </Fact>
      {!isCoinbase && (
        <Fact term="Fee">
          <Fee transaction={transaction} place={place} />
        </Fact>
      )}
      <Fact term="Size">
        {sizeText(size)} <span class="quiet">{sizeText(vsizeOf(weight), 'vB')}</span>
      </Fact>
      <Fact term="Weight">
        <span data-field="weight">{grouped(weight)}</span>
      </Fact>
      <Fact term="Version">{version}</Fact>
      <Fact term="Lock time">
        {locktime === 0 ? 'none' : locktime < LOCKTIME_IS_TIME ? `block ${grouped(locktime)}` : <Time seconds={locktime} exact />}
      </Fact>
    </dl>
  );
}

function State({ confirmation, isMissing }: { readonly confirmation: Transaction['confirmation']; readonly isMissing: boolean }) {
  const { tip } = useSession();
  if (isMissing) return <span class="badge bad">no longer known</span>;
  if (confirmation === undefined)
    return (
      <span class="badge warn" data-field="state">
        in the pool, not confirmed
      </span>
    );
  const confirmations = tip && tip.height - confirmation.height + 1;
  return (
    <span class="badge good" data-field="state">
      {confirmations === undefined ? 'confirmed' : `${grouped(confirmations)} ${confirmations === 1 ? 'confirmation' : 'confirmations'}`}
    </span>
  );
}

function Fee({ transaction, place }: { readonly transaction: Transaction; readonly place: PoolPlace | undefined }) {
  const { fee } = transaction;
  if (fee === undefined) return <span class="quiet">not known: amounts of inputs are missing</span>;
  return (
    <>
      <span data-field="fee">
        <Amount sats={fee} />
      </span>{' '}
      <span class="quiet" data-field="rate">
        {feeRate(transaction)} sat/vB
      </span>
      {place !== undefined && place.others.length > 0 && (
        <>
          , <span data-field="common-rate">{place.rate.toFixed(2)} sat/vB</span> together with others
        </>
      )}
    </>
  );
}

const expectedText = (blocksBefore: number): string => (blocksBefore === 0 ? 'in the next block' : `in ${blocksBefore + 1} blocks`);

/** Those that a miner takes with it, because one pays for the other. */
function Others({ others }: { readonly others: PoolPlace['others'] }) {
  return (
    <section class="card" aria-labelledby="others">
      <h2 id="others">Mined together with</h2>
      <PoolTransactions list={others.slice(0, MOST_OTHERS)} term="Fee" amountOf={({ fee }) => fee} />
      {others.length > MOST_OTHERS && <p class="quiet small">and {grouped(others.length - MOST_OTHERS)} more</p>}
    </section>
  );
}

/** The bytes, once they are asked for. */
function Raw({ txid, size }: { readonly txid: string; readonly size: number }) {
  const source = useSource();
  const [isOpen, setOpen] = useState(false);
  return (
    <section class="card" aria-labelledby="raw">
      <div class="raw-head">
        <h2 id="raw">Raw transaction</h2>
        <CopyButton text={() => source.hex(txid)} what="the raw transaction" />
        {!isOpen && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              setOpen(true);
            }}
          >
            Show {sizeText(size)} as hex
          </button>
        )}
      </div>
      {isOpen && <Hex txid={txid} />}
    </section>
  );
}

function Hex({ txid }: { readonly txid: string }) {
  const source = useSource();
  const hex = useLoaded(`hex ${txid}`, 0, () => source.hex(txid));
  return (
    <Answer of={hex} what="the bytes">
      {(text) => <LongText text={text} what="raw transaction" />}
    </Answer>
  );
}
