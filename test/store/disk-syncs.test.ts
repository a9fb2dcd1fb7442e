import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { compiledProgram } from '../support/process/compiled';
import { newFolder } from '../support/process/folders';
import type { StoreUsed } from '../support/programs/syncing-store';

/** Where Debian has it. */
const STRACE = '/usr/bin/strace';

/** Whether it is there, and may watch other processes. */
const canTrace = (): Promise<boolean> =>
  promisify(execFile)(STRACE, ['-o', '/dev/null', process.execPath, '--version']).then(
    () => true,
    () => false
  );

/** How often the system was asked to write the log, the pages, and the names in the folder to the disk itself. */
async function syncsOf(...uses: readonly StoreUsed[]): Promise<{ log: number; pages: number; folder: number }> {
  const [folder, to] = [await newFolder(), join(await newFolder(), 'calls')];
  const watched = [process.execPath, compiledProgram('syncing-store'), folder, ...uses];
  await promisify(execFile)(STRACE, ['-f', '-y', '-e', 'trace=fsync,fdatasync', '-o', to, ...watched]);
  const paths = Array.from((await readFile(to, 'utf8')).matchAll(/f(?:data)?sync\(\d+<(.*?)>/g), ([, path = '']) => path);
  const count = (isWanted: (path: string) => boolean): number => paths.filter(isWanted).length;
  return {
    log: count((path) => path.endsWith('.log')),
    pages: count((path) => basename(path) === 'PAGES'),
    folder: count((path) => path === folder)
  };
}

describe('what a store has the system write to the disk itself', () => {
  before(async function () {
    if (await canTrace()) return;
    console.log('      skipped: strace is not installed, or may not watch processes (Debian: apt-get install strace)');
    this.skip();
  });

  it('is the log of a batch that is durable, and of no other', async () => {
    const { log } = await syncsOf('batch');
    expect(log).to.equal(0);
    expect((await syncsOf('batch', 'durable batch')).log).to.equal(1);
  });

  it('is all pages when they are synced, and the name of a new file', async () => {
    const written = await syncsOf('pages');
    expect(written.pages).to.equal(0);
    const once = await syncsOf('pages', 'sync');
    expect(once).to.include({ pages: 1, folder: written.folder + 1 });
    expect(await syncsOf('pages', 'sync', 'pages', 'sync')).to.include({ pages: 2, folder: once.folder });
  });
});
