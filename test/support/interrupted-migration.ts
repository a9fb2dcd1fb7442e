// A migration that is interrupted at each of its writes in turn.

import { expect } from 'chai';
import { LAYOUT_VERSION } from '../../lib/index/layout';
import { migrate } from '../../lib/store/migrate';
import { migrations } from '../../migrations';
import { FaultyStore } from './faulty-store';
import { imageOf } from './utxo-model';
import type { Store } from '../../lib/store/store';

/** Fails unless it goes on and leads to the same, whether the write was still done or not. `makeStore`: an open one, not migrated. */
export async function expectToGoOn(makeStore: () => Promise<Store>, expected: readonly string[]): Promise<void> {
  for (const afterwards of [false, true]) {
    for (let n = 0, finished = false; !finished; n++) {
      const store = new FaultyStore(await makeStore());
      store.fail('batch', n, afterwards);
      const failure = await toNewest(store).catch((error: unknown) => error);
      finished = !store.hasFailed;
      expect(failure === undefined, `write ${n}`).to.equal(finished);
      store.heal();
      await toNewest(store);
      expect(await imageOf(store), `write ${n}`).to.deep.equal(expected);
    }
  }
}

export const toNewest = (store: Store): Promise<void> => migrate(store, migrations, { version: LAYOUT_VERSION });
