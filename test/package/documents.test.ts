import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CALLS } from '../../lib/rpc/call-table';
import { projectFolder } from '../support/process/project-folder';

const textOf = (path: string): string => readFileSync(join(projectFolder, path), 'utf8');

describe('the documents', () => {
  it('list each call of JSON-RPC that is answered here, and no other', () => {
    const [, section = ''] = textOf('docs/rpc.md').split(/^## .*$|^Passed on to bcoin/m);
    // Without what is said of a call in parentheses, in which there may be others.
    const rows = section.split('\n').filter((line) => line.startsWith('|'));
    const names = rows
      .join('\n')
      .replace(/\([^()]*\)/g, '')
      .replace(/\([^()]*\)/g, '');
    const listed = [...names.matchAll(/`([a-z.]+)`/g)].map(([, name]) => name);
    // Sorted, so that a failure shows the calls that differ and not all of them.
    expect(listed.sort(), 'the table "Calls" of docs/rpc.md').to.deep.equal([...CALLS.keys()].sort());
  });

  it('list each endpoint of /rest', () => {
    const prefixes = [...textOf('lib/rest/routes.ts').matchAll(/prefix: '([^']+)'/g)].map(([, prefix = '']) => prefix);
    expect(prefixes).to.have.length.above(10);
    const text = textOf('docs/rest.md');
    const unlisted = prefixes.filter((prefix) => !text.includes(`| \`${prefix.replace(/\/$/, '')}`));
    expect(unlisted, 'have no row in docs/rest.md').to.deep.equal([]);
  });
});
