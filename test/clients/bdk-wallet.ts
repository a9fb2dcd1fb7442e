// A wallet of BDK's in its process (bdk-process.mjs).

import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';

/** The wallet's knowledge. Amounts in satoshis; hashes as displayed. */
export interface BdkState {
  readonly confirmed: number;
  /** Including the pool. */
  readonly total: number;
  readonly height: number;
  readonly hash: string;
  /** In no particular order. Without height and block: in the pool. */
  readonly transactions: readonly { readonly txid: string; readonly height?: number; readonly block?: string }[];
}

interface BdkSent {
  readonly txid: string;
  readonly fee: number;
}

interface BdkCall {
  newAddress(): Promise<string>;
  /** Searches for everything that was ever paid to the wallet. */
  fullScan(): Promise<BdkState>;
  /** Checks the addresses that it has revealed. */
  sync(): Promise<BdkState>;
  /** `rate`: satoshis for a virtual byte. @throws the service's refusal */
  send(address: string, sats: number, rate?: number): Promise<BdkSent>;
  /** Pays everything that it has to one address. @throws the service's refusal */
  sweep(address: string, rate: number): Promise<BdkSent>;
  /** Whether the service knows a transaction. */
  has(txid: string): Promise<boolean>;
}

type BdkAnswer = { readonly value: unknown } | { readonly error: string };

/** Controls it by messages. */
export class BdkWallet implements BdkCall {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#process = child;
    this.#ended = once(child, 'exit');
  }

  /** The same seed gives the same wallet, which knows nothing about the chain yet. */
  static async open(port: number, seed: Buffer = randomBytes(64), type: 'p2wpkh' | 'p2tr' = 'p2wpkh'): Promise<BdkWallet> {
    const child = fork(join(__dirname, 'bdk-process.mjs'), [`http://127.0.0.1:${port}/api`, seed.toString('hex'), type], {
      execArgv: ['--experimental-wasm-modules', '--no-warnings']
    });
    const wallet = new BdkWallet(child);
    await wallet.#answer();
    return wallet;
  }

  newAddress(): Promise<string> {
    return this.#call('newAddress');
  }

  fullScan(): Promise<BdkState> {
    return this.#call('fullScan');
  }

  sync(): Promise<BdkState> {
    return this.#call('sync');
  }

  send(address: string, sats: number, rate?: number): Promise<BdkSent> {
    return this.#call('send', address, sats, rate);
  }

  sweep(address: string, rate: number): Promise<BdkSent> {
    return this.#call('sweep', address, rate);
  }

  has(txid: string): Promise<boolean> {
    return this.#call('has', txid);
  }

  async close(): Promise<void> {
    this.#process.kill();
    await this.#ended;
  }

  async #call<T>(name: keyof BdkCall, ...args: readonly unknown[]): Promise<T> {
    const answer = this.#answer();
    this.#process.send({ name, args });
    return (await answer) as T;
  }

  async #answer(): Promise<unknown> {
    const ended = this.#ended.then(() => [{ error: 'BDK ended' }]);
    const [answer] = (await Promise.race([once(this.#process, 'message'), ended])) as [BdkAnswer];
    if ('error' in answer) throw new Error(answer.error);
    return answer.value;
  }
}

/** Its transactions. */
export const idsOf = ({ transactions }: BdkState): string[] => transactions.map(({ txid }) => txid);
