// The JSON of the chain's state (getblockchaininfo of Bitcoin Core).

import { BITS, CHAINWORK, DIFFICULTY, TARGET, textsOfBits } from './header';
import { ARRAY_END, ARRAY_START, COLON, COMMA, OBJECT_END, JsonWriter } from './json-writer';
import { anyOf, described, listOf, mapOf, named, object, type Properties, type Schema } from '../describe/schema';
import { BLOCK_HASH, BYTES, COUNT, FLAG, HEIGHT, INTEGER, TEXT, TIME } from '../describe/values';
import type { Bip9Deployment, Deployments, VersionFork } from '../node/types/soft-forks';
import type { ProfileFields } from './profile';

export interface ChainInfo {
  readonly chain: string;
  /** Height of the active chain. */
  readonly blocks: number;
  /** Height of the best header known. */
  readonly headers: number;
  /** 32 bytes in wire order. */
  readonly bestHash: Buffer;
  /** Of the tip, like both times. */
  readonly bits: number;
  readonly time: number;
  readonly medianTime: number;
  /** Estimated part of the chain that is verified, 0 to 1. */
  readonly verified: number;
  readonly initialBlockDownload: boolean;
  readonly chainwork: bigint;
  /** In bytes. */
  readonly sizeOnDisk: number;
  /** Only for a node that prunes. */
  readonly prune?: {
    /** Lowest height whose block the node still has. */
    readonly height: number;
    readonly automatic: boolean;
    /** In bytes. */
    readonly targetSize?: number;
  };
  readonly warnings: readonly string[];
  /** As made by `softForksJson`; undefined: none are shown. */
  readonly softForks?: Buffer | undefined;
}

/** The chain's state and a line feed. */
export function chainInfoJson(info: ChainInfo, fields: ProfileFields): Buffer {
  const writer = new JsonWriter();
  const { difficulty, target } = textsOfBits(info.bits);
  writer.ascii('{"chain":');
  writer.string(info.chain);
  writer.ascii(`,"blocks":${info.blocks},"headers":${info.headers},"bestblockhash":`);
  writer.hashString(info.bestHash);
  if (fields.target) {
    writer.ascii(',"bits":"');
    writer.hex32(info.bits);
    writer.ascii(`","target":"${target}"`);
  }
  writer.ascii(`,"difficulty":${difficulty}`);
  if (fields.target) writer.integerField(',"time":', info.time);
  writer.ascii(`,"mediantime":${info.medianTime},"verificationprogress":`);
  writer.double(info.verified);
  writer.ascii(',"initialblockdownload":');
  writer.boolean(info.initialBlockDownload);
  writer.ascii(',"chainwork":');
  writer.workString(info.chainwork);
  writer.ascii(`,"size_on_disk":${info.sizeOnDisk}`);
  writePruning(writer, info.prune);
  if (info.softForks !== undefined) writer.bytes(info.softForks, 0, info.softForks.length);
  writeWarnings(writer, info.warnings, fields);
  writer.ascii('}\n');
  return writer.toBuffer();
}

function writePruning(writer: JsonWriter, prune: ChainInfo['prune']): void {
  writer.ascii(',"pruned":');
  writer.boolean(prune !== undefined);
  if (prune === undefined) return;
  writer.integerField(',"pruneheight":', prune.height);
  writer.ascii(',"automatic_pruning":');
  writer.boolean(prune.automatic);
  if (prune.targetSize !== undefined) {
    writer.integerField(',"prune_target_size":', prune.targetSize);
  }
}

/** Writes the field `warnings`, behind another one: all warnings as a list, or only the last one as a text. */
export function writeWarnings(
  writer: JsonWriter,
  warnings: readonly string[],
  { warningsInList }: Pick<ProfileFields, 'warningsInList'>
): void {
  writer.ascii(',"warnings":');
  if (!warningsInList) {
    writer.string(warnings.at(-1) ?? '');
    return;
  }
  writer.char(ARRAY_START);
  warnings.forEach((warning, i) => {
    if (i > 0) writer.char(COMMA);
    writer.string(warning);
  });
  writer.char(ARRAY_END);
}

