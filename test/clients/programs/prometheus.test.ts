import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { newFolder } from '../../support/process/folders';
import { ask, basicAuth } from '../../support/client/http';
import { needsProgram } from '../../support/process/installed';
import { LineClient } from '../../support/client/line-client';
import { Nats, needsNats } from '../../support/fleet/nats';
import { openQuietReader } from '../../support/fleet/quiet-reader';
import { projectFolder } from '../../support/process/project-folder';
import { freePort, mine } from '../../support/bcoin/regtest-node';
import { ServedNode } from '../../support/node/served-node';
import { until } from '../../support/expectations/until';
import type { Reader } from '../../../plugin/reader/reader';

const DASHBOARD = join(projectFolder, 'docs/operating/dashboard.json');

interface Target {
  readonly expr: string;
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly Target[] }[];
}

describe('Prometheus', () => {
  let served: ServedNode | undefined;
  let prometheus: ChildProcess | undefined;
  let nats: Nats | undefined;
  let reader: Reader | undefined;
  let port: number;

  before(async function () {
    needsProgram(this, 'prometheus');
    nats = await Nats.open(needsNats(this));
    const [metrics, electrum] = [await freePort(), await freePort()];
    port = await freePort();
    const folder = await newFolder();
    const node = (served = await ServedNode.open(
      {
        prefix: join(folder, 'node'),
        settings: {
          'rest-metrics': metrics,
          'rest-electrum': electrum,
          'rest-core': 'modern',
          'rest-filters': true,
          apiKey: 'key',
          'rest-feed': nats.url
        }
      },
      { inMemory: false }
    ));
    const [ofReader, http] = [await freePort(), await freePort()];
    const readerOptions = [`--rest-nats=${nats.url}`, `--prefix=${join(folder, 'reader')}`, `--http-port=${http}`];
    reader = await openQuietReader([...readerOptions, `--rest-metrics=${ofReader}`]);
    await mkdir(join(folder, 'prometheus'));
    const config = {
      global: { scrape_interval: '1s' },
      scrape_configs: [{ job_name: 'bcoin-rest', static_configs: [{ targets: [`127.0.0.1:${metrics}`, `127.0.0.1:${ofReader}`] }] }]
    };
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
    prometheus = spawn(
      'prometheus',
      [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/prometheus`, `--web.listen-address=127.0.0.1:${port}`],
      { stdio: 'ignore' }
    );
    await until(async () => (await ask(port, { path: '/-/ready' }).catch(() => undefined))?.status === 200);
    // Something of everything that is shown, while Prometheus looks twice.
    const client = await LineClient.connect(electrum);
    await client.ask('blockchain.headers.subscribe');
    for (let second = 0; second < 8; second++) {
      const [block] = await mine(node.node, 1);
      await client.line();
      const hash = toDisplayHex(node.source.tip().hash);
      for (let i = 0; i < 3; i++) await ask(node.port, { path: `/rest/headers/1/${hash}.json` });
      await ask(node.port, { path: `/rest/block/${hash}.json` });
      await ask(node.port, {
        path: '/',
        method: 'POST',
        headers: { Authorization: basicAuth('x:key') },
        body: Buffer.from('{"method":"getblockhash","params":[1000000]}')
      });
      await node.get(`/block/${hash}`);
      expect(block).not.to.equal(undefined);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    client.socket.destroy();
  });
  after(async () => {
    if (prometheus !== undefined && prometheus.exitCode === null) {
      prometheus.kill('SIGTERM');
      await once(prometheus, 'exit');
    }
    await reader?.close();
    await served?.close();
    await nats?.close();
  });

  const query = async (expression: string): Promise<readonly { readonly value: readonly [number, string] }[]> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { status, data, error } = (await response.json()) as { status: string; data?: { result: [] }; error?: string };
    if (status !== 'success') throw new Error(`${expression}: ${error ?? ''}`);
    return data?.result ?? [];
  };

  it('reads the metrics, and finds data for every query of the dashboard', async () => {
    const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as Dashboard;
    const empty: string[] = [];
    for (const { title, targets = [] } of panels)
      for (const { expr } of targets) {
        const found = await query(expr.replaceAll('$__rate_interval', '30s').replaceAll('$instance', '.*'));
        if (found.length === 0) empty.push(`${title}: ${expr}`);
      }
    expect(empty).to.deep.equal([]);
    expect(Number((await query('max(bcoin_rest_height{of="index"})'))[0]?.value[1])).to.equal(served?.source.tip().height);
  });
});
