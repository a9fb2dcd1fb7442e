// Calls methods of the Electrum protocol as a client of a certain version, without a connection.

import { hash } from 'node:crypto';
import { electrumErrorOf } from '../../../lib/electrum/errors';
import { methodTable } from '../../../lib/electrum/method-table';
import { VERSION } from './served-node';
import { unfailing } from '../expectations/unfailing';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { outpointText } from '../../../lib/electrum/outpoint-text';
import type { Outpoint } from '../../../lib/bitcoin/transaction';
import type { ElectrumClient, MethodContext, MethodTable, Protocol, Subscriptions } from '../../../lib/electrum/method';
import type { Client } from '../../../lib/turns/client';
import type { ServedNode } from './served-node';

/** The result of a call. */
export type MethodAnswer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } };

interface HistoryItem {
  readonly tx_hash: string;
  readonly height: number;
}

/** Remembers the subscriptions. Statuses are computed from histories. */
class AddedSubscriptions implements Subscriptions {
  headers = 0;
  /** Names by script. */
  readonly scripts = new Map<string, string>();
  readonly outpoints = new Set<string>();
  readonly #caller: MethodCaller;

  constructor(caller: MethodCaller) {
    this.#caller = caller;
  }

  addHeaders(): void {
    this.headers++;
  }

  async addScript(script: Buffer, name: string, worked: (transactions: number) => void): Promise<Buffer | undefined> {
    this.scripts.set(script.toString('hex'), name);
    const answer = await this.#caller.call('blockchain.scripthash.get_history', [name]);
    const history = 'result' in answer ? (answer.result as readonly HistoryItem[]) : [];
    worked(history.length);
    if (history.length === 0) return undefined;
    return hash('sha256', history.map(({ tx_hash, height }) => `${tx_hash}:${height}:`).join(''), 'buffer');
  }

  removeScript(script: Buffer): boolean {
    return this.scripts.delete(script.toString('hex'));
  }

  async statusOf(script: Buffer, worked: (transactions: number) => void): Promise<Buffer | undefined> {
    const before = new Map(this.scripts);
    const status = await this.addScript(script, toDisplayHex(script), worked);
    this.scripts.clear();
    for (const [key, name] of before) this.scripts.set(key, name);
    return status;
  }

  async addOutpoint(outpoint: Outpoint, client: Client, worked: (rows: number) => void): Promise<string> {
    const { scripts, outpoints } = this.#caller.answers;
    this.outpoints.add(nameOf(outpoint));
    const { status, rows } = await scripts.read((snapshot) => outpoints.at(outpoint, snapshot, client));
    worked(rows);
    return outpointText(status);
  }

  removeOutpoint(outpoint: Outpoint): boolean {
    return this.outpoints.delete(nameOf(outpoint));
  }
}

const nameOf = ({ txid, index }: Outpoint): string => `${toDisplayHex(txid)}:${index}`;

export class MethodCaller {
  readonly table: MethodTable;
  readonly subscriptions = new AddedSubscriptions(this);
  /** The cost of all calls. */
  points = 0;

  readonly answers: ServedNode['answers'];
  readonly #gate: ServedNode['serving']['gate'];

  constructor(
    { answers, serving }: Pick<ServedNode, 'answers' | 'serving'>,
    options: Partial<Pick<MethodContext, 'maxHistory' | 'broadcast' | 'about'>> = {}
  ) {
    this.answers = answers;
    this.#gate = serving.gate;
    this.table = methodTable({
      ...answers,
      version: VERSION,
      maxHistory: 80_000,
      broadcast: true,
      about: { banner: undefined, donationAddress: '', hosts: [], peers: [] },
      ...options
    });
  }

  async call(name: string, values: readonly unknown[], protocol: Protocol = '1.6'): Promise<MethodAnswer> {
    const method = this.table[name];
    if (method === undefined) throw new Error(`expected a method of the table, got ${name}`);
    const client: ElectrumClient = {
      protocol,
      subscriptions: this.subscriptions,
      isGone: false,
      charge: (points) => (this.points += points)
    };
    try {
      return { result: JSON.parse((await method.answer(values, client)).toString()) };
    } catch (error) {
      const { code, message } = electrumErrorOf(error, this.#gate, { error: unfailing });
      return { error: { code, message } };
    }
  }
}
