import { PolicyRefusal } from '../../lib/policy/refusal';

/** Reason and details; undefined: it is not refused. */
export function refusalOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof PolicyRefusal)) throw error;
    return error.message;
  }
}
