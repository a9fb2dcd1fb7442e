// The end of the log in words, for what a test says when it fails.

import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { parseNatsUrls } from '../../../lib/fleet/log/access';
import { connectToNats } from '../../../lib/fleet/log/connection';
import { subjectsOf } from '../../../lib/fleet/log/subjects';
import { decodeRecord } from '../../../lib/fleet/messages/record-codec';

const { stream } = subjectsOf('regtest');

/** Each of the last records in a line, the newest last. */
export async function logTail(url: string, count: number): Promise<string> {
  const access = parseNatsUrls(url);
  if (access === undefined) throw new Error(`expected ${url} to be right`);
  const { connection, manager } = await connectToNats(access, 'test');
  try {
    const { created, state } = await manager.streams.info(stream);
    const lines = [`the log of ${created} from ${state.first_seq} to ${state.last_seq}`];
    for (let sequence = Math.max(state.first_seq, state.last_seq - count + 1); sequence <= state.last_seq; sequence++)
      lines.push(`${sequence}: ${said((await manager.streams.getMessage(stream, { seq: sequence }))?.data)}`);
    return lines.join('\n');
  } finally {
    await connection.close();
  }
}

function said(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return 'nothing';
  try {
    const { term, termStart, node, at, body } = decodeRecord(bytes);
    const where = 'height' in body && 'hash' in body ? ` ${body.height} ${toDisplayHex(body.hash)}` : '';
    return `term ${term} from ${termStart} of ${node}, ${new Date(at).toISOString()}: ${body.type}${where}`;
  } catch (error) {
    return String(error);
  }
}
