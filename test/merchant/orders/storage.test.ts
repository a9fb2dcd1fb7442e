import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { FolderStorage } from '../../../lib/merchant/orders/storage';
import { newFolder } from '../../support/process/folders';
import { projectFolder } from '../../support/process/project-folder';

describe('FolderStorage', () => {
  let parent: string;
  let folder: string;

  beforeEach(async () => {
    parent = await newFolder();
    folder = join(parent, 'a/b');
  });

  it('creates its folder, accessible only to its owner', async () => {
    await FolderStorage.open(folder);
    expect((await stat(folder)).mode & 0o777).to.equal(0o700);
  });

  it('removes the access of others to an existing folder and its files', async () => {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
    const [one, two, secret] = ['one.json', 'two.json', 'webhook-secret'] as const;
    await writeFile(join(folder, secret), '');
    await writeFile(join(folder, one), '1');
    await chmod(join(folder, one), 0o644);
    const storage = await FolderStorage.open(folder);
    await storage.write(two, Buffer.from('2'));
    const modes = await Promise.all(['', one, two, secret].map(async (name) => (await stat(join(folder, name))).mode & 0o777));
    expect(modes).to.deep.equal([0o700, 0o600, 0o600, 0o600]);
  });

  it('leaves a folder as it is that others may enter and that has other files, too', async () => {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
    for (const name of ['one.json', 'run.sh']) {
      await writeFile(join(folder, name), '');
      await chmod(join(folder, name), 0o755);
    }
    expect(await FolderStorage.open(folder).catch((reason: unknown) => reason))
      .to.have.property('message')
      .that.equals(`others may enter ${folder}, and it has what is not the merchant's: run.sh`);
    const modes = await Promise.all(['', 'one.json', 'run.sh'].map(async (name) => (await stat(join(folder, name))).mode & 0o777));
    expect(modes).to.deep.equal([0o755, 0o755, 0o755]);
  });

  it('is not opened where no folder can be created', async () => {
    const file = join(parent, 'file');
    await writeFile(file, '');
    expect(await FolderStorage.open(file).catch((reason: unknown) => reason))
      .to.have.property('message')
      .that.includes(file);
  });

  it('is not opened where the system makes no folders', async () => {
    const refused = await FolderStorage.open('/proc/a/b').catch((reason: unknown) => reason);
    expect(refused).to.have.property('message').that.includes('/proc');
  });

  const everythingAllowed = process.getuid?.() === 0;
  (everythingAllowed ? it.skip : it)(
    `is not opened when nothing can be written${everythingAllowed ? ', not checked: root may write everywhere' : ''}`,
    async () => {
      await mkdir(folder, { recursive: true });
      await chmod(folder, 0o500);
      expect(await FolderStorage.open(folder).catch((reason: unknown) => reason)).to.have.property('code', 'EACCES');
    }
  );

  it('gives back what was written, also after it is opened again', async () => {
    await (await FolderStorage.open(folder)).write('one', Buffer.from('1'));
    expect((await (await FolderStorage.open(folder)).read('one'))?.toString()).to.equal('1');
  });

  it('has nothing under a name that was not written', async () => {
    expect(await (await FolderStorage.open(folder)).read('one')).to.equal(undefined);
  });

  it('replaces an existing file, and leaves no other file', async () => {
    const storage = await FolderStorage.open(folder);
    await storage.write('one', Buffer.from('first'));
    await storage.write('one', Buffer.from('2'));
    expect((await storage.read('one'))?.toString()).to.equal('2');
    expect(await readdir(folder)).to.deep.equal(['one']);
  });

  it('is not disturbed by a file that a crash left unfinished', async () => {
    const storage = await FolderStorage.open(folder);
    await writeFile(join(folder, 'one.tmp'), 'half of a lon');
    expect(await storage.read('one')).to.equal(undefined);
    await storage.write('one', Buffer.from('1'));
    expect((await storage.read('one'))?.toString()).to.equal('1');
  });

  it('names the file that a full disk did not take, in one line, and keeps what was in it', async () => {
    const storage = await FolderStorage.open(folder);
    await storage.write('one', Buffer.from('first'));
    const written = (module: string): string => JSON.stringify(join(projectFolder, 'dist/lib', module));
    const program = `
      const { FolderStorage } = require(${written('merchant/orders/storage')});
      const { detailsOf } = require(${written('system/error-text')});
      FolderStorage.open(process.argv[1])
        .then((storage) => storage.write('one', Buffer.from('second')))
        .catch((error) => console.log(detailsOf(error)));
    `;
    const { stdout } = spawnSync('sh', ['-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, '-e', program, folder]);
    expect(stdout.toString()).to.equal(`EFBIG: file too large, write '${join(folder, 'one.tmp')}'\n`);
    expect((await storage.read('one'))?.toString()).to.equal('first');
    expect(await readdir(folder)).to.deep.equal(['one']);
  });

  it('does not mistake other errors for absence', async () => {
    const storage = await FolderStorage.open(folder);
    const error: unknown = await storage.read('.').catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'EISDIR');
  });
});
