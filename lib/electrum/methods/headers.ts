// Headers of the chain, with proofs that they belong to it. The text of many headers is cached under the hash of the last one, which commits
// to all before it.

import { hashAt, type HeaderProof } from '../../answers/blocks/header-tree';
import { keyOf, toDisplayHex } from '../../bitcoin/hash';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { ownCopy } from '../../system/own-copy';
import { anyOf, described, listOf, named, object, type PlainSchema, type Properties, type Schema } from '../../describe/schema';
import { COUNT, HASH, HEIGHT, HEX } from '../../describe/values';
import { runAtOnce } from '../../turns/slices';
import { hexLine } from '../../views/hex';
import { JsonWriter, QUOTE } from '../../views/json-writer';
import { PROTOCOLS, type ElectrumClient, type Method, type MethodContext } from '../method';
import { badRequest, readCount } from './arguments';
import { HASH_POINTS, HEADER_POINTS } from './points';
import type { Cached } from '../../server/cache/answer-cache';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';

/** A difficulty period, which is what wallets ask for. */
const MOST_HEADERS = 2_016;

const HEX_LENGTH = 2 * HEADER_LENGTH;

/** Fewer headers are written each time. */
const WORTH_CACHING = 64;

interface CachedText extends Cached {
  readonly text: Buffer;
}

/** How a version of the protocol shows several headers: as one string, or as a list of strings. */
type Form = 'hex' | 'headers';

export const HEADER = described('80 bytes in hex.', HEX);

export const TIP = named('Tip', object({ hex: HEADER, height: HEIGHT }));

const CHECKPOINT: Schema = { ...COUNT, default: 0, description: 'A height up to which the proof goes; 0: no proof.' };

const PROOF = {
  branch: described('The hashes beside the path from the header up to the root.', listOf(HASH)),
  root: described('The Merkle root over all headers up to the checkpoint.', HASH)
};

const headersSchema = (headers: Properties): PlainSchema =>
  object(
    { count: { ...COUNT, description: 'How many there are.' }, max: { ...COUNT, description: 'The most in one reply.' }, ...headers },
    PROOF
  );

