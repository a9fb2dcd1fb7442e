import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { BehaviorSubject } from 'rxjs';
import { makeOwnCertificate } from '../../lib/server/ports/own-certificate';
import { caught } from '../support/expectations/caught';
import { hurried } from '../support/process/clock';
import { openElectrumNode, type ElectrumNode } from '../support/node/electrum-node';
import { gatedBy, ServedNode } from '../support/node/served-node';
import { newFolder } from '../support/process/folders';
import { LineClient } from '../support/client/line-client';
import { freePort } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';

/** How long the server waits for an index to come back, and between two looks at its certificate. */
const PATIENCE_MS = 10_000;

describe('the ports of the Electrum protocol', () => {
  let folder: string;
  let served: ElectrumNode;
  let ports: { readonly plain: number; readonly tls: number };
  let restore: () => void;
  const paths = (): { certificate: string; key: string } => ({
    certificate: join(folder, 'certificate.pem'),
    key: join(folder, 'key.pem')
  });

  before(async () => {
    folder = await newFolder();
    await write(await makeOwnCertificate('a.example'));
    restore = hurried(PATIENCE_MS);
    ports = { plain: await freePort(), tls: await freePort() };
    const { certificate, key } = paths();
    served = await openElectrumNode({
      settings: {
        'rest-electrum': ports.plain,
        'rest-electrum-tls': ports.tls,
        'rest-electrum-cert': certificate,
        'rest-electrum-key': key
      }
    });
  });
  after(async () => {
    restore();
    await served.node.close();
  });

  async function write({ certificate, key }: { readonly certificate: string; readonly key: string }): Promise<void> {
    await writeFile(paths().key, key);
    await writeFile(paths().certificate, certificate);
  }

  async function secure(): Promise<{ readonly client: LineClient; readonly certificate: string }> {
    const socket: TLSSocket = connectTls({ host: '127.0.0.1', port: ports.tls, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const certificate = new X509Certificate(socket.getPeerCertificate().raw).toString();
    return { client: new LineClient(socket), certificate };
  }

  it('use the renewed certificate for new connections, and others continue with the previous one', async () => {
    const [first, renewed] = [await secure(), await makeOwnCertificate('b.example')];
    await write(renewed);
    await until(async () => {
      const { client, certificate } = await secure();
      expect(await client.ask('server.ping')).to.deep.include({ result: null });
      client.socket.destroy();
      return certificate === renewed.certificate;
    });
    expect(first.certificate).to.not.equal(renewed.certificate);
    expect(await first.client.ask('server.ping')).to.deep.include({ result: null });
    first.client.socket.destroy();
  });

  it('are closed while nothing can be answered, without ending connections, and open again', async () => {
    const plain = await LineClient.connect(ports.plain);
    const { client: encrypted } = await secure();
    served.ready$.next(false);
    await until(() => served.electrum.addresses.length === 0);
    for (const name of ['Electrum', 'Electrum over TLS']) expect(served.log.lines).to.include(`info ${name} does not listen: loading.`);
    expect(await caught(LineClient.connect(ports.plain))).to.have.property('code', 'ECONNREFUSED');
    expect(await caught(secure())).to.have.property('code', 'ECONNREFUSED');
    for (const client of [plain, encrypted]) expect(await client.ask('server.ping')).to.deep.include({ result: null });
    served.ready$.next(true);
    await until(() => served.electrum.addresses.length === 2);
    expect(served.electrum.addresses.map(({ port }) => port)).to.deep.equal([ports.plain, ports.tls]);
    const [late, { client: lateEncrypted }] = [await LineClient.connect(ports.plain), await secure()];
    for (const client of [plain, encrypted, late, lateEncrypted]) {
      expect(await client.ask('server.ping')).to.deep.include({ result: null });
      client.socket.destroy();
    }
  });

  it('stay open if nothing could be answered for a moment only', async () => {
    const { length } = served.log.lines;
    served.ready$.next(false);
    served.ready$.next(true);
    // The timers of the ports fire within milliseconds here.
    await delay(50);
    const client = await LineClient.connect(ports.plain);
    expect(await client.ask('server.ping')).to.deep.include({ result: null });
    client.socket.destroy();
    expect(served.log.lines.slice(length)).to.deep.equal([]);
  });
});

describe('the port of the Electrum protocol of a node that starts and stops', () => {
  it('is open as soon as something can be answered, and no longer than the node', async () => {
    const port = await freePort();
    const ready$ = new BehaviorSubject(false);
    const later = await ServedNode.open({ settings: { 'rest-electrum': port } }, gatedBy(ready$));
    expect(await caught(LineClient.connect(port))).to.have.property('code', 'ECONNREFUSED');
    ready$.next(true);
    await until(() => later.wallets.electrum.addresses.length === 1);
    (await LineClient.connect(port)).socket.destroy();
    await later.close();
    expect(await caught(LineClient.connect(port))).to.have.property('code', 'ECONNREFUSED');
  });
});
