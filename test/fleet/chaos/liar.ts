// Somebody who has the password of NATS and writes into the log what is not true.

import { hash256 } from '../../../lib/bitcoin/hash';
import { parseNatsUrls } from '../../../lib/fleet/log/access';
import { connectToNats, type NatsBus } from '../../../lib/fleet/log/connection';
import { subjectsOf, type RecordKind } from '../../../lib/fleet/log/subjects';
import { encodeRecord } from '../../../lib/fleet/messages/record-codec';
import type { RecordBody } from '../../../lib/fleet/messages/records';
import type { Fleet } from './fleet';
import type { Spend } from './spends';

const SUBJECTS = subjectsOf('regtest');
/** How often a lie is told again when a node has said something meanwhile. */
const MOST_TIMES = 20;
const TERM_ID = Buffer.from('the liar');

export interface Liar {
  /** How many lies the log has taken. */
  readonly told: number;
  unknownRecord(): Promise<void>;
  /** With proof of work, but not on top of the chain. */
  unlinkedBlock(): Promise<void>;
  /** The header of a block, with other bytes. */
  wrongBytes(spend: Spend | undefined): Promise<void>;
  /** A block that is right, with a wrong record of what it spends. */
  wrongUndo(spend: Spend | undefined): Promise<void>;
  deleteLog(): Promise<void>;
}

export function liar(fleet: Fleet): Liar {
  let told = 0;

  async function withBus<T>(use: (bus: NatsBus) => Promise<T>): Promise<T | undefined> {
    const access = parseNatsUrls(fleet.nats.url);
    const bus = access && (await connectToNats(access, 'liar').catch(() => undefined));
    if (bus === undefined) return undefined;
    try {
      return await use(bus);
    } catch {
      // The servers are away: then nobody was lied to.
      return undefined;
    } finally {
      await bus.connection.close();
    }
  }

  /** Writes records one after the other, each as the next one of the log. `bodies`: made with the sequence of the first. */
  async function tell(bodies: (first: number) => readonly (readonly [RecordKind, Uint8Array])[]): Promise<void> {
    await withBus(async ({ manager, jetstream }) => {
      for (let time = 0; time < MOST_TIMES; time++) {
        const { state } = await manager.streams.info(SUBJECTS.stream);
        let last = state.last_seq;
        try {
          for (const [kind, bytes] of bodies(last + 1))
            last = (await jetstream.publish(SUBJECTS.record[kind], bytes, { expect: { lastSequence: last } })).seq;
          told++;
          return;
        } catch {
          // A beat came in between.
        }
      }
    });
  }

  /** Each lie is a term of its own, from its first record on. */
  const record = (body: RecordBody, termStart: number): Buffer =>
    encodeRecord({ term: 1_000_000, termId: TERM_ID, termStart, node: 'liar', at: Date.now(), body });

  /** A block on the tip of a node, which no node has. */
  async function forged(spend: Spend | undefined): Promise<{ readonly raw: Buffer; readonly height: number } | undefined> {
    const node = fleet.nodes.find(({ isRunning, isAlone }) => isRunning && !isAlone);
    const made = await node?.ask({ type: 'forge', transactions: spend === undefined ? [] : [spend.raw.toString('hex')] });
    const [hex] = made?.blocks ?? [];
    return made === undefined || hex === undefined ? undefined : { raw: Buffer.from(hex, 'hex'), height: made.height + 1 };
  }

  function connect(raw: Buffer, height: number, bytes: Buffer, undo: Buffer): Promise<void> {
    const header = raw.subarray(0, 80);
    const hash = hash256(header);
    return tell((first) => [
      ['block', record({ type: 'block', hash, part: 0, parts: 1, bytes: Buffer.concat([bytes, undo]) }, first)],
      [
        'chain',
        record(
          {
            type: 'connect',
            height,
            hash,
            header,
            chainwork: BigInt(height + 1) * 2n,
            medianTime: header.readUInt32LE(68),
            deployments: { versionForks: [], bip9: [] },
            deploymentInfo: { hash, height, scriptFlags: [], buried: [], signalled: [] },
            blockBytes: bytes.length,
            undoBytes: undo.length,
            blockSequence: first
          },
          first
        )
      ]
    ]);
  }

  return {
    get told() {
      return told;
    },
    unknownRecord: () => tell(() => [['chain', Buffer.from('this is no record of any kind')]]),
    async unlinkedBlock() {
      const block = await forged(undefined);
      if (block !== undefined) await connect(fleet.chain.genesis.raw, block.height, fleet.chain.genesis.raw, Buffer.alloc(0));
    },
    async wrongBytes(spend) {
      const block = await forged(spend);
      if (block === undefined) return;
      const bytes = Buffer.from(block.raw);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20);
      await connect(block.raw, block.height, bytes, Buffer.alloc(0));
    },
    async wrongUndo(spend) {
      const block = await forged(spend);
      if (block === undefined || spend === undefined) return;
      // The block itself is right: answers of it are judged as such.
      fleet.chain.add(block.raw);
      // One transaction with one coin: height 1, not a coinbase, 1 satoshi, an empty script.
      await connect(block.raw, block.height, block.raw, Buffer.from('010102000100', 'hex'));
    },
    async deleteLog() {
      await withBus(({ manager }) => manager.streams.delete(SUBJECTS.stream));
    }
  };
}
