// What filters an index must hold, put together from nothing but the blocks.

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { scanBlock } from '../../lib/bitcoin/block';
import { filterHashOf, filterHeaderOf, filterOfBlock, NO_FILTER_HEADER } from '../../lib/bitcoin/block-filter';
import { decodeFilterEntry, filterTipOf, findFilterSpan, isFilled } from '../../lib/index/records/filter';
import { recordOf } from '../../lib/index/records/layout';
import { decodeTip, TIP_KEY } from '../../lib/index/records/tip';
import { blockHash } from './made-blocks';
import type { Store } from '../../lib/store/store';

/** The serialized filter of a block that spends outputs with these scripts. */
export function filterFrom(raw: Buffer, spent: readonly Buffer[]): Buffer {
  const filter = filterOfBlock(
    scanBlock(raw),
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
  readonly header: Buffer;
}

/** Filters of chains that have blocks in common. */
export class FilterModel {
  /** Scripts by outpoint: of two transactions with one txid the outputs are the same. */
  readonly #scripts = new Map<string, Buffer>();
  /** By block. */
  readonly #filters = new Map<string, Buffer>();

  /** Those of a chain from the genesis block up. */
  of(chain: readonly Buffer[]): BlockFilter[] {
    let header: Buffer = NO_FILTER_HEADER;
    return chain.map((raw) => {
      const hash = blockHash(raw);
      const filter = this.#filters.get(hash.toString('hex')) ?? this.#make(raw, hash);
      header = filterHeaderOf(filterHashOf(filter), header);
      return { hash, filter, header };
    });
  }

  /** Of a block that was in a chain asked for before. */
  ofBlock(hash: Buffer): Buffer | undefined {
    return this.#filters.get(hash.toString('hex'));
  }

  #make(raw: Buffer, hash: Buffer): Buffer {
    const spent: Buffer[] = [];
    for (const { txid, isCoinbase, inputs, outputs } of scanBlock(raw).transactions) {
      for (const input of isCoinbase ? [] : inputs)
        spent.push(this.#scripts.get(`${input.txid.toString('hex')}-${input.index}`) ?? expect.fail('an output that is spent'));
      outputs.forEach(({ script }, index) => this.#scripts.set(`${txid.toString('hex')}-${index}`, script));
    }
    const filter = filterFrom(raw, spent);
    this.#filters.set(hash.toString('hex'), filter);
    return filter;
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

/** Fails when the store has a filter that is not right, or does not have one that it says it has. Filters may be missing. */
export async function expectHonestFilters(store: Store, chain: readonly Buffer[], model: FilterModel): Promise<void> {
  const expected = model.of(chain);
  const heights = { f: [] as number[], g: [] as number[] };
  let headers = 0;
  for await (const [key, value] of store.range({ gte: Buffer.from('e'), lt: Buffer.from('h') })) {
    const letter = key.toString('latin1', 0, 1) as 'e' | 'f' | 'g';
    if (letter === 'e') {
      // Of a block that came and went between two looks nothing is known.
      const filter = recordOf(key, value);
      expect(filter).to.deep.equal(model.ofBlock(key.subarray(1)) ?? filter);
      continue;
    }
    const height = key.readUInt32BE(1);
    heights[letter].push(height);
    const { hash, filter, header } = expected[height] ?? expect.fail(`a filter at height ${height}`);
    if (letter === 'f') expect(recordOf(key, value), `filter ${height}`).to.deep.equal(filter);
    else {
      const entry = decodeFilterEntry(key, value);
      expect(entry.blockHash).to.deep.equal(hash);
      expect(entry.filterHash).to.deep.equal(filterHashOf(filter));
      if (entry.header === undefined) continue;
      expect(entry.header).to.deep.equal(header);
      expect(height, 'headers without a gap').to.equal(headers++);
    }
  }
  expect(heights.f).to.deep.equal(heights.g);
  const span = findFilterSpan(store);
  if (span === undefined) return;
  expect(span.height).to.be.below(chain.length);
  expect(span.hash).to.deep.equal(expected[span.height]?.hash);
  const there = new Set(heights.f);
  for (let height = span.from; height <= span.height; height++) expect(there.has(height), `a filter at height ${height}`).to.equal(true);
}

/** Fails unless each block has its filter and filter header. Waits for them. */
export async function expectFilters(store: Store, chain: readonly Buffer[], model = new FilterModel()): Promise<void> {
  await untilFilled(store);
  await expectHonestFilters(store, chain, model);
}
