// Steps that a Bitcoin Core took with its pool, and what it answered (test/vectors/pool), replayed over the JSON-RPC of a node with
// today's pool.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin } from '../support/bcoin/bcoin';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { RpcCaller } from '../support/client/rpc';

type Fields = Readonly<Record<string, unknown>>;

/** What the pool was after a step, against the step before. */
interface PoolThen {
  readonly size: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The beginning of the SHA-256 of all txids, sorted. */
  readonly digest: string;
}

interface Answers {
  /** Of `testmempoolaccept`. */
  readonly test?: unknown;
  /** Of `sendrawtransaction` ("txid" or an error), `submitpackage` or `submitblock`. */
  readonly send: unknown;
  /** Of `getmempoolentry`. */
  readonly entry?: Fields;
  readonly tip?: string;
  readonly pool: PoolThen;
}

export interface RecordedStep {
  readonly id: string;
  readonly op: 'tx' | 'package' | 'block';
  readonly tx?: string;
  readonly txid?: string;
  readonly txs?: readonly string[];
  readonly block?: string;
  /** Further arguments of `sendrawtransaction`. */
  readonly args?: readonly unknown[];
  /** Only later steps need it: whether it would be taken was not asked. */
  readonly setup?: boolean;
  readonly core31: Answers;
}

/** Neither fee nor burnt amount is limited. */
const NO_LIMITS = [0, 21_000_000];

/** Bitcoin Core refused the block because of a taproot spend. bcoin takes it, and all that comes after would be on another chain. */
export const isOnlyTakenHere = ({ core31: { send } }: RecordedStep): boolean =>
  typeof send === 'string' && send.startsWith('block-script-verify-flag-failed');

const linesOf = (file: string): string[] => gunzipSync(readFileSync(file)).toString().trim().split('\n');

export const readSteps = (file: string): RecordedStep[] => linesOf(file).map((line) => JSON.parse(line) as RecordedStep);

export class RecordedPool {
  readonly #caller: RpcCaller;
  #before: ReadonlySet<string> = new Set();

  private constructor(readonly served: RestNode) {
    this.#caller = new RpcCaller(served.port);
  }

  /** A node with the recorded chain. */
  static async open(): Promise<RecordedPool> {
    const settings = { 'rest-core': 'modern', 'rest-pool': 'modern', 'rest-deprecated': 'bip125', 'require-standard': true };
    const served = await openRestNode({ settings });
    for (const block of linesOf(join(__dirname, '../vectors/pool/blocks.txt.gz'))) await served.node.chain.add(blockOf(block));
    await untilReady(served);
    return new RecordedPool(served);
  }

  close(): Promise<void> {
    return this.served.node.close();
  }

  /** Takes a step. Returns what was answered, in the form of the recording; `alone`: without the digest of the whole pool. */
  async take(step: RecordedStep, alone: boolean): Promise<Answers> {
    const recorded = step.core31;
    const test = recorded.test === undefined || step.setup === true ? undefined : await this.#test(step);
    const send = await this.#send(step);
    const entry = recorded.entry && shownFields(await this.#call<Fields>('getmempoolentry', [step.txid]), recorded.entry);
    return {
      ...(test !== undefined && { test }),
      send,
      ...(entry && { entry }),
      ...(recorded.tip !== undefined && { tip: toDisplayHex(this.served.rest.node.tip().hash) }),
      pool: this.#poolThen(alone ? recorded.pool : undefined)
    };
  }

  async #test({ tx, txs = [] }: RecordedStep): Promise<unknown> {
    const trials = await this.#call<readonly Fields[]>('testmempoolaccept', [tx === undefined ? txs : [tx], 0]);
    if (tx === undefined || !Array.isArray(trials)) return trials;
    const { txid, wtxid, ...trial } = trials[0] as Fields;
    return typeof txid === typeof wtxid ? trial : trials;
  }

  async #send({ op, tx, txs, args, block, core31 }: RecordedStep): Promise<unknown> {
    if (op === 'package') return this.#call('submitpackage', [txs, ...NO_LIMITS]);
    if (op === 'tx') {
      const sent = await this.#call('sendrawtransaction', [tx, ...(args ?? NO_LIMITS)]);
      return typeof sent === 'string' ? 'txid' : sent;
    }
    await this.served.node.chain.add(blockOf(block as string)); // a step of blocks has one
    // bcoin does not say whether the block has made another branch.
    return core31.send === 'inconclusive' ? core31.send : null;
  }

  /** The result, or `{error}`. */
  async #call<T>(method: string, params: unknown): Promise<T> {
    const { body } = await this.#caller.post(JSON.stringify({ method, params, id: 1 }));
    const { result, error } = JSON.parse(body.toString()) as { readonly result: T; readonly error: unknown };
    return error === null ? result : ({ error } as T);
  }

  /** `shown`: the size and digest to show instead, if not all steps were taken. */
  #poolThen(shown: PoolThen | undefined): PoolThen {
    const now = new Set(this.served.rest.node.pool.txids().map(toDisplayHex));
    const before = this.#before;
    this.#before = now;
    const all = [...now].sort();
    return {
      size: shown?.size ?? now.size,
      added: all.filter((txid) => !before.has(txid)),
      removed: [...before].filter((txid) => !now.has(txid)).sort(),
      digest: shown?.digest ?? createHash('sha256').update(all.join('\n')).digest('hex').slice(0, 16)
    };
  }
}

const blockOf = (hex: string): ReturnType<typeof bcoin.Block.fromRaw> => bcoin.Block.fromRaw(Buffer.from(hex, 'hex'));

/** The recording has some fields only. */
function shownFields(entry: Fields, recorded: Fields): Fields {
  return Object.fromEntries(
    Object.entries(recorded).map(([name, value]) => {
      const ours = entry[name];
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      return [name, isObject && typeof ours === 'object' ? shownFields(ours as Fields, value as Fields) : ours];
    })
  );
}
