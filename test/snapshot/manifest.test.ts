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

  const one = { name: 'index/CURRENT', size: 16, sha256: '00'.repeat(32) };
  const point = { layout: 1, height: 0, hash: Buffer.alloc(32) };
  const small: SnapshotManifest = { network: 'main', genesisHash: Buffer.alloc(32), index: point, scripts: undefined, files: [one] };

  it('names each file once', () => {
    expect(() => readManifest(manifestText({ ...small, files: [one, one] }))).to.throw('expected index/CURRENT once');
  });

  it('has the version that this program reads, sizes and heights of at least 0, and hashes', () => {
    const text = manifestText(small);
    for (const [from, to, words] of [
      ['"version": 1', '"version": 2', 'a manifest of version 2'],
      ['"size": 16', '"size": -1', 'expected size and SHA-256 of index/CURRENT'],
      ['"size": 16', '"size": 1.5', 'expected size and SHA-256 of index/CURRENT'],
      ['"sha256": "00', '"sha256": "0', 'expected size and SHA-256 of index/CURRENT'],
      ['"height": 0', '"height": -1', 'expected layout and height of an index'],
      ['"layout": 1', '"layout": "1"', 'expected layout and height of an index'],
      ['"hash": "00', '"hash": "', 'expected the hash of a block'],
      ['index/CURRENT', 'index/LOCK', 'expected the name of a file of an index']
    ] as const) {
      expect(text).to.include(from);
      expect(() => readManifest(text.replace(from, to)), to).to.throw(SnapshotError, words);
    }
  });
});
