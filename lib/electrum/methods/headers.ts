// Headers of the chain, with proofs that they belong to it.

import { toDisplayHex } from '../../bitcoin/hash';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { JsonWriter } from '../../views/json-writer';
import { PROTOCOLS, type ElectrumClient, type Method, type MethodContext } from '../method';
import { badRequest, readCount } from './arguments';
import { HASH_POINTS, HEADER_POINTS } from './points';
import type { HeaderProof } from '../../answers/blocks/header-tree';
import type { IndexSnapshot } from '../../index/types';

/** A difficulty period, which is what wallets ask for. */
const MOST_HEADERS = 2_016;

const HEX_LENGTH = 2 * HEADER_LENGTH;

export function headerMethods({ headerTree: tree, scripts }: MethodContext): Readonly<Record<string, Method>> {
  const prove = (height: number, checkpoint: number, index: IndexSnapshot, client: ElectrumClient): Promise<HeaderProof> => {
    const tip = index.tip.height;
    if (height > checkpoint || checkpoint > tip)
      throw badRequest(`require header height ${height} <= cp_height ${checkpoint} <= chain height ${tip}`);
    client.charge(tree.hashesOf(checkpoint) * HASH_POINTS);
    return tree.proof(height, checkpoint, index, client);
  };

  return {
    'blockchain.headers.subscribe': {
      parameters: [],
      required: 0,
      answer: (_, { subscriptions }) =>
        scripts.read(({ index: { tip } }) => {
          // In the turn in which the tip is read, so that the client is told of every later tip.
          subscriptions.addHeaders(tip);
          return `{"hex":"${tip.header.toString('hex')}","height":${tip.height}}`;
        })
    },
    'blockchain.block.header': {
      parameters: ['height', 'cp_height'],
      required: 1,
      answer: (values, client) => {
        const height = readCount(values[0]);
        const checkpoint = readCount(values[1] ?? 0);
        return scripts.read(async ({ index }) => {
          if (height > index.tip.height && checkpoint === 0) throw badRequest(`height ${height} out of range`);
          const proof = checkpoint > 0 ? await prove(height, checkpoint, index, client) : undefined;
          const hex = headersFrom(height, 1, index).toString('hex');
          return proof === undefined ? `"${hex}"` : `{${proofFields(proof)},"header":"${hex}"}`;
        });
      }
    },
    'blockchain.block.headers': {
      parameters: ['start_height', 'count', 'cp_height'],
      required: 2,
      answer: (values, client) => {
        const start = readCount(values[0]);
        const asked = Math.min(readCount(values[1]), MOST_HEADERS);
        const checkpoint = readCount(values[2] ?? 0);
        return scripts.read(async ({ index }) => {
          const count = Math.max(0, Math.min(asked, index.tip.height + 1 - start));
          client.charge(count * HEADER_POINTS);
          const proof = checkpoint > 0 && count > 0 ? await prove(start + count - 1, checkpoint, index, client) : undefined;
          const headers = headersFrom(start, count, index);
          const writer = new JsonWriter(count * (HEX_LENGTH + 3) + 4_096);
          writer.ascii(`{"count":${count},"max":${MOST_HEADERS}`);
          if (client.protocol === PROTOCOLS.at(-1)) writeList(writer, headers);
          else {
            writer.ascii(',"hex":');
            writer.hexString(headers);
          }
          if (proof !== undefined) writer.ascii(`,${proofFields(proof)}`);
          writer.ascii('}');
          return writer.toBuffer();
        });
      }
    }
  };
}

function writeList(writer: JsonWriter, headers: Buffer): void {
  writer.ascii(',"headers":[');
  for (let at = 0; at < headers.length; at += HEADER_LENGTH) {
    if (at > 0) writer.ascii(',');
    writer.hexString(headers, at, at + HEADER_LENGTH);
  }
  writer.ascii(']');
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
