// The work that goes into the chain, and the next block.

import { invalidParameter } from '../../answers/errors';
import { bitsOf, HEADER_LENGTH, timeOf } from '../../bitcoin/header';
import { nextBits, retargetInterval } from '../../bitcoin/retarget';
import { doubleOf } from '../../bitcoin/work';
import { described, named, object } from '../../describe/schema';
import { CORE_FEE_RATE, COUNT, HEIGHT, NUMBER, TEXT } from '../../describe/values';
import { runInSlices } from '../../turns/slices';
import { warningsSchema, writeWarnings } from '../../views/chain-info';
import { BITS, DIFFICULTY, TARGET, textsOfBits } from '../../views/header';
import { JsonWriter, doubleText } from '../../views/json-writer';
import { jsonAnswer, type CallContext, type CallDefinition } from '../call';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';

/** Bitcoin Core's default. */
const USUAL_BLOCKS = 120;

/** Of Bitcoin Core: what bcoin puts into blocks depends on no such rate. */
const LEAST_BLOCK_FEE_RATE = 1;

export const miningCalls = {
  getnetworkhashps: {
    summary: 'How many hashes for each second the last blocks took.',
    parameters: [
      {
        name: 'nblocks',
        type: 'number',
        isOptional: true,
        schema: { type: 'integer', minimum: -1, default: USUAL_BLOCKS, description: 'The blocks; -1: those since the target changed.' }
      },
      {
        name: 'height',
        type: 'number',
        isOptional: true,
        schema: { type: 'integer', minimum: -1, default: -1, description: 'The last of them; -1: the tip.' }
      }
    ],
    result: () => described('Hashes for each second.', NUMBER),
    answer: (parameters, { reader, node }, client) => {
      const [blocks, height] = [parameters.integer(0, USUAL_BLOCKS), parameters.integer(1, -1)];
      if (blocks < -1 || blocks === 0) throw invalidParameter('Invalid nblocks. Must be a positive number or -1.');
      return reader.read(async (snapshot) => {
        if (height < -1 || height > snapshot.tip.height) throw invalidParameter('Block does not exist at specified height');
        const last = height < 0 ? snapshot.tip : (snapshot.headerAt(height) as HeaderRecord); // not above the tip
        const count = blocks === -1 ? (last.height % retargetInterval(node.network.chain)) + 1 : blocks;
        return jsonAnswer(Buffer.from(doubleText(await runInSlices(hashRate(count, last, snapshot), client))));
      });
    }
  },
  getmininginfo: {
    summary: 'The work on the next block.',
    parameters: [],
    result: (fields) => {
      const next = object({ height: HEIGHT, bits: BITS, difficulty: DIFFICULTY, target: TARGET });
      return named(
        'MiningInfo',
        object({
          blocks: HEIGHT,
          bits: BITS,
          difficulty: DIFFICULTY,
          target: TARGET,
          networkhashps: described('Hashes for each second.', NUMBER),
          pooledtx: described('Transactions of the pool.', COUNT),
          blockmintxfee: CORE_FEE_RATE,
          chain: described('The network: main, test, regtest, signet.', TEXT),
          next: described('The next block.', named('NextBlock', next)),
          warnings: warningsSchema(fields)
        })
      );
    },
    answer: (_, context, client) =>
      context.reader.read(async (snapshot) => {
        const rate = await runInSlices(hashRate(USUAL_BLOCKS, snapshot.tip, snapshot), client);
        return jsonAnswer(miningInfo(rate, snapshot, context));
      })
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** Of some blocks up to the last one. Yields now and then. */
function* hashRate(blocks: number, last: HeaderRecord, snapshot: IndexSnapshot): Generator<void, number> {
  const count = Math.min(blocks, last.height);
  const first = snapshot.headerAt(last.height - count);
  if (first === undefined || count === 0) return 0;
  let [least, most] = [timeOf(last.header), timeOf(last.header)];
  for (let height = first.height; height < last.height;) {
    const run = snapshot.headerRun(height, last.height - height);
    if (run === undefined) break;
    for (let i = 0; i < run.count; i++) {
      const time = timeOf(run.headers.subarray(i * HEADER_LENGTH));
      if (time < least) least = time;
      if (time > most) most = time;
    }
    height += run.count;
    yield;
  }
  return least === most ? 0 : doubleOf(last.chainwork - first.chainwork) / (most - least);
}

function miningInfo(hashesPerSecond: number, snapshot: IndexSnapshot, { node, warnings, profile }: CallContext): Buffer {
  const { tip } = snapshot;
  const now = Math.floor(Date.now() / 1_000);
  const height = tip.height + 1;
  const { chain } = node.network;
  const writer = new JsonWriter();
  writer.ascii(`{"blocks":${tip.height}`);
  writeBits(writer, bitsOf(tip.header));
  writer.ascii(`,"networkhashps":${doubleText(hashesPerSecond)},"pooledtx":${node.pool.info().size}`);
  writer.amountField(',"blockmintxfee":', LEAST_BLOCK_FEE_RATE);
  writer.ascii(`,"chain":"${chain}","next":{"height":${height}`);
  writeBits(
    writer,
    nextBits(chain, height, now, (below) => snapshot.headerAt(below)?.header)
  );
  writer.ascii('}');
  writeWarnings(writer, warnings(), profile.fields);
  writer.ascii('}');
  return writer.toBuffer();
}

/** Behind another field. Bitcoin Core has the target last in `next`, too. */
function writeBits(writer: JsonWriter, bits: number): void {
  const { difficulty, target } = textsOfBits(bits);
  writer.ascii(',"bits":"');
  writer.hex32(bits);
  writer.ascii(`","difficulty":${difficulty},"target":"${target}"`);
}
