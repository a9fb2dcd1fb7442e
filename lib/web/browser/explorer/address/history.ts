// The transactions of an address as far as they were loaded: those of the pool, and the confirmed ones from the newest one down.

import { useLayoutEffect, useState } from 'preact/hooks';
import { useLoaded, type Loaded } from '../state/loaded';
import type { ScriptSource } from '../data/source';
import type { Subject, Transaction } from '../data/types';

export interface LoadedHistory {
  /** The answer for its beginning. */
  readonly newest: Loaded<readonly Transaction[]>;
  readonly confirmed: readonly Transaction[];
  /** Those of the pool, then the confirmed ones. */
  readonly list: readonly Transaction[];
  /** Of the page that was asked for last. */
  readonly state: 'ready' | 'loading' | 'failed';
  /** Asks for the next page. Never rejects. */
  readonly loadOlder: () => Promise<void>;
}

/** `version`: the beginning is asked for again when it is another one. */
export function useHistory(subject: Subject, scripts: ScriptSource, version: string): LoadedHistory {
  const newest = useLoaded(`history ${subject.kind} ${subject.text}`, version, () => scripts.history(subject));
  const [confirmed, setConfirmed] = useState<readonly Transaction[]>([]);
  const [state, setState] = useState<LoadedHistory['state']>('ready');
  // Before it is painted.
  useLayoutEffect(() => {
    setConfirmed((loaded) => joined((newest.value ?? []).filter(isConfirmed), loaded));
  }, [newest.value]);
  const list = [...(newest.value ?? []).filter((each) => !isConfirmed(each)), ...confirmed];
  const loadOlder = async (): Promise<void> => {
    const last = confirmed.at(-1);
    if (last === undefined) return;
    setState('loading');
    try {
      const page = await scripts.history(subject, last.txid);
      setConfirmed((loaded) => continued(loaded, last, page));
      setState('ready');
    } catch {
      setState('failed');
    }
  };
  return { newest, confirmed, list, state, loadOlder };
}

const isConfirmed = ({ confirmation }: Transaction): boolean => confirmation !== undefined;

/**
 * The list with a new answer for its beginning. What was loaded before stays where the answer ends in the same block as it did then: below
 * that, the chain is the same. Otherwise it is forgotten, and loaded again when the reader asks.
 */
function joined(newest: readonly Transaction[], loaded: readonly Transaction[]): readonly Transaction[] {
  const at = loaded.findIndex((each) => isSame(each, newest.at(-1)));
  return at < 0 ? newest : [...newest, ...loaded.slice(at + 1)];
}

/** The list with the page below one of its transactions, if it still ends with that: meanwhile it may have been forgotten. */
function continued(loaded: readonly Transaction[], last: Transaction, page: readonly Transaction[]): readonly Transaction[] {
  return isSame(last, loaded.at(-1)) ? [...loaded, ...page] : loaded;
}

/** Whether both are one transaction in one block; each answer has objects of its own. */
const isSame = (a: Transaction, b: Transaction | undefined): boolean => a.txid === b?.txid && a.confirmation?.hash === b.confirmation?.hash;