/** `softforks` and `bip9_softforks` for `ChainInfo`: the same for every answer of one tip. */
export function softForksJson({ versionForks, bip9 }: Deployments): Buffer {
  const writer = new JsonWriter();
  writeVersionForks(writer, versionForks);
  writer.ascii(',"bip9_softforks":{');
  bip9.forEach((deployment, i) => {
    if (i > 0) writer.char(COMMA);
    writer.string(deployment.id);
    writer.char(COLON);
    writeBip9(writer, deployment);
  });
  writer.char(OBJECT_END);
  return writer.toBuffer();
}

function writeVersionForks(writer: JsonWriter, forks: readonly VersionFork[]): void {
  writer.ascii(',"softforks":[');
  forks.forEach(({ id, version, active }, i) => {
    writer.ascii(i === 0 ? '{"id":' : ',{"id":');
    writer.string(id);
    writer.integerField(',"version":', version);
    writer.ascii(',"reject":{"status":');
    writer.boolean(active);
    writer.ascii('}}');
  });
  writer.char(ARRAY_END);
}

/** Times are 64-bit integers, which a JavaScript number cannot hold. `bit` and statistics are shown only while started. */
function writeBip9(writer: JsonWriter, { status, bit, startTime, timeout, since, statistics }: Bip9Deployment): void {
  writer.ascii(`{"status":"${status}"`);
  if (status === 'started') writer.ascii(`,"bit":${bit}`);
  writer.ascii(`,"startTime":${startTime},"timeout":${timeout},"since":${since}`);
  if (status === 'started' && statistics !== undefined) {
    const { period, threshold, elapsed, count, possible } = statistics;
    writer.ascii(`,"statistics":{"period":${period},"threshold":${threshold},"elapsed":${elapsed},"count":${count},"possible":`);
    writer.boolean(possible);
    writer.char(OBJECT_END);
  }
  writer.char(OBJECT_END);
}

/** The field `warnings`. */
export const warningsSchema = ({ warningsInList }: Pick<ProfileFields, 'warningsInList'>): Schema =>
  described(
    warningsInList ? 'What the operator should know.' : 'What the operator should know; empty: nothing.',
    warningsInList ? listOf(TEXT) : TEXT
  );

export const FORK_STATUS = { enum: ['defined', 'started', 'locked_in', 'active', 'failed'], description: 'BIP9.' };

function softForkProperties(): Properties {
  const times = { startTime: INTEGER, timeout: INTEGER, since: HEIGHT };
  const bip9 = object({ status: { ...FORK_STATUS, enum: FORK_STATUS.enum.filter((status) => status !== 'started') }, ...times });
  const statistics = object({ period: COUNT, threshold: COUNT, elapsed: COUNT, count: COUNT, possible: FLAG });
  const started = object({ status: { const: 'started' }, bit: COUNT, ...times, statistics });
  return {
    softforks: listOf(named('VersionFork', object({ id: TEXT, version: COUNT, reject: object({ status: FLAG }) }))),
    bip9_softforks: mapOf(TEXT, named('Bip9Fork', anyOf(bip9, started)))
  };
}

/** What `chainInfoJson` writes. */
export function chainInfoSchema(fields: ProfileFields): Schema {
  return named(
    'ChainInfo',
    object(
      {
        chain: described('The network: main, test, regtest, signet.', TEXT),
        blocks: described('The height of the active chain.', HEIGHT),
        headers: described('The height of the best header.', HEIGHT),
        bestblockhash: BLOCK_HASH,
        ...(fields.target && { bits: BITS, target: TARGET, time: described('Of the tip, Unix time in seconds.', TIME) }),
        difficulty: DIFFICULTY,
        mediantime: described('Median time past of the tip, Unix time in seconds.', TIME),
        verificationprogress: { type: 'number', minimum: 0, description: 'The estimated part of the chain that is verified, 0 to 1.' },
        initialblockdownload: described('Whether the node still downloads its chain.', FLAG),
        chainwork: CHAINWORK,
        size_on_disk: described('Bytes of the blocks.', BYTES),
        pruned: FLAG,
        ...(fields.softForks && softForkProperties()),
        warnings: warningsSchema(fields)
      },
      {
        pruneheight: described('The lowest block that the node still has; only if it prunes.', HEIGHT),
        automatic_pruning: described('Only if the node prunes.', FLAG),
        prune_target_size: BYTES
      }
    )
  );
}
