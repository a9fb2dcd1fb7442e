// The package from the address of a git repository: npm clones it, installs what building
// needs, builds and packs. That takes longer than all the rest, so only the long tests do it.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { newFolder } from '../support/process/folders';
import { projectFolder } from '../support/process/project-folder';
import { testScale } from '../support/process/scale';
import { emptyProject, install, npm, pack } from './packed';

const long = testScale() > 1;

/** The files of the project as they are, in a repository of their own. */
function repository(folder: string): string {
  const git = (cwd: string, ...args: string[]): string => execFileSync('git', args, { cwd, encoding: 'utf8' });
  mkdirSync(folder);
  const paths = git(projectFolder, 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0');
  for (const path of paths.filter((name) => name !== '')) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(projectFolder, path), join(folder, path));
  }
  git(folder, 'init', '--quiet');
  git(folder, 'add', '--all');
  git(folder, '-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '--message', 'as it is');
  return `git+file://${folder}`;
}

describe(`the package from a git address${long ? '' : ' (only in npm run test:long)'}`, function () {
  this.timeout(1_800_000);

  (long ? it : it.skip)('is built, and has the files of the tarball', async () => {
    const folder = await newFolder();
    const [{ files }] = await pack(folder);
    const project = await emptyProject(join(folder, 'project'), { rest: repository(join(folder, 'repository')) });
    await install(project);
    const installed = await readdir(join(project, 'node_modules/rest'), { recursive: true, withFileTypes: true });
    const paths = installed
      .filter((entry) => entry.isFile())
      .map((entry) => relative(join(project, 'node_modules/rest'), join(entry.parentPath, entry.name)));
    expect(paths.sort()).to.deep.equal([...files].sort());
    expect((createRequire(join(project, 'index.js'))('rest') as { readonly id: string }).id).to.equal('rest');
  });

  (long ? it : it.skip)('needs nothing that building needs to be cloned and installed', async () => {
    const folder = await newFolder();
    repository(join(folder, 'repository'));
    for (const scripts of [true, false]) {
      const options = ['--omit=dev', `--ignore-scripts=${!scripts}`, '--prefer-offline', '--no-audit', '--no-fund'];
      await npm(join(folder, 'repository'), 'ci', ...options);
      expect(await readdir(join(folder, 'repository')))
        .to.include('node_modules')
        .and.to.not.include('dist');
    }
  });
});
