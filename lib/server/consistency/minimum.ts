// The earliest state from which a request may be answered: a block (`X-Rest-Min-Tip`, with the `X-Rest-Tip` of an earlier reply), or a
// point of the log (`X-Rest-Min-Seq`, with that of the reply to a broadcast).

import { HttpError, type HeaderList } from '../errors';
import type { IncomingMessage } from 'node:http';
import type { ChangePoint, LogPoint } from '../../node/types/fleet';

export interface Minimum {
  /** The hash that may follow it decides nothing: another block at this height has as much work, and the reply names it. */
  readonly height: number;
  /** A log of another name counts from its own beginning: nothing is known about a point of it. */
  readonly point: LogPoint | undefined;
}

const SEQUENCE_HEADER = 'X-Rest-Min-Seq';

const TIP = /^(\d{1,9})(?: [0-9a-fA-F]{64})?$/;
const POINT = /^(\d{1,15})(?: ([!-~]{1,64}))?$/;

/** undefined: any state will do. `log`: that of a number without a name. @throws HttpError 400 */
export function minimumOf({ headers }: Pick<IncomingMessage, 'headers'>, log: string): Minimum | undefined {
  const [tip, point] = [headers['x-rest-min-tip'], headers['x-rest-min-seq']];
  if (tip === undefined && point === undefined) return undefined;
  return { height: tip === undefined ? 0 : heightIn(String(tip)), point: point === undefined ? undefined : pointIn(String(point), log) };
}

/** The header from which a client learns what a later request may ask for, to be sure to see what this one has changed. */
export const sequenceHeaders = (change: ChangePoint | undefined): HeaderList =>
  typeof change === 'object' ? [SEQUENCE_HEADER, `${change.sequence} ${change.log}`] : [];

function heightIn(text: string): number {
  const [, height] = TIP.exec(text) ?? [];
  if (height === undefined) throw new HttpError(400, 'X-Rest-Min-Tip must be a height, alone or with the hash of a block after a space');
  return Number(height);
}

function pointIn(text: string, log: string): LogPoint {
  const [, sequence, name = log] = POINT.exec(text) ?? [];
  if (sequence === undefined) throw new HttpError(400, 'X-Rest-Min-Seq must be a number, alone or with the name of a log after a space');
  return { sequence: Number(sequence), log: name };
}
