import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { PageCache } from '../../lib/store/page-cache';
import { PAGE_LENGTH } from '../../lib/store/pages';

/** Pages that share places, and their neighbours. */
const SOME = [0, 1, 2, 32_767, 32_768, 32_769, 65_536, 4_294_967_294];

const NUMBER = fc.constantFrom(...SOME);

const STEP = fc.oneof(
  fc.record({ what: fc.constant('put' as const), page: NUMBER, version: fc.nat({ max: 255 }) }),
  fc.record({ what: fc.constant('drop' as const), page: NUMBER, count: fc.constantFrom(1, 2, 3, 40_000, Infinity) }),
  fc.record({ what: fc.constant('clear' as const) })
);

describe('the cache of pages', () => {
  it('has what was put last for a page, or nothing', () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 30 }), (steps) => {
        const cache = new PageCache();
        const put = new Map<number, number>();
        for (const step of steps) {
          if (step.what === 'put') {
            const bytes = Buffer.alloc(PAGE_LENGTH + 10, step.version);
            cache.put(step.page, bytes, 10);
            put.set(step.page, step.version);
            expect(cache.find(step.page)).to.be.at.least(0);
          } else if (step.what === 'drop') {
            cache.drop(step.page, step.page + step.count);
            for (const page of SOME) if (page >= step.page && page < step.page + step.count) put.delete(page);
          } else {
            cache.clear();
            put.clear();
          }
          for (const page of SOME) {
            const start = cache.find(page);
            if (start < 0) continue;
            expect(put.has(page), `page ${page}`).to.equal(true);
            expect(cache.bytes.subarray(start, start + PAGE_LENGTH).equals(Buffer.alloc(PAGE_LENGTH, put.get(page)))).to.equal(true);
          }
        }
      })
    );
  });
});
