import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'mocha';
import { makeOwnCertificate } from '../../../lib/server/ports/own-certificate';
import { newFolder } from '../../support/process/folders';
import { needsProgram } from '../../support/process/installed';
import { projectFolder } from '../../support/process/project-folder';
import { freePort } from '../../support/bcoin/regtest-node';
import { startHaproxy, startNginx } from './started-proxy';

/** The first configuration after a text in a document, without its indentation. */
function configurationAfter(text: string, path: string): string {
  const behind = readFileSync(join(projectFolder, path), 'utf8').split(text)[1]?.split('\n') ?? [];
  const start = behind.findIndex((line) => line.startsWith('    '));
  if (start < 0) throw new Error(`${path} has no configuration after '${text}'`);
  const lines = behind.slice(start);
  const end = lines.findIndex((line) => line !== '' && !line.startsWith('    '));
  return lines
    .slice(0, end)
    .map((line) => line.slice(4))
    .join('\n');
}

describe('the configurations of proxies in the documents', () => {
  it('nginx: that with a cache is accepted', async function () {
    needsProgram(this, 'nginx');
    const { folder, port } = await certifiedFolder();
    const text = configurationAfter('nginx, with a cache:', 'docs/operating.md')
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replaceAll('/etc/ssl', folder)
      // nginx makes the last folder of the path, and no other.
      .replace('/var/cache', folder);
    await (await startNginx(text, port)).stop();
  });

  it('nginx: that for other people is accepted', async function () {
    needsProgram(this, 'nginx');
    const port = await freePort();
    const [zone = '', locations = ''] = configurationAfter('With nginx,', 'docs/wallets.md').split('\n\n');
    await (await startNginx(`${zone}\nserver {\n  listen 127.0.0.1:${port};\n${locations}\n}`, port)).stop();
  });

  it('HAProxy: that for one node is accepted', async function () {
    needsProgram(this, 'haproxy');
    const { folder, port } = await certifiedFolder();
    const text = configurationAfter('HAProxy for wallets,', 'docs/operating.md')
      .replace(':50002', `127.0.0.1:${await freePort()}`)
      .replace(':443', `127.0.0.1:${port}`)
      .replaceAll('/etc/haproxy/certs/', `${folder}/certs/`);
    await (await startHaproxy(text, port)).stop();
  });
});

async function certifiedFolder(): Promise<{ folder: string; port: number }> {
  const folder = await newFolder();
  const { certificate, key } = await makeOwnCertificate('127.0.0.1');
  await mkdir(join(folder, 'certs'));
  await writeFile(join(folder, 'certs/rest.pem'), certificate + key);
  await writeFile(join(folder, 'rest.pem'), certificate);
  await writeFile(join(folder, 'rest.key'), key);
  return { folder, port: await freePort() };
}
