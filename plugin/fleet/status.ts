// What can be seen of a fleet from outside: its log, who leads, and what readers tell about themselves.

import { setTimeout as delay } from 'node:timers/promises';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { leaseHolder } from '../../lib/fleet/feed/lease';
import { LogGoneError } from '../../lib/fleet/log/errors';
import { FleetLog, type LastBeat } from '../../lib/fleet/log/log-reader';
import { HeardReaders, type HeardReader } from '../../lib/fleet/readers/heard-readers';
import type { NatsBus } from '../../lib/fleet/log/connection';
import type { Subjects } from '../../lib/fleet/log/subjects';
import type { ReaderNetwork } from '../../lib/fleet/reader/networks';
import type { BlockPoint } from '../../lib/node/types/chain';

/** What reaches a fleet. */
export interface FleetAccess {
  readonly bus: NatsBus;
  readonly subjects: Subjects;
  readonly network: ReaderNetwork;
}

/** Each reader announces itself once a second. */
const LISTEN_MS = 2_200;

/** A leader says something each second, unless its node is held up by a block. */
const MOST_SILENT_MS = 5_000;
const LOOK_MS = 200;

const MB = 1_000_000;

export interface FleetText {
  readonly text: string;
  /** Whether a node leads and every reader answers. */
  readonly isWell: boolean;
}

/** @throws ForeignLogError, NatsAwayError, NatsRefusedError */
export async function describeFleet({ bus, subjects, network }: FleetAccess): Promise<FleetText> {
  const readers = new HeardReaders(subjects);
  readers.listen(bus.connection);
  const opened = await findLog({ bus, subjects, network });
  const [before] = await Promise.all([opened?.lastBeat(), delay(LISTEN_MS)]);
  const present = readers.present.sort((a, b) => (a.id < b.id ? -1 : 1));
  const log = await findLog({ bus, subjects, network });
  if (log === undefined)
    return { text: ['No node has written a log yet.', ...readerLines(present, undefined), ''].join('\n'), isWell: false };
  const [word, leader] = await Promise.all([log.lastOfChain(), leaseHolder(bus, subjects).catch(() => undefined)]);
  const beat = await nextBeat(log, before);
  const isHeard = beat !== undefined && beat.sequence !== before?.sequence;
  const isLed = leader !== undefined && isHeard;
  const { copies, bytes } = log.size;
  const size = `${(bytes / MB).toFixed(1)} MB on ${copies === 1 ? 'one server' : `${copies} servers`}`;
  const led = leader === undefined ? 'none' : `${leader}, term ${beat?.term ?? 0}`;
  const synced = beat?.isSynced === true ? 'in sync' : 'not in sync';
  const since = isHeard ? 'heard now' : `silent since ${new Date(beat?.at ?? 0).toISOString()} by its clock`;
  const heard = beat === undefined ? '' : `; ${since}, version ${beat.version}, ${synced}`;
  const lines = [
    `Log      ${subjects.stream}, record ${log.last}, ${size}, since ${log.incarnation}`,
    `Leader   ${led}${heard}`,
    `Block    ${word === undefined ? 'none' : pointText(word.tip)}`,
    ...readerLines(present, word?.tip)
  ];
  return { text: `${lines.join('\n')}\n`, isWell: isLed && present.length > 0 && present.every(({ state }) => state.isReady) };
}

/** undefined: there is none. */
async function findLog({ bus, subjects, network }: FleetAccess): Promise<FleetLog | undefined> {
  try {
    return await FleetLog.open(bus, subjects, network.genesisHash);
  } catch (error) {
    if (error instanceof LogGoneError) return undefined;
    throw error;
  }
}

/** The last beat; waits for one after `before`, but not long. Clocks are not compared: they may differ. */
async function nextBeat(log: FleetLog, before: LastBeat | undefined): Promise<LastBeat | undefined> {
  for (let waited = LISTEN_MS; ; waited += LOOK_MS) {
    const beat = await log.lastBeat();
    if ((beat !== undefined && beat.sequence !== before?.sequence) || waited >= MOST_SILENT_MS) return beat;
    await delay(LOOK_MS);
  }
}

function readerLines(readers: readonly HeardReader[], tip: BlockPoint | undefined): string[] {
  if (readers.length === 0) return ['Readers  none was heard'];
  return readers.map(({ id, state }, i) => {
    const lag = tip === undefined || state.tip === undefined ? '' : `, ${tip.height - state.tip.height} behind`;
    const shown = state.tip === undefined ? 'no block' : `${pointText(state.tip)}${lag}`;
    const record = state.applied === undefined ? '' : `, record ${state.applied.sequence}`;
    const answers = state.isReady ? 'answers' : `does not answer: ${state.why}`;
    return `${i === 0 ? 'Readers ' : '        '} ${id}: ${shown}${record}, version ${state.version}, ${answers}`;
  });
}

const pointText = ({ height, hash }: BlockPoint): string => `${height} ${toDisplayHex(hash)}`;
