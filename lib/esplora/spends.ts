// Which transactions of the chain or of the pool spend outputs.
//
// No index lists spends. The main index knows which outputs are unspent. The transaction that spends an output is in the history of the
// output's script: the index by script names the most likely ones, which are read until one spends it.

import { hash } from 'node:crypto';
import { isUnspendable } from '../bitcoin/script';
import { unlessGone } from '../script-answers/chain-totals';
import { confirmationAt, placeOf, type Transactions } from './transactions';
import type { Placed } from '../script-answers/placed-transaction';
import type { Waiting } from '../rest/server/work-queue';
import type { ScriptReader, ScriptSnapshot } from '../scripts/types';
import type { EsploraSpend } from '../views/esplora/coins';
import type { ScriptPool } from '../script-pool/script-pool';

/** Undefined: nothing spends the output, or there is no such output. */
export type Spend = EsploraSpend | undefined;

/** Scripts of outputs, by output index. */
type Scripts = ReadonlyMap<number, Buffer>;

export interface SpendsParts {
  readonly scripts: ScriptReader;
  readonly pool: ScriptPool;
  readonly transactions: Transactions;
}

export class Spends {
  readonly #parts: SpendsParts;

  constructor(parts: SpendsParts) {
    this.#parts = parts;
  }

  /** The spend of one output, which need not exist. */
  async of(txid: Buffer, index: number, snapshot: ScriptSnapshot, client: Waiting): Promise<Spend> {
    // Pool and snapshot must be of one moment: both are read before anything waits.
    const position = placeOf(txid, snapshot.index);
    const pooled = this.#inPool(txid, index);
    if (position === undefined || snapshot.index.coin(txid, index) !== undefined) return pooled;
    const placed = { txid, position };
    const { outputs } = await this.#parts.transactions.at(placed, snapshot.index, client);
    const script = outputs[index]?.script;
    return script && (await this.#inChain(placed, new Map([[index, script]]), snapshot, client)).get(index);
  }

  /** The spends of all outputs of a transaction. Undefined: neither chain nor pool has the transaction. */
  async ofAll(txid: Buffer, client: Waiting): Promise<readonly Spend[] | undefined> {
    const { scripts, pool, transactions } = this.#parts;
    // The number of outputs must be known before pool and snapshot are read together.
    const outputs = await scripts.read(async (snapshot) => {
      const position = placeOf(txid, snapshot.index);
      if (position === undefined) return pool.get(txid)?.transaction.outputs;
      return (await transactions.at({ txid, position }, snapshot.index, client)).outputs;
    });
    return (
      outputs &&
      scripts.read(async (snapshot) => {
        const position = placeOf(txid, snapshot.index);
        const pooled = outputs.map((_, n) => this.#inPool(txid, n));
        if (position === undefined) return pooled;
        const unspent = new Set((await snapshot.index.coinsOf(txid, position)).map(({ index }) => index));
        const spent = new Map(outputs.flatMap(({ script }, n) => (unspent.has(n) ? [] : [[n, script] as const])));
        const confirmed = await this.#inChain({ txid, position }, spent, snapshot, client);
        return outputs.map((_, n) => (unspent.has(n) ? pooled[n] : confirmed.get(n)));
      })
    );
  }

  #inPool(txid: Buffer, index: number): Spend {
    const spender = this.#parts.pool.spender(txid, index);
    return spender && { txid: spender.transaction.txid, input: spender.input, status: undefined };
  }

  /** The spends of outputs that the main index does not have as coins. */
  async #inChain(placed: Placed, scripts: Scripts, snapshot: ScriptSnapshot, client: Waiting): Promise<ReadonlyMap<number, EsploraSpend>> {
    const spends = new Map<number, EsploraSpend>();
    const seen = new Set<string>();
    const goOn = unlessGone(client);
    for (const [index, script] of scripts) {
      // Unspendable scripts and the outputs of the genesis block are not spent by anything.
      if (isUnspendable(script) || placed.position.height === 0 || spends.has(index)) continue;
      const { txid, position } = placed;
      for await (const at of snapshot.spenders(hash('sha256', script, 'buffer'), { txid, index }, position, { goOn })) {
        const key = `${at.height}/${at.index}`;
        if (seen.has(key)) continue;
        seen.add(key);
        const spender = await snapshot.txidAt(at);
        if (spender === undefined) continue;
        const status = confirmationAt(at.height, snapshot.index);
        const { inputs } = await this.#parts.transactions.at({ txid: spender, position: at }, snapshot.index, client);
        for (const [i, input] of inputs.entries())
          if (input.txid.equals(txid)) spends.set(input.index, { txid: spender, input: i, status });
        // Stops here: finding the next candidate may take the rest of the history.
        if (spends.has(index)) break;
      }
      if (!spends.has(index))
        throw new Error(`no transaction of the chain spends output ${index} of ${txid.toString('hex')}, which is not unspent`);
    }
    return spends;
  }
}
