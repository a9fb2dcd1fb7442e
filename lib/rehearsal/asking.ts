// Asks as many clients do at the same time: each asks its next question when it has the reply.

import type { Socket } from 'node:net';
import type { OwnConnections } from './own-connections';
import type { Question } from './questions';
import type { Subject } from './subjects';

/** Clients at a time. */
const CLIENTS = 8;

/** Makes a function for one client that says of each piece that is read whether a reply ends with it. */
export type RepliesOf = () => (piece: Buffer) => boolean;

const LINE_END = 0x0a;

export const replyLines: RepliesOf = () => (piece) => piece.at(-1) === LINE_END;

/** Replies over HTTP that have a length. */
export const replyBodies: RepliesOf = () => {
  let left = 0;
  return (piece) => {
    if (left === 0) left = lengthOf(piece);
    left -= piece.length;
    return left === 0;
  };
};

/** Of a reply, with its headers, of which the first piece has all. */
function lengthOf(first: Buffer): number {
  const headers = first.toString('latin1', 0, first.indexOf('\r\n\r\n') + 4);
  return headers.length + Number(/^content-length: (\d+)/im.exec(headers)?.[1]);
}

/** Who is asked, and what. */
export interface Asked {
  readonly connections: OwnConnections;
  readonly questions: readonly Question[];
  readonly repliesOf: RepliesOf;
}

/** Questions by number: each is about the next subject. They are asked until `end`, in milliseconds of `performance.now()`. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

/** Asks the questions of the span, over new connections. Resolves when all are answered, or the time is over, or the connections end. */
export async function askAll(
  { connections, questions, repliesOf }: Asked,
  subjects: readonly Subject[],
  { from, to, end }: Span
): Promise<void> {
  let next = from;
  const ask = (client: Socket): void => {
    const question = questions[next % questions.length];
    const subject = subjects[next % subjects.length];
    if (question === undefined || subject === undefined || next >= to || performance.now() > end) client.destroy();
    else {
      next++;
      client.write(question(subject));
    }
  };
  const runClient = async (): Promise<void> => {
    const client = await connections.connect();
    const isReply = repliesOf();
    client.on('data', (piece: Buffer) => {
      if (isReply(piece)) ask(client);
    });
    ask(client);
    await new Promise((resolve) => client.once('close', resolve));
  };
  await Promise.all(Array.from({ length: CLIENTS }, runClient));
}
