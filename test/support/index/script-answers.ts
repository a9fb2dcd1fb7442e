// Compares the answers of an index by script with the model of its chain.

import { expect } from 'chai';
import { keyOf } from '../../../lib/bitcoin/hash';
import { HistoryTooLongError } from '../../../lib/scripts/errors';
import { packed } from '../../../lib/scripts/records/positions';
import { StoreError } from '../../../lib/store/errors';
import { caught } from '../expectations/caught';
import { expectSame } from '../expectations/expect-same';
import { sha256, type ScriptModel } from './script-model';
import { until } from '../expectations/until';
import type { Position } from '../../../lib/index/types';
import type { ScriptSnapshot } from '../../../lib/scripts/types';

const nobody = sha256(Buffer.from('nobody'));

const placeOf = ({ height, index }: Position): string => `${height}/${index}`;

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
  await expectSpenders(snapshot, model);
}

/**
 * Fails unless the candidates for each spend are in the order of the chain, each once, the spend among them, and all others are spends of one
 * outpoint of the script, which has the same hint.
 */
async function expectSpenders(snapshot: ScriptSnapshot, model: ScriptModel): Promise<void> {
  // Of each script's outpoints: a coinbase with the txid of an earlier one has the same outpoints (BIP30), so that one may be spent twice.
  const spends = new Map<string, Map<string, Set<string>>>();
  for (const { output, spender, script } of model.spends) {
    const ofScript = spends.get(keyOf(script)) ?? new Map<string, Set<string>>();
    spends.set(keyOf(script), ofScript.set(nameOf(output), (ofScript.get(nameOf(output)) ?? new Set()).add(placeOf(spender))));
  }
  for (const { output, spender, script } of model.spends) {
    const found: Position[] = [];
    for await (const position of snapshot.spenders(script, { ...output, indexes: [output.index] })) found.push(position);
    const numbers = found.map(({ height, index }) => packed(height, index));
    expectSame(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b)
    );
    const places = found.map(placeOf);
    expect(places).to.include(placeOf(spender));
    const ofScript = spends.get(keyOf(script)) ?? expect.fail('spends of the script');
    const others = places.filter((place) => ofScript.get(nameOf(output))?.has(place) !== true);
    if (others.length > 0) expect([...ofScript.values()].some((known) => others.every((place) => known.has(place)))).to.equal(true);
  }
}
