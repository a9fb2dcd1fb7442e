import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { newFolder } from '../support/process/folders';

const project = resolve(__dirname, '../..');

/** The compiler is slow: here a build only leaves the mark that the project's build leaves too. */
const BUILD = 'test ! -e lib/wrong.ts && mkdir -p dist && touch dist/.built';

describe('setting the project up', function () {
  this.timeout(120_000);
  let copy: string;

  before(async () => {
    copy = await newFolder();
    for (const path of ['.ci', 'proto', 'package-lock.json', 'tsconfig.json'])
      await cp(join(project, path), join(copy, path), { recursive: true });
    for (const folder of ['lib', 'migrations', 'plugin']) await mkdir(join(copy, folder));
    await writeFile(join(copy, 'package.json'), JSON.stringify({ scripts: { build: BUILD } }));
    // The file that npm leaves when it has installed the packages of the lock file.
    await mkdir(join(copy, 'node_modules'));
    await cp(join(project, 'node_modules/.package-lock.json'), join(copy, 'node_modules/.package-lock.json'));
  });

  function setUp(): string {
    const { status, stdout, stderr } = spawnSync(join(copy, '.ci/set-up'), { encoding: 'utf8' });
    expect(status, stdout + stderr).to.equal(0);
    return stdout;
  }

  it('marks the build of this project', () => {
    expect(existsSync(join(project, 'dist/.built'))).to.equal(true);
  });

  it('compiles after changes, says so, and does nothing otherwise', async () => {
    const source = join(copy, 'lib/source.ts');
    const changes: readonly [name: string, change: () => Promise<void>][] = [
      ['a fresh clone', () => Promise.resolve()],
      ['a new file', () => writeFile(source, '1')],
      ['a changed file', () => writeFile(source, '2')],
      ['a deleted file', () => rm(source)],
      ['a deleted build', () => rm(join(copy, 'dist'), { recursive: true })]
    ];
    for (const [name, change] of changes) {
      await change();
      expect(setUp(), name).to.equal('Compiling ...\n');
      expect(setUp(), `after ${name}`).to.equal('');
    }
  });

  it('compiles again after a failed build', async () => {
    await writeFile(join(copy, 'lib/wrong.ts'), '');
    expect(spawnSync(join(copy, '.ci/set-up')).status).to.not.equal(0);
    expect(spawnSync(join(copy, '.ci/set-up')).status).to.not.equal(0);
    await rm(join(copy, 'lib/wrong.ts'));
    expect(setUp()).to.equal('Compiling ...\n');
  });
});
