import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, copyFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { projectFolder } from '../support/process/project-folder';
import { npm, pack, type Packed } from './packed';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly main: string;
  readonly types: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

describe('what npm packs', function () {
  this.timeout(300_000);
  let folder: string;
  let packed: readonly Packed[];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'packed-'));
    packed = await pack(folder);
    for (const { name, tarball } of packed) {
      execFileSync('tar', ['xzf', tarball, '-C', folder]);
      execFileSync('mv', [join(folder, 'package'), join(folder, name)]);
    }
  });

  after(() => rmSync(folder, { recursive: true }));

  const readPacked = (name: string, path: string): string => readFileSync(join(folder, name, path), 'utf8');
  const manifestOf = (name: string): Manifest => JSON.parse(readPacked(name, 'package.json')) as Manifest;

  it('has the licence, what tells of the program, the schema and everything that package.json points to', () => {
    for (const { name, files } of packed) {
      const { main, types, bin = {}, exports } = manifestOf(name);
      const targets = Object.values(exports).flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)));
      const pointed = [main, types, ...Object.values(bin), ...targets];
      expect(files, name).to.include.members(pointed.map((path) => path.replace(/^\.\//, '')));
      expect(files, name).to.include.members(['LICENSE', 'README.md', 'docs/payments.md', 'dist/proto/payments.proto']);
    }
    const [service] = packed;
    expect(service?.files).to.include.members([
      ...['CHANGELOG.md', 'docs/differences.md', 'proto/payments.proto'],
      ...['dist/web/manifest.json', 'dist/web/licenses.txt']
    ]);
  });

  it('has every file that its documents lead to', () => {
    for (const { name, files } of packed) {
      for (const path of files.filter((file) => file.endsWith('.md'))) {
        const targets = [...readPacked(name, path).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target);
        for (const target of targets.filter((each) => !/^https?:/.test(each))) {
          const led = join(dirname(path), target);
          expect(
            files.some((file) => file === led || file.startsWith(join(led, '/'))),
            `${name}: ${path} leads to ${target}`
          ).to.equal(true);
        }
      }
    }
  });

  it('has nothing that only the project needs', () => {
    for (const { name, files } of packed) {
      for (const path of files) {
        expect(path, name).to.match(/^((dist|docs|proto)\/|((bench|migrations)\/)?[A-Z]+\.md$|LICENSE$|package\.json$)/);
        if (!path.startsWith('dist/')) continue;
        expect(path, name).to.match(
          /^dist\/(lib|migrations|plugin)\/.*\.(js|d\.ts)$|^dist\/proto\/(fleet|payments)\.proto$|^dist\/web\/(manifest\.json|licenses\.txt|[\w-]+\.(js|css|svg)(\.br|\.gz)?)$/
        );
      }
    }
    const [, payments] = packed;
    const others = payments?.files.filter((path) => /^dist\/lib\/(?!payments\/|merchant\/orders\/)/.test(path));
    // What the merchant's storage writes its files with.
    expect(others).to.have.members(['private-file', 'sync-to-disk', 'system-errors'].map((name) => `dist/lib/system/${name}.js`));
  });

  it('has no source maps, and no program that names one', () => {
    for (const { name, files } of packed) {
      expect(
        files.filter((path) => path.endsWith('.map')),
        name
      ).to.deep.equal([]);
      for (const path of files.filter((file) => file.endsWith('.js'))) {
        expect(readPacked(name, path), path).to.not.include('sourceMappingURL');
      }
    }
  });

  it('says whose it is', () => {
    for (const { name } of packed) {
      const manifest = manifestOf(name);
      expect(manifest, name).to.include({ author: 'The bcoin-rest developers', license: 'MIT' });
      expect(manifest, name).to.include.keys('repository', 'keywords', 'description', 'engines');
      expect(manifest.private, name).to.equal(undefined);
    }
  });

  it('has one version of both packages, and asks for the same packages', () => {
    const [service, payments] = packed.map(({ name }) => manifestOf(name)) as [Manifest, Manifest];
    expect(payments.version).to.equal(service.version);
    expect(service.dependencies).to.include(payments.dependencies);
  });

  it('asks for exactly the packages that the payments library imports', () => {
    const imported = ['lib/payments', 'lib/merchant/orders']
      .flatMap((folder) =>
        readdirSync(join(projectFolder, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(projectFolder, folder, path))
      )
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/ from '((?!node:)[^.'][^']*)'/g)])
      .map(([, name = '']) => name);
    expect([...new Set(imported)].sort()).to.deep.equal(Object.keys(manifestOf('bcoin-rest-payments').dependencies).sort());
  });

  it('is not built, without an error, where the packages for that are missing', async () => {
    const bare = mkdtempSync(join(folder, 'bare-'));
    copyFileSync(join(projectFolder, 'package.json'), join(bare, 'package.json'));
    await npm(bare, 'run', '--silent', 'prepare');
    expect(readdirSync(bare)).to.deep.equal(['package.json']);
  });
});
