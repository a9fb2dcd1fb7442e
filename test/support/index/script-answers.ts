// Compares the answers of an index by script with the model of its chain.

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { HistoryTooLongError } from '../../../lib/scripts/errors';
import { StoreError } from '../../../lib/store/errors';
import { caught } from '../expectations/caught';
import { expectSame } from '../expectations/expect-same';
import { sha256, type ScriptModel } from './script-model';
import { until } from '../expectations/until';
import type { Position } from '../../../lib/index/types';
import type { ScriptSnapshot } from '../../../lib/scripts/types';

const nobody = sha256(Buffer.from('nobody'));

const nameOf = ({ txid, index }: { readonly txid: Buffer; readonly index: number }): string => `${txid.toString('hex')}-${index}`;

/** Fails unless all answers equal those of the model. */
export async function expectScriptAnswers(snapshot: ScriptSnapshot, model: ScriptModel): Promise<void> {
  for (const script of [...model.scripts, nobody]) {
    const history = model.history(script);
    expectSame(await snapshot.history(script, { limit: 10_000 }), [...history].reverse());
    expectSame(await snapshot.history(script, { limit: 10_000, ascending: true }), history);
    const totals = model.totals(script);
    expectSame(await snapshot.totals(script, totals.transactions), totals);
    if (totals.transactions > 0) {
      const fewer = totals.transactions - 1;
      const error = await caught((async () => snapshot.totals(script, fewer))());
      // A store that fails may do so here.
      if (error instanceof StoreError) throw error;
      expect(error).to.be.instanceOf(HistoryTooLongError);
      // Undefined when it cannot be said at once.
      expectSame(snapshot.isShort(script, fewer) ?? false, false);
    }
    expectSame([...(await snapshot.coins(script, 10_000)).coins], model.coins(script));
  }
  // The turn may have no time left for another read.
  await until(() => snapshot.isShort(nobody, 0) === true);
  for (const [height, txids] of model.txids.entries()) {
    expectSame(await snapshot.txids(height), txids);
    for (const [index, txid] of txids.entries()) expectSame(snapshot.txidAt({ height, index }), txid);
    expectSame(snapshot.txidAt({ height, index: txids.length }), undefined);
  }
  // A coinbase with the txid of an earlier one has the same outpoints (BIP30).
  const times = new Map<string, number>();
  for (const { output } of model.spends) times.set(nameOf(output), (times.get(nameOf(output)) ?? 0) + 1);
  for (const { output, spender, script } of model.spends) {
    const found: Position[] = [];
    for await (const position of snapshot.spenders(script, { ...output, indexes: [output.index] })) found.push(position);
    if (!found.some((position) => isDeepStrictEqual(position, spender))) expect(found).to.deep.include(spender);
    expect(found.length).to.be.at.most((times.get(nameOf(output)) ?? 0) + 1);
  }
}
