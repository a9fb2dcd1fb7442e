// Clients that openapi-typescript generates from the descriptions that a node gives: they compile, and a node answers them.

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { emptyProject, install } from '../../package/packed';
import { chainAManifest } from '../../support/chain/chain-a';
import { newFolder } from '../../support/process/folders';
import { ask } from '../../support/client/http';
import { projectFolder } from '../../support/process/project-folder';
import { MODERN, openClientNode } from '../client-node';
import type { RestNode } from '../../support/node/rest-node';

const run = promisify(execFile);

const PACKAGES = { 'openapi-typescript': '7.13.0', 'openapi-fetch': '0.17.0' };

/** What a client of each interface asks: a program whose types are the generated ones. */
const PROGRAMS = {
  rest: `
    const { data: block, error } = await client.GET('/block/{hash}.json', { params: { path: { hash: tip } } });
    if (block === undefined) throw new Error(error);
    const [coinbase] = block.tx;
    const info = await client.GET('/chaininfo.json');
    const headers = await client.GET('/headers/{count}/{hash}.json', { params: { path: { count: 3, hash: block.previousblockhash ?? '' } } });
    const hex = await client.GET('/tx/{txid}.hex', { params: { path: { txid: coinbase?.txid ?? '' } }, parseAs: 'text' });
    const unspent = await client.GET('/getutxos/{outpoints}.json', { params: { path: { outpoints: \`\${coinbase?.txid ?? ''}-0\` } } });
    const unknown = await client.GET('/block/{hash}.json', { params: { path: { hash: 'ff'.repeat(32) } } });
    const value: number = unspent.data?.utxos[0]?.value ?? 0;
    const result = [info.data?.blocks, headers.data?.length, hex.data === coinbase?.hex + '\\n', value > 0, unknown.response.status, unknown.error];
  `,
  api: `
    const { data: transactions } = await client.GET('/block/{hash}/txs', { params: { path: { hash: tip } } });
    const [coinbase] = transactions ?? [];
    const height = await client.GET('/blocks/tip/height');
    const spends = await client.GET('/tx/{txid}/outspends', { params: { path: { txid: coinbase?.txid ?? '' } } });
    const status = coinbase?.status;
    const place: number | undefined = status?.confirmed === true ? status.block_height : undefined;
    const fees = await client.GET('/v1/fees/recommended');
    const unknown = await client.GET('/tx/{txid}', { params: { path: { txid: 'ff'.repeat(32) } }, parseAs: 'text' });
    const result = [height.data, place, spends.data?.length === coinbase?.vout.length, fees.data?.minimumFee, unknown.response.status, unknown.error];
  `,
  pay: `
    const headers = { Authorization: \`Basic \${btoa('x:a key of the node')}\` };
    const body = { outputs: [{ amount: 150_000, script: '0014751e76e8199196d454941c45d1b3a323f1433bd6' }], memo: 'Two mugs' };
    const { data: created } = await client.POST('/pay', { headers, body });
    const state = await client.GET('/pay/{id}', { params: { path: { id: created?.id ?? '' } }, headers: { Accept: 'application/json' } });
    const unknown = await client.GET('/pay/{id}', { params: { path: { id: 'unknown' } }, parseAs: 'text' });
    const result = [typeof created?.uri, (state.data as { state?: string } | undefined)?.state, unknown.response.status];
  `
} as const;

type Interface = keyof typeof PROGRAMS;

const EDITIONS = ['0.17', 'modern'] as const;

/** The edition of Bitcoin Core has to do with REST alone. */
const CLIENTS = [
  ['rest', '0.17'],
  ['rest', 'modern'],
  ['api', 'modern'],
  ['pay', 'modern']
] as const satisfies readonly (readonly [Interface, (typeof EDITIONS)[number]])[];

/** Where the paths of a description begin. */
const BASES: Readonly<Record<Interface, string>> = { rest: '/rest', api: '/api', pay: '' };

