// The packages, installed into empty projects as a user does it: from the registry what they
// ask for, from a tarball they themselves.

import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import ts from 'typescript';
import { BcoinProcess, bcoinFolder } from '../support/bcoin/process';
import { newFolder } from '../support/process/folders';
import { projectFolder } from '../support/process/project-folder';
import { freePort } from '../support/bcoin/regtest-node';
import { emptyProject, install, pack } from './packed';

const node = promisify(execFile);

describe('the packages, installed', function () {
  // Downloading what npm has not cached takes as long as it takes.
  this.timeout(900_000);
  let folder: string;
  /** Has bcoin, and the service under two names. */
  let project: string;
  /** Has the payments library alone. */
  let wallet: string;

  before(async () => {
    folder = await newFolder();
    const [service, payments] = await pack(folder);
    const served = `file:${service.tarball}`;
    project = await emptyProject(join(folder, 'node'), { bcoin: '1.0.2', 'bcoin-rest': served, rest: served });
    wallet = await emptyProject(join(folder, 'wallet'), { 'bcoin-rest-payments': `file:${payments.tarball}` });
    await install(project, '--ignore-scripts');
    await install(wallet, '--ignore-scripts');
  });

  async function serves(executable: string, pluginName: string): Promise<void> {
    const options = ['--memory', '--plugins', pluginName, '--rest-warmup', 'indexed'];
    const bcoin = BcoinProcess.executable(executable, await newFolder(), await freePort(), ...options);
    try {
      await bcoin.printed(/Node is loaded/);
      const response = await bcoin.answer('/rest/chaininfo.json');
      expect(await response.json()).to.deep.include({ chain: 'regtest', blocks: 0 });
    } finally {
      await bcoin.kill();
    }
  }

  for (const name of ['rest', 'bcoin-rest']) {
    it(`serve REST with --plugins ${name}`, () => serves(join(project, 'node_modules/.bin/bcoin'), name));
  }

  it('serve REST from a bcoin elsewhere, with --plugins and their folder', () =>
    serves(join(bcoinFolder, 'bin/bcoin'), join(project, 'node_modules/bcoin-rest')));

  it('bring the command line', async () => {
    const { stdout } = await node(join(project, 'node_modules/.bin/bcoin-rest'), ['payments', '--help']);
    expect(stdout).to.include('payments decode FILE');
  });

  it('bring nothing of the service with the payments library alone', async () => {
    const names = (await readdir(join(wallet, 'node_modules'), { recursive: true, encoding: 'utf8' }))
      .filter((path) => /(^|node_modules\/)(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
      .map((path) => path.replace('/package.json', ''));
    expect(names).to.include.members(['bcoin-rest-payments', 'protobufjs', '@peculiar/asn1-schema', '@peculiar/asn1-x509']);
    const ofService = ['koa', '@koa/router', 'rxjs', 'classic-level', 'lru-cache', 'bcoin-rest', 'bcoin'];
    expect(names.filter((name) => ofService.includes(name))).to.deep.equal([]);
  });

  const program = 'console.log(decodePaymentDetails(encodePaymentDetails({ outputs: [], time: 5n })).time.toString());';
  const names = '{ decodePaymentDetails, encodePaymentDetails }';
  for (const [where, from] of [
    ['node', 'bcoin-rest/payments'],
    ['node', 'rest/payments'],
    ['wallet', 'bcoin-rest-payments']
  ] as const) {
    it(`read and write payment messages from ${from}, imported and required`, async () => {
      const loads = { module: `import ${names} from '${from}';`, commonjs: `const ${names} = require('${from}');` };
      for (const [type, load] of Object.entries(loads)) {
        const { stdout } = await node(process.execPath, [`--input-type=${type}`, '-e', `${load} ${program}`], { cwd: join(folder, where) });
        expect(stdout, type).to.equal('5\n');
      }
    });
  }

  describe('have types that are found with the module resolution', () => {
    before(async () => {
      for (const at of [project, wallet]) {
        await mkdir(join(at, 'node_modules/@types'), { recursive: true });
        await symlink(join(projectFolder, 'node_modules/@types/node'), join(at, 'node_modules/@types/node'));
      }
      await writeFile(
        join(project, 'use.ts'),
        `
        import { id, type Coin, type RestPlugin } from 'bcoin-rest';
        import * as rest from 'rest';
        ${usePayments('bcoin-rest/payments')}
        import { MAX_PAYMENT_SIZE } from 'rest/payments';
        export const text: string = id + rest.id + MAX_PAYMENT_SIZE.toFixed();
        export function use(plugin: RestPlugin): Coin | undefined {
          plugin.ready$.subscribe((ready: boolean) => { console.log(ready); });
          return plugin.reader.read((snapshot) => snapshot.coin(Buffer.alloc(32), 0));
        }
        // @ts-expect-error: a type that was not found would take anything.
        export const wrong: number = id;`
      );
      await writeFile(join(wallet, 'use.ts'), usePayments('bcoin-rest-payments'));
    });

    const resolutions: readonly [name: string, module: ts.ModuleKind, resolution: ts.ModuleResolutionKind][] = [
      ['node10', ts.ModuleKind.CommonJS, ts.ModuleResolutionKind.Node10],
      ['node16', ts.ModuleKind.Node16, ts.ModuleResolutionKind.Node16],
      ['nodenext', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
      ['bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler]
    ];
    for (const [name, module, moduleResolution] of resolutions) {
      it(name, () => {
        for (const at of [project, wallet]) {
          expect(errorsOf(join(at, 'use.ts'), { module, moduleResolution }), at).to.deep.equal([]);
        }
      });
    }
  });
});

function usePayments(from: string): string {
  return `
    import { decodePaymentRequest, type PaymentRequest } from '${from}';
    export const request: PaymentRequest = decodePaymentRequest(Buffer.alloc(0));
    // @ts-expect-error: a type that was not found would take anything.
    export const wrongRequest: string = decodePaymentRequest(Buffer.alloc(0));`;
}

/** Declarations of the language and of others, which are read once for all programs. */
const read = new Map<string, ts.SourceFile | undefined>();

function compilerHost(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  return {
    ...host,
    getSourceFile(file, language, ...more) {
      const format = typeof language === 'object' ? language.impliedNodeFormat : undefined;
      const key = `${file} ${String(format)}`;
      if (!read.has(key)) read.set(key, host.getSourceFile(file, language, ...more));
      return read.get(key);
    }
  };
}

/** What tsc says of a program and of the declarations of our packages that it uses; those of others are not looked at. */
function errorsOf(file: string, resolution: ts.CompilerOptions): string[] {
  const options: ts.CompilerOptions = {
    ...resolution,
    noEmit: true,
    strict: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    types: ['node'],
    typeRoots: [join(dirname(file), 'node_modules/@types')]
  };
  const program = ts.createProgram([file], options, compilerHost(options));
  const ours = program
    .getSourceFiles()
    .filter(({ fileName }) => fileName === file || /\/node_modules\/(bcoin-)?rest(-payments)?\//.test(fileName));
  expect(ours.length).to.be.greaterThan(5);
  const inFiles = ours.flatMap((source) => [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]);
  return [...program.getOptionsDiagnostics(), ...inFiles].map(
    ({ file: where, messageText }) => `${where?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  );
}
