import { spawnSync } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { newFolder } from '../support/process/folders';
import { needsProgram } from '../support/process/installed';
import { projectFolder } from '../support/process/project-folder';

const NAME = 'bcoin-rest.service';

/** What systemd's own scale calls well protected: 0 is the best, 10 the worst. */
const MOST_EXPOSURE = 2;

describe('the unit for systemd', () => {
  let unit: string;

  before(async function () {
    needsProgram(this, 'systemd-analyze');
    const folder = await newFolder();
    unit = join(folder, NAME);
    await cp(join(projectFolder, 'docs/operating'), folder, { recursive: true });
    // Node.js may be elsewhere on this machine.
    await writeFile(unit, (await readFile(unit, 'utf8')).replace('/usr/bin/node', process.execPath));
  });

  const analyze = (...args: string[]): { readonly status: number | null; readonly said: string } => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, unit], { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };

  it('is valid', () => {
    expect(analyze('verify', '--man=no')).to.deep.equal({ status: 0, said: '' });
  });

  it('lets the process do little else than its work', () => {
    expect(analyze('security', '--offline=yes', `--threshold=${MOST_EXPOSURE * 10}`).status).to.equal(0);
  });
});
