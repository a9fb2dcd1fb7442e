import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { PositionFile } from '../../lib/fleet/reader/position-file';
import { newFolder } from '../support/folders';

describe('the file that says how far a reader has read the log', () => {
  let folder: string;
  let file: PositionFile;
  let failures: unknown[];

  beforeEach(async () => {
    folder = await newFolder();
    failures = [];
    file = new PositionFile(join(folder, 'position'), (error) => failures.push(error));
  });

  it('has the last position, however quickly they follow each other, once it is closed', async () => {
    for (let sequence = 1; sequence <= 20; sequence++) file.write({ incarnation: 'a', sequence });
    await file.close();
    expect(await file.read()).to.deep.equal({ incarnation: 'a', sequence: 20 });
    file.write({ incarnation: 'b', sequence: 3 });
    await file.close();
    expect(await file.read()).to.deep.equal({ incarnation: 'b', sequence: 3 });
    expect(await readdir(folder)).to.deep.equal(['position']);
    expect(failures).to.deep.equal([]);
  });

  it('is named when the disk is full', async () => {
    await symlink('/dev/full', join(folder, 'position.tmp'));
    file.write({ incarnation: 'a', sequence: 1 });
    await file.close();
    expect(failures.map(String)).to.deep.equal([`Error: ENOSPC: no space left on device, write '${join(folder, 'position.tmp')}'`]);
  });

  it('says nothing where it is missing, or something else is in its place', async () => {
    expect(await file.read()).to.equal(undefined);
    for (const text of ['', 'null', '{"incarnation":"a"}', '{"sequence":1}', '{"incarnation":"a","sequence":1.5}']) {
      await writeFile(join(folder, 'position'), text);
      expect(await file.read(), text).to.equal(undefined);
    }
  });
});
