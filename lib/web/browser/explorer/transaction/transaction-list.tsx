import { useEffect, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { Transaction } from '../data/types';

/** Cards that are drawn in one go. */
const AT_ONCE = 5;

interface TransactionListProps {
  readonly list: readonly Transaction[];
  readonly card: (transaction: Transaction) => ComponentChildren;
}

/** Transactions in cards, drawn some at a time, so that the browser answers its reader in between. */
export function TransactionList({ list, card }: TransactionListProps) {
  const [drawn, setDrawn] = useState(AT_ONCE);
  const { length } = list;
  useEffect(() => {
    if (drawn >= length) return;
    const timer = setTimeout(() => {
      setDrawn(drawn + AT_ONCE);
    });
    return () => {
      clearTimeout(timer);
    };
  }, [drawn, length]);
  return <div class="stack">{list.slice(0, drawn).map(card)}</div>;
}
