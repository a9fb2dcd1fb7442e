// What every page has: a title, and the signs of loading and of errors.

import { useEffect } from 'preact/hooks';
import { isPassing, NotFoundError } from '../data/client';
import type { ComponentChildren } from 'preact';
import type { Loaded } from '../state/loaded';

/** The title of the document. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Explorer`;
  }, [title]);
}

interface AnswerProps<T> {
  readonly of: Loaded<T>;
  /** What is loaded, as in `Loading the block …`. */
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
  /** What is said of something that is not there; by default the node's own words. */
  readonly missing?: ComponentChildren;
}

/** The answer, or why there is none. Beside an older answer an error is only a note. */
export function Answer<T>({ of: { value, error }, what, children, missing }: AnswerProps<T>) {
  if (value === undefined && error === undefined) return <p class="quiet loading">Loading {what} …</p>;
  return (
    <>
      {error !== undefined && (value === undefined || !(error instanceof NotFoundError)) && (
        <Fault error={error} what={what} missing={missing} />
      )}
      {value !== undefined && children(value)}
    </>
  );
}

function Fault({ error, what, missing }: { readonly error: Error; readonly what: string; readonly missing?: ComponentChildren }) {
  return (
    <div class="note bad" role="alert">
      {error instanceof NotFoundError && missing !== undefined ? missing : <p>{error.message || `There is no answer for ${what}.`}</p>}
      {isPassing(error) && <p class="quiet">Trying again …</p>}
    </div>
  );
}

/** A term and what it says. */
export function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}
