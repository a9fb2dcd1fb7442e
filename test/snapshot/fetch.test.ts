import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, stat, statfs, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { fetchSnapshot } from '../../lib/snapshot/fetch';
import { readManifest } from '../../lib/snapshot/manifest';
import { SigningKey } from '../../lib/snapshot/signature';
import { sourceAt } from '../../lib/snapshot/source';
import { DiskStore } from '../../lib/store/disk-store';
import { regtestGenesis } from '../support/chain/chain-a';
import { caught } from '../support/expectations/caught';
import { newFolder } from '../support/process/folders';
import { storeImage } from '../support/index/fresh-index';
import { blockHash } from '../support/chain/made-blocks';
import { asOtherUser } from '../support/process/other-user';
import { projectFolder } from '../support/process/project-folder';
import { FileServer } from './file-server';
import { indexFolder, madeSnapshot, onRegtest, snapshot, type SnapshotResult } from './made';
import type { OpeningProgress } from '../../lib/store/store';

const NEVER = new AbortController().signal;

/** More bytes than a disk gets or loses during a test. */
const HUGE = 2 ** 38;

describe('fetching a snapshot', () => {
  let made: Awaited<ReturnType<typeof madeSnapshot>>;
  /** A copy that a test may change. */
  let folder: string;
  let prefix: string;
  let server: FileServer;

  before(async () => {
    made = await madeSnapshot();
  });
  beforeEach(async () => {
    prefix = await newFolder();
    folder = join(await newFolder(), 'snapshot');
    await cp(made.folder, folder, { recursive: true });
    server = await FileServer.open(folder);
  });
  afterEach(() => {
    server.close();
  });
  after(() => rm(made.folder, { recursive: true }));

  const fetchIt = (address = server.url): Promise<SnapshotResult> => snapshot('fetch', address, '--trust', made.key, ...onRegtest(prefix));
  const rest = (...names: string[]): string => join(prefix, 'regtest/rest', ...names);

  async function image(path: string): Promise<unknown> {
    const store = new DiskStore(path);
    await store.open();
    try {
      return await storeImage(store);
    } finally {
      await store.close();
    }
  }

  async function expectFetched(): Promise<void> {
    expect(await readdir(rest())).to.deep.equal(['index']);
    expect(await image(rest('index'))).to.deep.equal(await image(join(made.prefix, 'regtest/rest/index')));
  }

  function expectNothing(result: SnapshotResult, words: string | RegExp): void {
    expect(result.err).to.match(typeof words === 'string' ? new RegExp(words) : words);
    expect(result.status).to.equal(1);
    expect(existsSync(rest('index'))).to.equal(false);
    expect(existsSync(rest('scripts'))).to.equal(false);
  }

  /** The name of the largest file. */
  async function largest(): Promise<string> {
    const { files } = readManifest(await readFile(join(folder, 'manifest.json'), 'utf8'));
    return [...files].sort((a, b) => b.size - a.size)[0]?.name ?? expect.fail('a file');
  }

  /** The manifest with a change, signed with the right key. */
  async function signAgain(change: (manifest: string) => string): Promise<void> {
    const path = join(folder, 'manifest.json');
    const text = change(await readFile(path, 'utf8'));
    await writeFile(path, text);
    const key = await SigningKey.at(join(made.prefix, 'regtest/rest/snapshot-key.pem'));
    await writeFile(join(folder, 'manifest.sig'), key.sign(Buffer.from(text)));
  }

  it('gives the same index, from a server', async () => {
    const { status, out } = await fetchIt();
    expect(status).to.equal(0);
    expect(out).to.match(/rest now has the index of regtest at block 299 \([0-9a-f]{64}\): \d+ files, [0-9.]+ MB\.\n$/);
    await expectFetched();
  });

  it('gives the same index, from a folder', async () => {
    expect(await fetchIt(folder)).to.include({ status: 0, err: '' });
    await expectFetched();
  });

  it('is done with files of its own: the source may be deleted', async () => {
    await fetchIt(folder);
    await rm(folder, { recursive: true });
    await expectFetched();
  });

  it('goes on where it was after the process was killed', async () => {
    const { size } = await stat(join(folder, await largest()));
    const program = join(projectFolder, 'dist/plugin/cli/main.js');
    server.bytesLeft = Math.floor(size / 2) + 2_000;
    const child = spawn(process.execPath, [program, 'snapshot', 'fetch', server.url, '--trust', made.key, ...onRegtest(prefix)]);
    while (server.bytesLeft > 0 && child.exitCode === null) await new Promise(setImmediate);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(child.signalCode).to.equal('SIGKILL');
    expect(existsSync(rest('index'))).to.equal(false);
    server.bytesLeft = Infinity;
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    await expectFetched();
  });

  it('is refused while another process fetches to the same place, whose work it leaves alone', async () => {
    const { size } = await stat(join(folder, await largest()));
    server.bytesLeft = Math.floor(size / 2);
    const first = fetchIt();
    while (!existsSync(rest('snapshot-incoming/lock/LOCK'))) await new Promise(setImmediate);
    expectNothing(await fetchIt(folder), `another process is fetching a snapshot to ${rest()}`);
    server.bytesLeft = Infinity;
    expect(await first).to.include({ status: 0, err: '' });
    await expectFetched();
  });

  it('asks only for what is missing after the connection was cut off', async () => {
    const name = await largest();
    const { size } = await stat(join(folder, name));
    await snapshot('fetch', server.url, '--trust', made.key, ...onRegtest(await newFolder()));
    const whole = server.requests.length;
    server.requests.length = 0;
    server.bytesLeft = (await sizeBefore(name)) + Math.floor(size / 2);
    const fetching = fetchIt();
    while (server.bytesLeft > 0) await new Promise(setImmediate);
    server.bytesLeft = Infinity;
    expect(await fetching).to.include({ status: 0, err: '' });
    expect(server.requests).to.have.length(whole + 1);
    expect(server.requests.filter((request) => request.startsWith(`${name} bytes=`))).to.have.length(1);
    await expectFetched();
  });

  /** Bytes of what is fetched before a file. */
  async function sizeBefore(name: string): Promise<number> {
    const text = await readFile(join(folder, 'manifest.json'));
    const { files } = readManifest(text.toString());
    const at = files.findIndex((file) => file.name === name);
    return files.slice(0, at).reduce((sum, { size }) => sum + size, text.length + (await stat(join(folder, 'manifest.sig'))).size);
  }

  /** As an interruption leaves the largest file. Returns its name. */
  async function leavePart(of: (bytes: Buffer) => Buffer): Promise<string> {
    const name = await largest();
    await mkdir(rest('snapshot-incoming/index'), { recursive: true });
    await writeFile(rest('snapshot-incoming', `${name}.part`), of(await readFile(join(folder, name))));
    return name;
  }

  const beginning = (bytes: Buffer): Buffer => bytes.subarray(0, 1_000);

  it('goes on with a server that knows no ranges', async () => {
    server.hasRanges = false;
    const name = await leavePart(beginning);
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    expect(server.requests.filter((request) => request.startsWith(name))).to.deep.equal([`${name} bytes=1000-`]);
    await expectFetched();
  });

  it('uses no other part of a file than it has asked for, and asks again', async () => {
    server.wrongRanges = 1;
    const name = await leavePart(beginning);
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    expect(server.requests.filter((request) => request.startsWith(name))).to.deep.equal([`${name} bytes=1000-`, `${name} bytes=1000-`]);
    await expectFetched();
  });

  it('asks again as often as it takes, as long as something comes each time', async () => {
    const name = await largest();
    const most = Math.ceil((await stat(join(folder, name))).size / 6);
    server.most = (asked) => (asked === name ? most : Infinity);
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    const later = [1, 2, 3, 4, 5].map((times) => `${name} bytes=${times * most}-`);
    expect(server.requests.filter((request) => request.startsWith(name))).to.deep.equal([`${name} whole`, ...later]);
    await expectFetched();
  });

  it('uses what came of an earlier snapshot only where it is the same', async () => {
    await leavePart((bytes) => Buffer.alloc(beginning(bytes).length, 7));
    await writeFile(rest('snapshot-incoming/index/000001.ldb'), 'of another snapshot');
    await writeFile(rest('snapshot-incoming/index/CURRENT'), 'MANIFEST-000000\n');
    await writeFile(rest('snapshot-incoming/index/CURRENT.part'), 'longer than the file is to be');
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    expect(await readdir(rest('index'))).to.deep.equal(await readdir(join(folder, 'index')));
    await expectFetched();
  });

  /** Without the command. */
  const fetchHere = (address: string, onProgress: (progress: OpeningProgress) => void, signal = NEVER): Promise<unknown> =>
    fetchSnapshot({
      source: sourceAt(address),
      places: { folder: rest(), index: rest('index'), scripts: rest('scripts') },
      trusted: made.key,
      network: 'regtest',
      genesisHash: blockHash(regtestGenesis),
      signal,
      onProgress
    });

  it('ends with the reason for which it is given up, from a folder and from a server', async () => {
    for (const address of [folder, server.url]) {
      const end = new AbortController();
      const reason = new Error('enough');
      await mkdir(rest(), { recursive: true });
      expect(await caught(fetchHere(address, () => end.abort(reason), end.signal)), address).to.equal(reason);
    }
  });

  it('asks again when the server cannot answer at the moment', async () => {
    server.statuses.push(503);
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    await expectFetched();
  });

  it('says how much is done, and does not count what turns out to be of another snapshot', async () => {
    await leavePart((bytes) => Buffer.alloc(beginning(bytes).length, 7));
    const { size: length } = await stat(join(folder, 'index/CURRENT'));
    await writeFile(rest('snapshot-incoming/index/CURRENT'), Buffer.alloc(length, 7));
    const { files } = readManifest(await readFile(join(folder, 'manifest.json'), 'utf8'));
    const total = files.reduce((sum, file) => sum + file.size, 0);
    const told: OpeningProgress[] = [];
    await fetchHere(folder, (progress) => told.push(progress));
    expect(told.at(-1)).to.deep.equal({ done: total, total });
    expect(told.every((progress) => progress.done <= total && progress.total === total)).to.equal(true);
    await expectFetched();
  });

  /** As an interruption at the very end leaves it. */
  async function leaveComplete(): Promise<void> {
    await mkdir(rest('snapshot-incoming'), { recursive: true });
    await cp(join(folder, 'manifest.json'), rest('snapshot-incoming/complete'));
    await cp(join(folder, 'index'), rest('snapshot-incoming/index'), { recursive: true });
  }

  it('moves the index to its place after an interruption at the very end', async () => {
    await leaveComplete();
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    expect(server.requests.map((request) => request.split(' ')[0])).to.deep.equal(['manifest.json', 'manifest.sig']);
    await expectFetched();
  });

  it('is done where it was interrupted after it had moved the index', async () => {
    await leaveComplete();
    await rename(rest('snapshot-incoming/index'), rest('index'));
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    await expectFetched();
  });

  it('does not replace an index that was made since it was interrupted at the very end', async () => {
    await leaveComplete();
    await mkdir(rest('index'));
    const { status, err } = await fetchIt();
    expect(status).to.equal(1);
    expect(err).to.equal(`the snapshot is in ${rest('snapshot-incoming')}, but meanwhile there is an index in ${rest('index')}\n`);
    expect(await readdir(rest('index'))).to.deep.equal([]);
  });

  it('does not move what was left of a snapshot that is not trusted, of another network, or not asked for', async () => {
    await leaveComplete();
    expectNothing(
      await snapshot('fetch', server.url, '--trust', 'bb'.repeat(32), ...onRegtest(prefix)),
      /is signed by [0-9a-f]{64}, not by b{64}/
    );
    expectNothing(await fetchIt(join(prefix, 'nowhere')), 'there is no manifest.json in ');
    await signAgain((text) => text.replace('"regtest"', '"simnet"'));
    expectNothing(await fetchIt(), 'the snapshot is of the network simnet, not of regtest');
  });

  it('begins anew if another snapshot was left', async () => {
    await leaveComplete();
    await writeFile(rest('snapshot-incoming/index/CURRENT'), 'MANIFEST-000000\n');
    await signAgain((text) => `${text}\n`);
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    await expectFetched();
  });

  it('fetches anew what another snapshot, which did not come whole, has replaced', async () => {
    await leaveComplete();
    const name = await largest();
    const signed = ['manifest.json', 'manifest.sig'].map((file) => join(folder, file));
    const before = await Promise.all(signed.map((path) => readFile(path)));
    await signAgain((text) => text.replace(new RegExp(`("${name}",\\s*"size": \\d+,\\s*"sha256": ")[0-9a-f]{64}`), `$1${'00'.repeat(32)}`));
    expectNothing(await fetchIt(), `${name} is not the file that the manifest names`);
    for (const [i, path] of signed.entries()) await writeFile(path, before[i] ?? expect.fail('a file'));
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    await expectFetched();
  });

  it('refuses a flipped byte, a short and a long file, and takes the right one the next time', async () => {
    const name = await largest();
    const changes: readonly (readonly [words: string, change: (bytes: Buffer) => Buffer])[] = [
      [
        'is not the file that the manifest names',
        (bytes) => Buffer.concat([bytes.subarray(0, 500), Buffer.of(1 ^ (bytes[500] ?? 0)), bytes.subarray(501)])
      ],
      ['is shorter than the manifest says', (bytes) => bytes.subarray(0, -1)],
      ['', (bytes) => Buffer.concat([bytes, Buffer.alloc(100_000)])]
    ];
    for (const [words, change] of changes) {
      server.change = (asked, bytes) => (asked === name ? change(bytes) : bytes);
      const result = await fetchIt();
      // What comes after the end is not read.
      if (words === '') expect(result).to.include({ status: 0 });
      else expectNothing(result, `${name} ${words}`);
    }
    await expectFetched();
  });

  it('says so when another snapshot has taken the place of the one that it fetches, and fetches that the next time', async () => {
    const other = join(await newFolder(), 'snapshot');
    const key = join(made.prefix, 'regtest/rest/snapshot-key.pem');
    expect((await snapshot('make', other, ...onRegtest(await indexFolder(200)), '--key', key)).err).to.equal('');
    const name = await largest();
    const { size } = await stat(join(other, name));
    await mkdir(rest('snapshot-incoming/index'), { recursive: true });
    for (const last of ['manifest.json', 'manifest.sig', name]) {
      await cp(made.folder, folder, { recursive: true });
      // As an interruption leaves it behind the end of the other snapshot's file.
      await writeFile(rest('snapshot-incoming', `${name}.part`), (await readFile(join(folder, name))).subarray(0, size + 1));
      server.change = (asked, bytes) => {
        if (asked === last) {
          rmSync(folder, { recursive: true });
          cpSync(other, folder, { recursive: true });
        }
        return bytes;
      };
      expectNothing(await fetchIt(), '^another snapshot has taken the place of the one that was being fetched: fetch it again\n$');
    }
    server.change = (_, bytes) => bytes;
    expect((await fetchIt()).out).to.include('at block 199 ');
    expect(await readdir(rest())).to.deep.equal(['index']);
  });

  it('refuses a manifest that was changed, is signed by another key, or not at all', async () => {
    await writeFile(join(folder, 'manifest.json'), (await readFile(join(folder, 'manifest.json'), 'utf8')).replace('299', '300'));
    expectNothing(await fetchIt(), 'the signature of the snapshot is wrong');
    await writeFile(join(folder, 'manifest.sig'), (await SigningKey.at(join(await newFolder(), 'key.pem'))).sign(Buffer.from('')));
    expectNothing(await fetchIt(), /is signed by [0-9a-f]{64}, not by [0-9a-f]{64}/);
    await writeFile(join(folder, 'manifest.sig'), '{}');
    expectNothing(await fetchIt(), 'the file with the signature of the snapshot is damaged');
    await writeFile(join(folder, 'manifest.sig'), Buffer.alloc(5_000));
    expectNothing(await fetchIt(), 'manifest.sig of the snapshot is longer than 4096 bytes');
    await rm(join(folder, 'manifest.sig'));
    expectNothing(await fetchIt(), 'there is no manifest.sig in http://127.0.0.1');
  });

  it('refuses what does not belong here', async () => {
    const { err } = await snapshot('fetch', server.url, '--trust', made.key, '--network', 'main', '--prefix', prefix);
    expect(err).to.include('the snapshot is of the network regtest, not of main');
    await signAgain((text) => text.replace(/"genesis": "[0-9a-f]{64}"/, `"genesis": "${'ab'.repeat(32)}"`));
    expectNothing(await fetchIt(), /the snapshot is of another chain: its genesis block is (?:ab){32}, that of regtest is 0f9188f1/);
    await cp(made.folder, folder, { recursive: true });
    await signAgain((text) => text.replace('"layout": 1', '"layout": 2'));
    expectNothing(await fetchIt(), 'has layout 2, made by a newer version of this program, which reads layout 1');
    await cp(made.folder, folder, { recursive: true });
    const scripts = JSON.stringify({ layout: 99, height: 299, hash: '00'.repeat(32) });
    await signAgain((text) => text.replace('"files"', `"scripts": ${scripts}, "files"`));
    expectNothing(await fetchIt(), 'the index by script of the snapshot has layout 99, made by a newer version of this program');
    await signAgain((text) => text.replace('"version": 1', '"version": 2'));
    expectNothing(await fetchIt(), 'has a manifest of version 2, and this program reads version 1');
  });

  it('refuses what takes more room than there is', async () => {
    await signAgain((text) => text.replace(/"size": \d+/, `"size": ${2 ** 52}`));
    expectNothing(await fetchIt(), /^the snapshot takes \d+ bytes more, and the disk of \S+ has \d+ left\n$/);
  });

  it('counts what has come already as room that it does not take, up to the size of each file', async () => {
    const name = await largest();
    await mkdir(rest('snapshot-incoming/index'), { recursive: true });
    const part = rest('snapshot-incoming', `${name}.part`);
    await writeFile(part, '');
    const { bavail, bsize } = await statfs(rest());
    const most = bavail * bsize + HUGE;
    // The disk has nothing of what is between the ends of this file.
    await truncate(part, most);
    const { size } = await stat(join(folder, name));
    await signAgain((text) => text.replace(`"size": ${size},`, `"size": ${most + 1},`));
    const end = new AbortController();
    const begun = new Error('it has begun');
    expect(await caught(fetchHere(folder, () => end.abort(begun), end.signal))).to.equal(begun);
    await cp(made.folder, folder, { recursive: true });
    await signAgain((text) => text.replace(/("name": "index\/CURRENT",\s+"size": )\d+/, `$1${most}`));
    expectNothing(await fetchIt(), /^the snapshot takes \d+ bytes more/);
  });

  it('does not wait for more of a file than the manifest says', async () => {
    server.endsFiles = false;
    expect(await fetchIt()).to.include({ status: 0, err: '' });
    await expectFetched();
  });

  it('refuses names that lead elsewhere', async () => {
    for (const name of [
      '../evil',
      '/etc/passwd',
      'index/../../evil',
      'index/sub/000001.ldb',
      'index/LOCK',
      'blocks/000001.ldb',
      'index/0.ldb\\n'
    ]) {
      await cp(made.folder, folder, { recursive: true });
      await signAgain((text) => text.replace('"index/CURRENT"', JSON.stringify(name)));
      expectNothing(await fetchIt(), 'expected the name of a file of an index');
    }
  });

  it('leaves folders of other users alone, and makes those that do not exist', async () => {
    for (const folders of ['.', 'regtest', 'regtest/rest']) {
      await mkdir(join(prefix, folders), { recursive: true });
      expectNothing(
        await asOtherUser(() => fetchIt()),
        `^${join(prefix, folders).replace(/\/$/, '')} belongs to the user \\d+, who could not read`
      );
    }
    prefix = join(prefix, 'new');
    expect(await asOtherUser(() => fetchIt())).to.include({ status: 0, err: '' });
    await expectFetched();
  });

  it('does not touch an index that is there', async () => {
    await mkdir(rest('index'), { recursive: true });
    const { status, err } = await fetchIt();
    expect(status).to.equal(1);
    expect(err).to.include(`there is an index already, in ${rest('index')}: delete it first`);
    expect(await readdir(rest())).to.deep.equal(['index']);
  });

  it('shows the password of an address to its server, and to nobody else', async () => {
    server.credentials = 'fleet:secret';
    const refused = await fetchIt();
    expectNothing(refused, 'does not give manifest.json to us');
    server.statuses.push(403);
    expectNothing(await fetchIt(), 'does not give manifest.json to us \\(403\\)');
    expect(await fetchIt(server.url.replace('http://', 'http://fleet:secret@'))).to.include({ status: 0, err: '' });
  });

  it('is called with an address and a key', async () => {
    expect(await snapshot('fetch', server.url)).to.include({ status: 2 });
    expect(await snapshot('fetch', '--trust', made.key)).to.include({ status: 2 });
    expect(await snapshot('fetch', server.url, '--trust', 'me')).to.include({ status: 2 });
    expect((await snapshot('fetch', 'ftp://x/y', '--trust', made.key)).err).to.include('http:// or https://');
  });
});
