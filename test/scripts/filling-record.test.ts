import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { putRecord } from '../../lib/index/records/layout';
import { findFilling, putFilling, type FillingProgress } from '../../lib/scripts/records/filling';

const readBack = (value: Buffer): FillingProgress | undefined => findFilling({ get: () => value });

describe('the record of an index that is being filled', () => {
  it('says how far the filling is', () => {
    const progress: fc.Arbitrary<FillingProgress> = fc.record({
      step: fc.constantFrom('partitioning' as const, 'sorting' as const),
      at: fc.option(
        fc.record({
          height: fc.integer({ min: 0, max: 0xffff_fffe }),
          hash: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))
        }),
        { nil: undefined }
      ),
      loaded: fc.nat(),
      lengths: fc.array(fc.integer({ min: 0, max: 2 ** 48 - 1 }), { minLength: 1, maxLength: 20 })
    });
    fc.assert(
      fc.property(progress, (each) => {
        expect(readBack(putFilling(each).value)).to.deep.equal(each);
      })
    );
  });

  it('does not exist when the index is not being filled', () => {
    expect(findFilling({ get: () => undefined })).to.equal(undefined);
  });

  it('is damaged with another step, or without lengths of files', () => {
    const { key, value } = putFilling({ step: 'sorting', at: undefined, loaded: 0, lengths: [1] });
    const record = value.subarray(0, value.length - 4);
    for (const other of [
      Buffer.concat([Buffer.of(3), record.subarray(1)]),
      record.subarray(0, -6),
      record.subarray(0, -1),
      Buffer.concat([record, Buffer.alloc(1)]),
      Buffer.alloc(0)
    ])
      expect(() => readBack(putRecord(key, other).value)).to.throw(DamagedIndexError);
  });
});
