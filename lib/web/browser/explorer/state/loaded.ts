// Data that a component asks for, and asks for again when something has changed. What it had stays until the new answer is there.

import { useEffect, useRef, useState } from 'preact/hooks';
import { isPassing, KeyError } from '../data/client';
import { useSession } from './session';
import type { Source } from '../data/source';

export interface Loaded<T> {
  /** The last answer to this question. */
  readonly value: T | undefined;
  /** Why there is no newer one. */
  readonly error: Error | undefined;
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
 * `question`: what is asked; with another one the former answer is forgotten. `version`: what the answer depends on besides. One answer
 * is awaited at a time: if the version has changed meanwhile, the answer is shown and asked for again, so that even answers that take
 * longer than changes are seen. Asks again after a while when the node is busy or gone.
 */
export function useLoaded<T>(question: string, version: string | number, ask: () => Promise<T>): Loaded<T> {
  const session = useSession();
  const { source } = session;
  const kept = (): Loaded<T> & { readonly question: string } => ({
    question,
    value: keptAnswer(source, question) as T | undefined,
    error: undefined
  });
  const [state, setState] = useState(kept);
  const latest = useRef({ question, ask, version });
  latest.current = { question, ask, version };
  const refresh = useRef<() => void>(() => undefined);
  useEffect(() => {
    let isOver = false;
    let isAsking = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (change: Partial<Loaded<T>>): void => {
      if (!isOver) setState((before) => ({ ...(before.question === question ? before : kept()), ...change }));
    };
    const load = async (): Promise<void> => {
      clearTimeout(timer);
      // Rendered, but its effects are yet to run: they begin anew.
      if (latest.current.question !== question) return;
      isAsking = true;
      const asked = latest.current;
      try {
        const value = await asked.ask();
        if (source !== undefined) keep(source, question, value);
        show({ value, error: undefined });
      } catch (error) {
        if (isOver) return;
        if (error instanceof KeyError) session.refuseKey(error.message);
        if (isPassing(error)) timer = setTimeout(() => void load(), AGAIN_MS);
        show({ error: error instanceof Error ? error : new Error(String(error)) });
      }
      isAsking = false;
      if (!isOver && latest.current.version !== asked.version) void load();
    };
    refresh.current = () => {
      if (!isAsking) void load();
    };
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [question, source]);
  useEffect(() => {
    refresh.current();
  }, [question, source, version]);
  return state.question === question ? state : kept();
}

/** As `useLoaded`, for what depends on pool and chain. */
export function useLoadedOfPool<T>(question: string, ask: () => Promise<T>): Loaded<T> {
  const { poolVersion, chainVersion } = useSession();
  return useLoaded(question, `${poolVersion}/${chainVersion}`, ask);
}
