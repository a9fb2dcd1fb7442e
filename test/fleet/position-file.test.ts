import { readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { Keeping } from '../../lib/fleet/reader/keeping';
import { PositionFile } from '../../lib/fleet/reader/position-file';
import { newFolder } from '../support/process/folders';
import { MemoryLog } from '../support/process/memory-log';

describe('the file that says how far a reader has read the log', () => {
  let folder: string;
  let file: PositionFile;
  let log: MemoryLog;

  beforeEach(async () => {
    folder = await newFolder();
    log = new MemoryLog();
    file = new PositionFile(join(folder, 'position'), new Keeping('The position', log));
  });

  it('has the last position, however quickly they follow each other, once it is closed', async () => {
    for (let sequence = 1; sequence <= 20; sequence++) file.write({ incarnation: 'a', sequence });
    await file.close();
    expect(await file.read()).to.deep.equal({ incarnation: 'a', sequence: 20 });
    file.write({ incarnation: 'b', sequence: 3 });
    await file.close();
    expect(await file.read()).to.deep.equal({ incarnation: 'b', sequence: 3 });
    expect(await readdir(folder)).to.deep.equal(['position']);
    expect(log.lines).to.deep.equal([]);
  });

  it('is named once while the disk is full, and again when it was not meanwhile', async () => {
    const unfinished = join(folder, 'position.tmp');
    const write = async (sequence: number): Promise<void> => {
      file.write({ incarnation: 'a', sequence });
      await file.close();
    };
    const full = `warning The position is not kept on the disk: ENOSPC: no space left on device, write '${unfinished}'.`;
    for (let round = 0; round < 2; round++) {
      await symlink('/dev/full', unfinished);
      for (let sequence = 1; sequence <= 3; sequence++) await write(sequence);
      await rm(unfinished);
      for (let sequence = 4; sequence <= 6; sequence++) await write(sequence);
      const said = [full, 'info The position is kept on the disk again.'];
      expect(log.lines).to.deep.equal(round === 0 ? said : [...said, ...said]);
    }
    expect(await file.read()).to.deep.equal({ incarnation: 'a', sequence: 6 });
  });

  it('says nothing where it is missing, or something else is in its place', async () => {
    expect(await file.read()).to.equal(undefined);
    for (const text of ['', 'null', '{"incarnation":"a"}', '{"sequence":1}', '{"incarnation":"a","sequence":1.5}']) {
      await writeFile(join(folder, 'position'), text);
      expect(await file.read(), text).to.equal(undefined);
    }
  });
});