export function headerMethods({ headerTree: tree, scripts, cache }: MethodContext): Readonly<Record<string, Method>> {
  const cached = cache.section<CachedText>('electrum-headers');

  /** The result without a proof. */
  const headersText = (start: number, count: number, form: Form, index: IndexSnapshot): Buffer => {
    if (count < WORTH_CACHING) return writtenHeaders(headersFrom(start, count, index), form);
    const key = `${count} ${form} ${keyOf(hashAt(start + count - 1, index))}`;
    const known = cached.get(key);
    if (known !== undefined) return known.text;
    const text = writtenHeaders(headersFrom(start, count, index), form);
    cached.setIfAskedBefore(key, () => {
      const own = ownCopy(text);
      return { text: own, byteLength: own.length };
    });
    return text;
  };

  const prove = (height: number, checkpoint: number, index: IndexSnapshot, client: ElectrumClient): Promise<HeaderProof> => {
    const tip = index.tip.height;
    if (height > checkpoint || checkpoint > tip)
      throw badRequest(`require header height ${height} <= cp_height ${checkpoint} <= chain height ${tip}`);
    return tree.proof(height, checkpoint, index, client, (count) => {
      client.charge(count * HASH_POINTS);
    });
  };

  return {
    'blockchain.headers.subscribe': {
      about: {
        summary: 'The tip of the chain, of which the client is notified from now on.',
        parameters: [],
        result: TIP,
        notification: { tip: TIP }
      },
      parameters: [],
      required: 0,
      answer: (_, { subscriptions }) =>
        scripts.read(({ index: { tip } }) => {
          // In the turn in which the tip is read, so that the client is told of every later tip.
          subscriptions.addHeaders(tip);
          return tipText(tip);
        })
    },
    'blockchain.block.header': {
      about: {
        summary: 'The header at a height, with a proof if a checkpoint is given.',
        parameters: [HEIGHT, CHECKPOINT],
        result: anyOf(HEADER, named('ProvenHeader', object({ header: HEADER, ...PROOF })))
      },
      parameters: ['height', 'cp_height'],
      required: 1,
      answer: ([at, upTo = 0], client) => {
        const [height, checkpoint] = [readCount(at), readCount(upTo)];
        return scripts.read(async ({ index }) => {
          if (height > index.tip.height && checkpoint === 0) throw badRequest(`height ${height} out of range`);
          const proof = checkpoint > 0 ? await prove(height, checkpoint, index, client) : undefined;
          const hex = headersFrom(height, 1, index).toString('hex');
          return proof === undefined ? `"${hex}"` : `{${proofFields(proof)},"header":"${hex}"}`;
        });
      }
    },
    'blockchain.block.headers': {
      about: {
        summary: `Up to ${MOST_HEADERS} headers from a height upwards, with a proof of the last one if a checkpoint is given.`,
        parameters: [HEIGHT, { ...COUNT, description: 'How many.' }, CHECKPOINT],
        result: anyOf(
          described('Before 1.6.', named('HeadersInHex', headersSchema({ hex: described('80 bytes each, in hex.', HEX) }))),
          described('Since 1.6.', named('Headers', headersSchema({ headers: listOf(HEADER) })))
        )
      },
      parameters: ['start_height', 'count', 'cp_height'],
      required: 2,
      answer: ([from, most, upTo = 0], client) => {
        const [start, asked, checkpoint] = [readCount(from), Math.min(readCount(most), MOST_HEADERS), readCount(upTo)];
        const form = client.protocol === PROTOCOLS.at(-1) ? 'headers' : 'hex';
        return scripts.read(({ index }) => {
          const count = Math.max(0, Math.min(asked, index.tip.height + 1 - start));
          client.charge(count * HEADER_POINTS);
          if (checkpoint === 0 || count === 0) return headersText(start, count, form, index);
          return prove(start + count - 1, checkpoint, index, client).then((proof) => {
            const text = headersText(start, count, form, index);
            return Buffer.concat([text.subarray(0, -1), Buffer.from(`,${proofFields(proof)}}`)]);
          });
        });
      }
    }
  };
}

/** JSON of the tip. */
export const tipText = ({ header, height }: HeaderRecord): string => `{"hex":"${header.toString('hex')}","height":${height}}`;

function writtenHeaders(headers: Buffer, form: Form): Buffer {
  const digits = runAtOnce(hexLine(headers));
  const writer = new JsonWriter(digits.length + (headers.length / HEADER_LENGTH) * 3 + 64);
  writer.ascii(`{"count":${headers.length / HEADER_LENGTH},"max":${MOST_HEADERS},"${form}":`);
  if (form === 'hex') writeDigits(writer, digits, 0, digits.length - 1);
  else {
    writer.ascii('[');
    for (let at = 0; at < digits.length - 1; at += HEX_LENGTH) {
      if (at > 0) writer.ascii(',');
      writeDigits(writer, digits, at, at + HEX_LENGTH);
    }
    writer.ascii(']');
  }
  writer.ascii('}');
  return writer.toBuffer();
}

function writeDigits(writer: JsonWriter, digits: Buffer, start: number, end: number): void {
  writer.char(QUOTE);
  writer.bytes(digits, start, end);
  writer.char(QUOTE);
}

/** `count` headers from a height upwards, none above the tip. */
function headersFrom(height: number, count: number, index: IndexSnapshot): Buffer {
  const runs: Buffer[] = [];
  for (let found = 0; found < count;) {
    const run = index.headerRun(height + found, count - found);
    if (run === undefined) throw new RangeError(`expected headers up to height ${height + count - 1}, got those below ${height + found}`);
    runs.push(run.headers);
    found += run.count;
  }
  return runs.length === 1 ? (runs[0] as Buffer) : Buffer.concat(runs); // there is one
}

const proofFields = ({ branch, root }: HeaderProof): string =>
  `"branch":${JSON.stringify(branch.map(toDisplayHex))},"root":"${toDisplayHex(root)}"`;
