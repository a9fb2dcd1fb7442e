import { spawnSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { before, describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { piecesOf, PieceWriter, type PieceFile } from '../../lib/scripts/fill/pieces';
import { newFolder } from '../support/process/folders';
import { projectFolder } from '../support/process/project-folder';

const secret = Buffer.alloc(32, 7);

describe('a file of pieces', () => {
  let folder: string;
  let file: PieceFile;

  before(async () => {
    folder = await newFolder();
    file = { path: join(folder, 'rows'), secret };
  });

  /** Writes parts; `undefined` stands for a flush. Returns the length of the file. */
  function write(parts: readonly (Uint8Array | undefined)[], writer = new PieceWriter(file, 0)): number {
    for (const part of parts)
      if (part === undefined) writer.flush();
      else {
        const at = writer.reserve(part.length);
        writer.bytes.set(part, at);
      }
    writer.flush();
    return writer.length;
  }

  const read = (length: number, from = file): Buffer => Buffer.concat([...piecesOf(from, length)]);

  it('reads back what was written, piece by piece', () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.nat({ max: 70_000 }).map((length) => Buffer.alloc(length, length)),
      fc.constant(undefined)
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const length = write(parts);
        expect(read(length).equals(Buffer.concat(parts.filter((each) => each !== undefined)))).to.equal(true);
      }),
      { numRuns: 60 }
    );
  });

  it('keeps bytes that must stay together in one piece', () => {
    const parts = [1, 30_000, 40_000, 65_528, 65_529, 100_000, 5].map((length) => Buffer.alloc(length, 1));
    const pieces = [...piecesOf(file, write(parts))];
    expect(pieces.map(({ length }) => length)).to.deep.equal([30_001, 40_000, 65_528, 65_529, 100_000, 5]);
  });

  it('is named when a full disk does not take a piece', () => {
    const pieces = JSON.stringify(join(projectFolder, 'dist/lib/scripts/fill/pieces'));
    const program = `
      const { PieceWriter } = require(${pieces});
      const writer = new PieceWriter({ path: process.argv[1], secret: Buffer.alloc(32) }, 0);
      writer.reserve(1);
      try {
        writer.flush();
      } catch (error) {
        console.log(error.message, writer.length);
      }
    `;
    const { stdout } = spawnSync('sh', ['-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, '-e', program, file.path]);
    expect(stdout.toString()).to.equal(`EFBIG: file too large, write '${file.path}' 0\n`);
  });

  it('continues after a given length, whatever a crash has left there', () => {
    const length = write([Buffer.from('first')]);
    write([Buffer.from('this is lost, and longer')], new PieceWriter(file, length));
    const end = write([Buffer.from('second')], new PieceWriter(file, length));
    expect(read(end).toString()).to.equal('firstsecond');
    expect(statSync(file.path).size).to.be.greaterThan(end);
  });

  it('is forced to the disk once for what was written to it', () => {
    const writer = new PieceWriter(file, 0);
    expect(writer.force()).to.equal(false);
    write([Buffer.from('some')], writer);
    expect(writer.force()).to.equal(true);
    expect(writer.force()).to.equal(false);
    write([Buffer.from('more')], writer);
    expect(writer.force()).to.equal(true);
  });

  it('can only be read by its owner', () => {
    rmSync(file.path);
    write([Buffer.from('rows')]);
    expect(statSync(file.path).mode & 0o777).to.equal(0o600);
  });

  it('is refused when a bit of it was changed, when it was cut, and when it is missing', () => {
    const length = write([Buffer.alloc(20, 1), undefined, Buffer.alloc(30, 2), undefined, Buffer.alloc(3, 3)]);
    const whole = readFileSync(file.path).subarray(0, length);
    for (let bit = 0; bit < length * 8; bit++) {
      const changed = Buffer.from(whole);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      writeFileSync(file.path, changed);
      expect(() => read(length), `bit ${bit}`).to.throw(DamagedIndexError, file.path);
    }
    for (let end = length - 1; end >= 0; end--) {
      writeFileSync(file.path, whole);
      truncateSync(file.path, end);
      expect(() => read(length), `${end} bytes`).to.throw(DamagedIndexError, 'is cut off after byte');
    }
    rmSync(file.path);
    expect(() => read(length)).to.throw(DamagedIndexError, 'is missing');
  });

  it('is refused under another name or another secret, and with its pieces in another order', () => {
    const length = write([Buffer.alloc(20, 1), undefined, Buffer.alloc(20, 2)]);
    expect(() => read(length, { ...file, secret: Buffer.alloc(32, 8) })).to.throw(DamagedIndexError);
    const whole = readFileSync(file.path).subarray(0, length);
    writeFileSync(file.path, Buffer.concat([whole.subarray(28), whole.subarray(0, 28)]));
    expect(() => read(length)).to.throw(DamagedIndexError);
    writeFileSync(file.path, whole);
    expect(read(length).length).to.equal(40);
    const other = { ...file, path: join(folder, 'other') };
    renameSync(file.path, other.path);
    expect(() => read(length, other)).to.throw(DamagedIndexError);
  });
});
