// A node of the Bitcoin Core family on regtest, which BITCOIND names. BITCOIND_FLAGS: more options, for a build
// whose policy is another one.

import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { scanWholeTransaction, type SpentOutput } from '../../../lib/bitcoin/transaction';
import { newFolder } from '../process/folders';
import { freePort } from '../bcoin/regtest-node';
import { RpcCaller, basic } from '../client/rpc';

const RETRY_MS = 100;
const MATURITY = 100;

interface PoolAnswer {
  readonly allowed: boolean;
  readonly 'reject-reason'?: string;
}

/** A coin of the node's chain. */
export interface CoreCoin extends SpentOutput {
  /** 36 bytes. */
  readonly outpoint: Buffer;
}

export class CoreNode {
  private constructor(
    readonly rpc: RpcCaller,
    /** `user:password` of its JSON-RPC. */
    readonly credentials: string,
    readonly stop: () => Promise<void>
  ) {}

  /** `options`: instead of those that let in standard transactions alone. */
  static async start(program: string, options: readonly string[] = ['-acceptnonstdtxn=0']): Promise<CoreNode> {
    const [folder, port] = [await newFolder(), await freePort()];
    const flags = process.env['BITCOIND_FLAGS']?.split(' ') ?? [];
    const child = spawn(
      program,
      ['-regtest', `-datadir=${folder}`, '-server', '-listen=0', '-connect=0', '-dnsseed=0', `-rpcport=${port}`, ...options, ...flags],
      { stdio: ['ignore', 'ignore', 'inherit'] }
    );
    process.once('exit', () => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
      try {
        const cookie = await readFile(join(folder, 'regtest/.cookie'), 'latin1');
        const rpc = new RpcCaller(port, basic(cookie));
        await rpc.call('getblockcount');
        return new CoreNode(rpc, cookie, async () => {
          child.kill();
          await ended;
        });
      } catch {
        await pause(RETRY_MS);
      }
    }
  }

  /** Mines so many blocks to a locking script, and returns the coins of those that are mature afterwards. */
  async mine(count: number, script: Buffer): Promise<CoreCoin[]> {
    const { descriptor } = await this.rpc.call<{ descriptor: string }>('getdescriptorinfo', `raw(${script.toString('hex')})`);
    const blocks = await this.rpc.call<string[]>('generatetodescriptor', count + MATURITY, descriptor);
    const coins: CoreCoin[] = [];
    for (const block of blocks.slice(0, count)) {
      const { tx } = await this.rpc.call<{ tx: { hex: string }[] }>('getblock', block, 2);
      const coinbase = scanWholeTransaction(Buffer.from(tx[0]?.hex ?? '', 'hex'));
      coins.push(...coinsOf(coinbase.raw).filter(({ value }) => value > 0));
    }
    return coins;
  }

  /** Puts transactions into a block. */
  async mineTransactions(transactions: readonly Buffer[]): Promise<void> {
    await this.rpc.call(
      'generateblock',
      'raw(51)#8lvh9jxk',
      transactions.map((raw) => raw.toString('hex'))
    );
  }

  /** Why the pool refuses each of some transactions; undefined: it would take it. */
  async poolVerdicts(transactions: readonly Buffer[]): Promise<(string | undefined)[]> {
    const answers = await this.#batch<PoolAnswer[]>(transactions.map((raw) => ['testmempoolaccept', [[raw.toString('hex')], 0]]));
    return answers.map(({ result, error }) => {
      const answer = result?.[0];
      if (answer === undefined) throw new Error(error?.message ?? 'expected an answer');
      return answer.allowed ? undefined : (answer['reject-reason'] ?? 'no reason');
    });
  }

  /** Why a block may not hold each of some transactions; undefined: it may. */
  async blockVerdicts(transactions: readonly Buffer[]): Promise<(string | undefined)[]> {
    const answers = await this.#batch(transactions.map((raw) => ['generateblock', ['raw(51)#8lvh9jxk', [raw.toString('hex')], false]]));
    return answers.map(({ error }) => error?.message);
  }

  async #batch<T>(calls: readonly (readonly [method: string, params: readonly unknown[]])[]): Promise<Reply<T>[]> {
    const { body } = await this.rpc.post(JSON.stringify(calls.map(([method, params], id) => ({ method, params, id }))));
    return JSON.parse(body.toString()) as Reply<T>[];
  }
}

interface Reply<T> {
  readonly result: T | null;
  readonly error: { readonly message: string } | null;
}

/** The outputs of a transaction. */
export function coinsOf(raw: Buffer): CoreCoin[] {
  const transaction = scanWholeTransaction(raw);
  return transaction.outputs.map(({ value, script }, index) => {
    const number = Buffer.alloc(4);
    number.writeUInt32LE(index);
    return { value, script, outpoint: Buffer.concat([transaction.txid, number]) };
  });
}
