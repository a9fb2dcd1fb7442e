// A transaction in a list: of a block, or of a history.

import { Amount } from '../../parts/amount';
import { ShortHash } from '../../parts/hash';
import { Time } from '../../parts/time';
import { transactionLink } from '../state/links';
import { feeRate } from '../state/sizes';
import { Sides } from './sides';
import type { Sats } from '../../parts/amounts';
import type { Transaction } from '../data/types';

/** Rows of each side that are shown at once. */
const ROWS = 5;

interface TransactionCardProps {
  readonly transaction: Transaction;
  /** The address whose history it is part of, and what the transaction did with its balance. */
  readonly address?: string | undefined;
  readonly effect?: Sats;
  /** Whether its block is said. */
  readonly hasTime?: boolean;
}

export function TransactionCard({ transaction, address, effect, hasTime = false }: TransactionCardProps) {
  const { txid, confirmation, fee, inputs } = transaction;
  const rate = feeRate(transaction);
  const isCoinbase = inputs[0]?.isCoinbase === true;
  return (
    <article class="card transaction" data-txid={txid} aria-label={`Transaction ${txid.slice(0, 8)}`}>
      <header>
        <a href={transactionLink(txid)}>
          <ShortHash text={txid} />
        </a>
        {hasTime && (confirmation === undefined ? <span class="badge warn">in the pool</span> : <Time seconds={confirmation.time} />)}
        <span class="push" />
        {effect !== undefined ? (
          <strong class={effect < 0n ? 'less' : 'more'}>
            <Amount sats={effect} signed />
          </strong>
        ) : (
          !isCoinbase && rate !== undefined && fee !== undefined && <span class="quiet small">{rate} sat/vB</span>
        )}
      </header>
      <Sides transaction={transaction} most={ROWS} address={address} />
    </article>
  );
}
