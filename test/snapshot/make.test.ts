import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rm, stat, truncate, writeFile, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { ScriptWriter } from '../../lib/scripts/write/script-writer';
import { SnapshotError } from '../../lib/snapshot/errors';
import { withFolderLock } from '../../lib/snapshot/folder-lock';
import { makeSnapshot } from '../../lib/snapshot/make';
import { readManifest } from '../../lib/snapshot/manifest';
import { DiskStore } from '../../lib/store/disk-store';
import { PAGE_LENGTH } from '../../lib/store/pages';
import { chainAActiveBlocks } from '../support/chain/chain-a';
import { caught } from '../support/expectations/caught';
import { newFolder } from '../support/process/folders';
import { blockHash } from '../support/chain/made-blocks';
import { ScriptModel } from '../support/index/script-model';
import { replaceByUnreadable } from '../support/process/unreadable-file';
import { madeSnapshot, indexFolder, onRegtest, snapshot } from './made';

/** The files and folders that are written to the disk meanwhile. */
async function syncedDuring(use: () => Promise<unknown>): Promise<readonly string[]> {
  const synced: string[] = [];
  const handle = await open(await newFolder());
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = Object.getOwnPropertyDescriptor(prototype, 'sync')?.value as FileHandle['sync'];
  prototype.sync = function (this: FileHandle) {
    synced.push(realpathSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  };
  try {
    await use();
  } finally {
    prototype.sync = sync;
  }
  return synced;
}

describe('making and verifying a snapshot', () => {
  let made: Awaited<ReturnType<typeof madeSnapshot>>;

  beforeEach(async () => {
    made = await madeSnapshot(120);
  });

  const firstTable = async (): Promise<string> =>
    readManifest(await readFile(join(made.folder, 'manifest.json'), 'utf8')).files.find(({ name }) => name.endsWith('.ldb'))?.name ??
    expect.fail('a table');

  it('signs with a key that only its owner can read, and that stays', async () => {
    const key = join(made.prefix, 'regtest/rest/snapshot-key.pem');
    expect((await stat(key)).mode & 0o777).to.equal(0o600);
    expect((await stat(made.folder)).mode & 0o777).to.equal(0o700);
    const other = join(await newFolder(), 'other');
    expect((await snapshot('make', other, ...onRegtest(made.prefix))).out).to.include(`Signed by ${made.key}`);
    expect((await snapshot('verify', other, '--trust', made.key)).out).to.match(
      /^The snapshot is whole: the index of regtest at block 119 /
    );
  });

  it('signs with the key of a fleet', async () => {
    const [folder, other] = [await newFolder(), await newFolder()];
    const key = join(folder, 'fleet.pem');
    const { out } = await snapshot('make', join(folder, 'one'), ...onRegtest(made.prefix), '--key', key);
    await writeFile(join(folder, 'trusted'), `${/Signed by (\w+)/.exec(out)?.[1] ?? ''}\n`);
    await snapshot('make', join(other, 'two'), ...onRegtest(await indexFolder(50)), '--key', key);
    expect((await snapshot('verify', join(other, 'two'), '--trust', join(folder, 'trusted'))).status).to.equal(0);
    expect((await snapshot('verify', join(other, 'two'), '--trust', made.key)).err).to.match(/is signed by .*, not by /);
  });

  it('finds a flipped byte, a missing, a short, and a superfluous file', async () => {
    const name = await firstTable();
    const bytes = await readFile(join(made.folder, name));
    const verified = async (): Promise<string> => {
      const { status, err } = await snapshot('verify', made.folder);
      expect(status).to.equal(1);
      return err;
    };
    await writeFile(join(made.folder, 'index/000009.log'), '');
    expect(await verified()).to.equal('index/000009.log is not in the manifest\n');
    await rm(join(made.folder, 'index/000009.log'));
    bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
    await writeFile(join(made.folder, name), bytes);
    expect(await verified()).to.equal(`${name} is not the file that the manifest names\n`);
    await truncate(join(made.folder, name), 100);
    expect(await verified()).to.match(/has 100 bytes instead of \d+\n$/);
    await rm(join(made.folder, name));
    expect(await verified()).to.equal(`${name} is missing\n`);
    // Its end is a hole, which takes no space.
    await truncate(join(made.folder, 'manifest.json'), 3 * 2 ** 30);
    expect(await verified()).to.equal('manifest.json is longer than 16777216 bytes\n');
  });

  it('is on the disk before it has its name', async () => {
    const folder = join(await newFolder(), 'one');
    const unfinished = `${folder}.unfinished`;
    const synced = await syncedDuring(() => snapshot('make', folder, ...onRegtest(made.prefix)));
    const { files } = readManifest(await readFile(join(folder, 'manifest.json'), 'utf8'));
    const names = [...files.map(({ name }) => name), 'manifest.json', 'manifest.sig', 'index', ''];
    expect(synced).to.include.members(names.map((name) => join(unfinished, name)));
    expect(synced.at(-1)).to.equal(dirname(folder));
  });

  it('leaves a folder alone that has something in it', async () => {
    expect((await snapshot('make', made.folder, ...onRegtest(made.prefix))).err).to.equal(`${made.folder} is not empty\n`);
    expect((await snapshot('verify', made.folder)).status).to.equal(0);
  });

  it('leaves alone what comes into the folder while it is made', async () => {
    const folder = join(await newFolder(), 'one');
    const [rest, file] = [join(made.prefix, 'regtest/rest'), join(folder, 'file')];
    const making = makeSnapshot(folder, {
      network: 'regtest',
      genesisHash: blockHash(chainAActiveBlocks()[0]?.raw ?? expect.fail('a genesis block')),
      places: { folder: rest, index: join(rest, 'index'), scripts: join(rest, 'scripts') },
      keyFile: join(rest, 'snapshot-key.pem'),
      signal: new AbortController().signal,
      onProgress: () => {
        mkdirSync(folder, { recursive: true });
        writeFileSync(file, 'precious');
      }
    });
    expect(await caught(making))
      .to.be.instanceOf(SnapshotError)
      .with.property('message', `${folder} is not empty`);
    expect(await readFile(file, 'utf8')).to.equal('precious');
  });

  it('is refused while another process makes one in the same place, or has something else where it is made', async () => {
    const folder = join(await newFolder(), 'one');
    const unfinished = `${folder}.unfinished`;
    await mkdir(unfinished);
    await withFolderLock(unfinished, 'locked', async () => {
      const { err } = await snapshot('make', folder, ...onRegtest(made.prefix));
      expect(err).to.equal(`another process is making a snapshot in ${folder}\n`);
    });
    await writeFile(join(unfinished, 'notes'), 'mine');
    const { err } = await snapshot('make', folder, ...onRegtest(made.prefix));
    expect(err).to.equal(`${unfinished} is needed meanwhile, and has something else in it: notes\n`);
    expect(await readFile(join(unfinished, 'notes'), 'utf8')).to.equal('mine');
  });

  it('begins anew where an earlier call has ended half way', async () => {
    const folder = join(await newFolder(), 'one');
    for (const name of ['index', 'scripts']) {
      await mkdir(join(`${folder}.unfinished`, name), { recursive: true, mode: 0o755 });
      await writeFile(join(`${folder}.unfinished`, name, '000009.ldb'), 'half');
      // As a table is named that is copied.
      await writeFile(join(`${folder}.unfinished`, name, basename(await firstTable())), 'half');
    }
    expect((await snapshot('make', folder, ...onRegtest(made.prefix))).status).to.equal(0);
    expect((await snapshot('verify', folder)).status).to.equal(0);
    expect((await readdir(folder)).sort()).to.deep.equal(['index', 'manifest.json', 'manifest.sig']);
    expect((await stat(folder)).mode & 0o777).to.equal(0o700);
    expect(existsSync(`${folder}.unfinished`)).to.equal(false);
  });

  it('leaves out an index by script that has no blocks yet', async () => {
    const store = new DiskStore(join(made.prefix, 'regtest/rest/scripts'));
    await store.open();
    await store.close();
    const folder = join(await newFolder(), 'one');
    expect((await snapshot('make', folder, ...onRegtest(made.prefix))).status).to.equal(0);
    expect((await readdir(folder)).sort()).to.deep.equal(['index', 'manifest.json', 'manifest.sig']);
  });

  it('signs with no key of another kind, and replaces none that cannot be read', async function () {
    const [key, folder] = [join(await newFolder(), 'key.pem'), join(await newFolder(), 'one')];
    const make = async (): Promise<string> => (await snapshot('make', folder, ...onRegtest(made.prefix), '--key', key)).err;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    expect(await make()).to.equal(`${key} is a key of type ec, not ed25519\n`);
    if (process.platform !== 'linux') this.skip();
    await replaceByUnreadable(key);
    expect(await make()).to.include('EIO');
    expect((await lstat(key)).isSymbolicLink()).to.equal(true);
    expect(existsSync(folder)).to.equal(false);
  });

  it('makes nothing of an index that is of another network than the one that is named', async () => {
    const folder = join(await newFolder(), 'one');
    const { status, err } = await snapshot('make', folder, '--network', 'main', '--prefix', join(made.prefix, 'regtest'));
    expect(status).to.equal(1);
    expect(err).to.match(/^the index is of another chain: its genesis block is 0f9188f1[0-9a-f]{56}, that of main is 0{10}[0-9a-f]{54}\n$/);
    expect(existsSync(folder)).to.equal(false);
  });

  it('makes nothing where there is no index, and of a damaged one', async () => {
    const folder = join(await newFolder(), 'none');
    expect((await snapshot('make', folder, ...onRegtest(await newFolder()))).err).to.include('there is no index in ');
    const prefix = await indexFolder(50);
    await writeFile(join(prefix, 'regtest/rest/index/CURRENT'), 'MANIFEST-000099\n');
    expect((await snapshot('make', folder, ...onRegtest(prefix))).err).to.include('is damaged, or changes faster than it can be copied');
    expect(existsSync(folder)).to.equal(false);
    expect(existsSync(`${folder}.unfinished`)).to.equal(false);
  });

  it('makes nothing of an index that has no blocks yet', async () => {
    const prefix = await newFolder();
    const store = new DiskStore(join(prefix, 'regtest/rest/index'));
    await mkdir(join(prefix, 'regtest/rest'), { recursive: true });
    await store.open();
    await store.close();
    const folder = join(await newFolder(), 'none');
    expect((await snapshot('make', folder, ...onRegtest(prefix))).err).to.equal('the index has no blocks yet\n');
    expect(existsSync(folder)).to.equal(false);
  });

  it('has no index by script whose pages have txids of other blocks, as a reorganization during the copy may leave them', async () => {
    const chain = chainAActiveBlocks()
      .slice(0, 250)
      .map(({ raw }) => raw);
    const [genesis = expect.fail('a block')] = chain;
    const store = new DiskStore(join(made.prefix, 'regtest/rest/scripts'));
    await store.open();
    const writer = new ScriptWriter({ store, genesisHash: blockHash(genesis), undoDepth: 100 });
    await writer.load();
    const { blocks } = new ScriptModel(chain);
    await writer.connect(blocks.slice(0, 150));
    // A later block records that these have reached the disk: they are not compared any more when the index is opened.
    for (let next = 150; store.get(Buffer.from('M')) === undefined; next++) {
      await setTimeout(10);
      await writer.connect([blocks[next] ?? expect.fail('a block')]);
    }
    await store.pages.write(0, Buffer.alloc(PAGE_LENGTH, 1));
    await store.close();
    const folder = join(await newFolder(), 'one');
    const { err } = await snapshot('make', folder, ...onRegtest(made.prefix));
    expect(err).to.match(/scripts is damaged, or changes faster than it can be copied: the txids of block 0 are others\n$/);
    expect(existsSync(folder)).to.equal(false);
  });
});