const programOf = (name: Interface, types: string): string => `
import createClient from 'openapi-fetch';
import type { paths } from './${types}.js';

const [, , base = '', tip = ''] = process.argv;
const client = createClient<paths>({ baseUrl: base + '${BASES[name]}' });
${PROGRAMS[name]}
console.log(JSON.stringify(result));
`;

/** Writes the types of each description that is named, as the package's own command does. */
const GENERATE = `
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

for (const name of process.argv.slice(2))
  writeFileSync(name + '.d.ts', astToString(await openapiTS(readFileSync(name + '.json', 'utf8'))));
`;

describe('clients that are generated from the descriptions', function () {
  this.timeout(300_000);
  let folder: string;
  const nodes = new Map<string, RestNode>();
  const { height, tip } = chainAManifest();

  before(async () => {
    folder = await emptyProject(join(await newFolder(), 'client'), PACKAGES);
    await install(folder, '--ignore-scripts');
    await writeFile(join(folder, 'generate.mjs'), GENERATE);
    for (const core of EDITIONS) {
      const settings = { 'rest-core': core, 'rest-addresses': true, 'rest-payments': await newFolder(), 'api-key': MODERN['api-key'] };
      const served = await openClientNode(settings);
      nodes.set(core, served);
      for (const path of ['/api/blocks/tip/height', '/pay/unknown'])
        while ((await ask(served.port, { path })).status === 503) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  after(async () => {
    for (const { node } of nodes.values()) await node.close();
  });

  const describedBy = async (name: Interface, core: string): Promise<Buffer> => {
    const { port } = nodes.get(core) ?? expect.fail('no node');
    return (await ask(port, { path: `${BASES[name] || '/pay'}/openapi.json` })).body;
  };

  const resultOf = async (name: Interface, core: string): Promise<unknown> => {
    const { baseUrl } = nodes.get(core) ?? expect.fail('no node');
    const { stdout } = await run(process.execPath, [`ask-${name}-${core}.mjs`, baseUrl, tip], { cwd: folder });
    return JSON.parse(stdout) as unknown;
  };

  // One run of the compiler for all: it reads the types of the language and of Node once.
  it('compile', async () => {
    for (const [name, core] of CLIENTS) {
      await writeFile(join(folder, `${name}-${core}.json`), await describedBy(name, core));
      await writeFile(join(folder, `ask-${name}-${core}.mts`), programOf(name, `${name}-${core}`));
    }
    for (const name of ['api', 'pay'] as const)
      expect((await describedBy(name, '0.17')).equals(await describedBy(name, 'modern')), name).to.equal(true);
    const names = CLIENTS.map((client) => client.join('-'));
    await run(process.execPath, ['generate.mjs', ...names], { cwd: folder });
    const options = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--target', 'es2022'];
    const modules = ['--module', 'node20', '--types', 'node', '--typeRoots', join(projectFolder, 'node_modules/@types')];
    const programs = names.map((name) => `ask-${name}.mts`);
    await run(join(projectFolder, 'node_modules/.bin/tsc'), [...options, ...modules, ...programs], { cwd: folder }).catch(
      (error: unknown) => expect.fail((error as { readonly stdout: string }).stdout)
    );
  });

  for (const core of EDITIONS)
    it(`read blocks, headers, transactions and coins from REST, and its errors, with --rest-core=${core}`, async () => {
      const unknown = `${'ff'.repeat(32)} not found\r\n`;
      expect(await resultOf('rest', core)).to.deep.equal([height, 2, true, true, 404, unknown]);
    });

  it('read blocks, transactions, spends and fees from Esplora’s API, and its errors', async () => {
    expect(await resultOf('api', 'modern')).to.deep.equal([height, height, true, 1, 404, 'Transaction not found']);
  });

  it('make orders, and read their states', async () => {
    expect(await resultOf('pay', 'modern')).to.deep.equal(['string', 'open', 404]);
  });
});
