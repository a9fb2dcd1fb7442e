// Data that a component asks for, and asks for again when something has changed. What it had stays until the new answer is there.

import { useEffect, useRef, useState } from 'preact/hooks';
import { BusyError, KeyError, UnreachableError } from '../data/client';
import { useSession } from './session';
import type { Source } from '../data/source';

export interface Loaded<T> {
  /** The last answer to this question. */
  readonly value: T | undefined;
  /** Why there is no newer one. */
  readonly error: Error | undefined;
  /** Whether an answer is awaited. */
  readonly isLoading: boolean;
}

const AGAIN_MS = 2_000;

/** Answers that are kept, so that going back shows at once what was there. */
const MOST_ANSWERS = 60;

/** By source and question. */
const ANSWERS = new WeakMap<Source, Map<string, unknown>>();

function keep(source: Source, question: string, value: unknown): void {
  const answers = ANSWERS.get(source) ?? new Map<string, unknown>();
  ANSWERS.set(source, answers);
  answers.delete(question);
  answers.set(question, value);
  const [oldest] = answers.keys();
  if (answers.size > MOST_ANSWERS && oldest !== undefined) answers.delete(oldest);
}

const keptAnswer = (source: Source | undefined, question: string): unknown => source && ANSWERS.get(source)?.get(question);

/**
 * `question`: what is asked; with another one the former answer is forgotten. `version`: what the answer depends on besides. Asks again
 * after a while when the node is busy or gone.
 */
export function useLoaded<T>(question: string, version: string | number, ask: () => Promise<T>): Loaded<T> {
  const session = useSession();
  const { source } = session;
  const kept = (): Loaded<T> & { readonly question: string } => ({
    question,
    value: keptAnswer(source, question) as T | undefined,
    error: undefined,
    isLoading: true
  });
  const [state, setState] = useState(kept);
  const [attempt, setAttempt] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (change: Partial<Loaded<T>>): void => {
      if (isOver) return;
      setState((before) => ({
        ...(before.question === question ? before : kept()),
        isLoading: false,
        ...change
      }));
    };
    show({ isLoading: true });
    latest.current().then(
      (value) => {
        if (source !== undefined) keep(source, question, value);
        show({ value, error: undefined });
      },
      (error: unknown) => {
        if (isOver) return;
        if (error instanceof KeyError) session.refuseKey(error.message);
        if (error instanceof BusyError || error instanceof UnreachableError)
          timer = setTimeout(() => {
            setAttempt((n) => n + 1);
          }, AGAIN_MS);
        show({ error: error instanceof Error ? error : new Error(String(error)) });
      }
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [question, version, attempt, source]);
  return state.question === question ? state : kept();
}
