// The filters that an index must hold, computed from nothing but the blocks.

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { filterHashOf, filterHeaderOf, filterOfBlock, NO_FILTER_HEADER } from '../../../lib/bitcoin/block-filter';
import { decodeFilterEntry, filterTipOf, findFilterSpan, isFilled } from '../../../lib/index/records/filter';
import { recordOf } from '../../../lib/index/records/layout';
import { decodeTip, TIP_KEY } from '../../../lib/index/records/chain';
import { expectSame, expectSameBytes } from '../expectations/expect-same';
import { knownHash, knownScan } from '../chain/known-blocks';
import type { Store } from '../../../lib/store/store';

/** The serialized filter of a block that spends outputs with these scripts. */
export function filterFrom(raw: Buffer, spent: readonly Buffer[]): Buffer {
  const filter = filterOfBlock(
    knownScan(raw),
    spent.map((script) => ({ script }))
  );
  for (;;) {
    const { done, value } = filter.next();
    if (done === true) return value;
  }
}

interface BlockFilter {
  readonly hash: Buffer;
  readonly filter: Buffer;
  readonly filterHash: Buffer;
  readonly header: Buffer;
}

/** Filters of chains that have blocks in common. */
export class FilterModel {
  /** Scripts by outpoint: two transactions with the same txid have the same outputs. */
  readonly #scripts = new Map<string, Buffer>();
  /** By block, whose header determines all blocks before it. */
  readonly #filters = new Map<string, BlockFilter>();

  /** The filters of a chain from the genesis block up. */
  of(chain: readonly Buffer[]): BlockFilter[] {
    let header: Buffer = NO_FILTER_HEADER;
    return chain.map((raw) => {
      const name = knownHash(raw).toString('hex');
      const filter = this.#filters.get(name) ?? this.#make(raw, header);
      this.#filters.set(name, filter);
      header = filter.header;
      return filter;
    });
  }

  /** The filter of a block that was in a chain asked for before. */
  ofBlock(hash: Buffer): Buffer | undefined {
    return this.#filters.get(hash.toString('hex'))?.filter;
  }

  #make(raw: Buffer, headerBefore: Buffer): BlockFilter {
    const spent: Buffer[] = [];
    for (const { txid, isCoinbase, inputs, outputs } of knownScan(raw).transactions) {
      for (const input of isCoinbase ? [] : inputs)
        spent.push(this.#scripts.get(`${input.txid.toString('hex')}-${input.index}`) ?? expect.fail('an output that is spent'));
      outputs.forEach(({ script }, index) => this.#scripts.set(`${txid.toString('hex')}-${index}`, script));
    }
    const filter = filterFrom(raw, spent);
    const filterHash = filterHashOf(filter);
    return { hash: knownHash(raw), filter, filterHash, header: filterHeaderOf(filterHash, headerBefore) };
  }
}

/** Resolves once all blocks of an index that makes filters have them. */
export async function untilFilled(store: Store): Promise<void> {
  for (;;) {
    const tip = store.get(TIP_KEY);
    if (tip !== undefined && isFilled(filterTipOf(store, decodeTip(tip)))) return;
    await setImmediate();
  }
}

/** Fails if the store has a wrong filter, or lacks one that it claims to have. Filters may be missing. */
export async function expectHonestFilters(store: Store, chain: readonly Buffer[], model: FilterModel): Promise<void> {
  const expected = model.of(chain);
  const heights = { f: [] as number[], g: [] as number[] };
  let headers = 0;
  for await (const [key, value] of store.range({ gte: Buffer.from('e'), lt: Buffer.from('h') })) {
    const letter = key.toString('latin1', 0, 1) as 'e' | 'f' | 'g';
    if (letter === 'e') {
      // Blocks that came and went between two checks are unknown.
      const filter = recordOf(key, value);
      expectSameBytes(filter, model.ofBlock(key.subarray(1)) ?? filter);
      continue;
    }
    const height = key.readUInt32BE(1);
    heights[letter].push(height);
    const { hash, filter, filterHash, header } = expected[height] ?? expect.fail(`a filter at height ${height}`);
    if (letter === 'f') expectSameBytes(recordOf(key, value), filter, `filter ${height}`);
    else {
      const entry = decodeFilterEntry(key, value);
      expectSameBytes(entry.blockHash, hash);
      expectSameBytes(entry.filterHash, filterHash);
      if (entry.header === undefined) continue;
      expectSameBytes(entry.header, header);
      expectSame(height, headers++, 'headers without a gap');
    }
  }
  expectSame(heights.f, heights.g);
  const span = findFilterSpan(store);
  if (span === undefined) return;
  expect(span.height).to.be.below(chain.length);
  expect(span.hash).to.deep.equal(expected[span.height]?.hash);
  const there = new Set(heights.f);
  for (let height = span.from; height <= span.height; height++) expectSame(there.has(height), true, `a filter at height ${height}`);
}

/** Fails unless each block has its filter and filter header. Waits for them. */
export async function expectFilters(store: Store, chain: readonly Buffer[], model = new FilterModel()): Promise<void> {
  await untilFilled(store);
  await expectHonestFilters(store, chain, model);
}
