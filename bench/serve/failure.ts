// The text of a cell without a figure: a peer that fails spoils its own cells and nothing
// else.

import { AssertionError } from 'node:assert';
import type { LoadResult } from '../clients/load';

export interface Failure {
  /** A word or two. */
  readonly failure: string;
}

export const isFailure = (value: object | undefined): value is Failure => value !== undefined && 'failure' in value;

/** Thrown when not all requests of an order were answered with 200. */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError';
  readonly failure: string;

  constructor({ answered, refused, failed, timedOut }: LoadResult) {
    super(`${answered} requests answered, ${refused} refused, ${failed} without a reply, ${timedOut} of them timed out`);
    this.failure = timedOut > 0 ? 'timed out' : failed > 0 ? 'no reply' : 'refused';
  }
}

export function failureOf(error: unknown): Failure {
  if (error instanceof UnansweredError) return { failure: error.failure };
  return { failure: error instanceof AssertionError ? 'wrong' : 'failed' };
}

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
