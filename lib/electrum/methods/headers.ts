// Headers of the chain, with proofs that they belong to it.

import { toDisplayHex } from '../../bitcoin/hash';
import { anyOf, described, listOf, named, object, type PlainSchema, type Properties, type Schema } from '../../describe/schema';
import { COUNT, HASH, HEIGHT, HEX } from '../../describe/values';
import { PROTOCOLS, type ElectrumClient, type Method, type MethodContext } from '../method';
import { badRequest, readCount } from './arguments';
import { headersFrom, HeadersTexts, MOST_HEADERS } from './headers-texts';
import { HASH_POINTS, HEADER_POINTS } from './points';
import type { HeaderProof, HeaderTree } from '../../answers/blocks/header-tree';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';

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

export function headerMethods(context: MethodContext): Readonly<Record<string, Method>> {
  return {
    'blockchain.headers.subscribe': subscribe(context),
    'blockchain.block.header': header(context),
    'blockchain.block.headers': headers(context)
  };
}

function subscribe({ scripts }: MethodContext): Method {
  return {
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
  };
}

function header({ headerTree, scripts }: MethodContext): Method {
  return {
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
        const proof = checkpoint > 0 ? await proofOf(height, checkpoint, headerTree, index, client) : undefined;
        const hex = headersFrom(height, 1, index).toString('hex');
        return proof === undefined ? `"${hex}"` : `{${proofFields(proof)},"header":"${hex}"}`;
      });
    }
  };
}

function headers({ headerTree, scripts, cache }: MethodContext): Method {
  const texts = new HeadersTexts(cache);
  return {
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
        if (checkpoint === 0 || count === 0) return texts.of(start, count, form, index);
        return proofOf(start + count - 1, checkpoint, headerTree, index, client).then((proof) => {
          const text = texts.of(start, count, form, index);
          return Buffer.concat([text.subarray(0, -1), Buffer.from(`,${proofFields(proof)}}`)]);
        });
      });
    }
  };
}

/** @throws ElectrumError when the header is above the checkpoint, or that above the tip */
function proofOf(height: number, checkpoint: number, tree: HeaderTree, index: IndexSnapshot, client: ElectrumClient): Promise<HeaderProof> {
  const tip = index.tip.height;
  if (height > checkpoint || checkpoint > tip)
    throw badRequest(`require header height ${height} <= cp_height ${checkpoint} <= chain height ${tip}`);
  return tree.proof(height, checkpoint, index, client, (count) => {
    client.charge(count * HASH_POINTS);
  });
}

/** JSON of the tip. */
export const tipText = ({ header, height }: HeaderRecord): string => `{"hex":"${header.toString('hex')}","height":${height}}`;

const proofFields = ({ branch, root }: HeaderProof): string =>
  `"branch":${JSON.stringify(branch.map(toDisplayHex))},"root":"${toDisplayHex(root)}"`;
