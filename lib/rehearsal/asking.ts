// Asks as many clients at the same time would: each asks its next question, or the next few together, when it has the replies.

import type { OwnConnections } from './own-connections';
import type { ClientKind } from './questions';
import type { Subject } from './subjects';

/** Clients at a time. */
const CLIENTS = 8;

/** Makes a function for one client that says of each piece that is read how many replies end in it. */
export type RepliesOf = () => (piece: Buffer) => number;

/** Who is asked, by whom, and how replies are told apart. */
export interface Asked {
  readonly connections: OwnConnections;
  /** Each client is of the next kind. */
  readonly kinds: readonly ClientKind[];
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
  { connections, kinds, repliesOf }: Asked,
  subjects: readonly Subject[],
  { from, to, end }: Span
): Promise<void> {
  let next = from;
  const textOfSome = ({ questions, together }: ClientKind): string => {
    let text = '';
    for (const last = Math.min(to, next + together); next < last; next++) {
      const [question, subject] = [questions[next % questions.length], subjects[next % subjects.length]];
      if (question !== undefined && subject !== undefined) text += question(subject);
    }
    return text;
  };
  const runClient = async (kind: ClientKind): Promise<void> => {
    const client = await connections.connect();
    const repliesIn = repliesOf();
    let due = 0;
    const ask = (): void => {
      const before = next;
      const text = performance.now() > end ? '' : textOfSome(kind);
      due = next - before;
      if (text === '') client.destroy();
      else client.write(text);
    };
    client.on('data', (piece: Buffer) => {
      due -= repliesIn(piece);
      if (due === 0) ask();
    });
    if (kind.greeting === undefined) ask();
    else {
      due = 1;
      client.write(kind.greeting);
    }
    await new Promise((resolve) => client.once('close', resolve));
  };
  const clients = Array.from({ length: CLIENTS }, (_, i) => kinds[i % kinds.length]).filter((kind) => kind !== undefined);
  await Promise.all(clients.map(runClient));
}

const LINE_END = 0x0a;

export const LINES: RepliesOf = () => (piece) => {
  let count = 0;
  for (let at = piece.indexOf(LINE_END); at >= 0; at = piece.indexOf(LINE_END, at + 1)) count++;
  return count;
};

/** Over HTTP: replies that have a length. */
export const BODIES: RepliesOf = () => {
  let left = 0;
  return (piece) => {
    if (left === 0) left = lengthOf(piece);
    left -= piece.length;
    return left === 0 ? 1 : 0;
  };
};

/** Of a reply, with its headers, of which the first piece has all. */
function lengthOf(first: Buffer): number {
  const headers = first.toString('latin1', 0, first.indexOf('\r\n\r\n') + 4);
  return headers.length + Number(/^content-length: (\d+)/im.exec(headers)?.[1]);
}
