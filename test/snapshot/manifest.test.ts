import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { SnapshotError } from '../../lib/snapshot/errors';
import { manifestText, readManifest, type SnapshotManifest } from '../../lib/snapshot/manifest';

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const state = fc.record({ layout: fc.nat(9), height: fc.nat(), hash });
const file = fc.record({
  name: fc
    .tuple(fc.constantFrom('index', 'scripts'), fc.constantFrom('CURRENT', 'PAGES', 'MANIFEST-000012', '000001.log', '1234567.ldb'))
    .map((parts) => parts.join('/')),
  size: fc.nat(2 ** 40),
  sha256: hash.map((bytes) => bytes.toString('hex'))
});
const manifest = fc.record({
  network: fc.constantFrom('main', 'regtest'),
  genesisHash: hash,
  index: state,
  scripts: fc.option(state, { nil: undefined }),
  files: fc.uniqueArray(file, { selector: ({ name }) => name })
}) as fc.Arbitrary<SnapshotManifest>;

describe('the manifest of a snapshot', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(manifest, (written) => {
        expect(readManifest(manifestText(written))).to.deep.equal(written);
      })
    );
  });

  it('is refused with a sentence, whatever was put in its place', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(() => readManifest(text)).to.throw(SnapshotError);
      })
    );
  });

  it('names each file once', () => {
    const one = { name: 'index/CURRENT', size: 16, sha256: '00'.repeat(32) };
    const point = { layout: 1, height: 0, hash: Buffer.alloc(32) };
    const text = manifestText({ network: 'main', genesisHash: Buffer.alloc(32), index: point, scripts: undefined, files: [one, one] });
    expect(() => readManifest(text)).to.throw('expected index/CURRENT once');
  });
});
