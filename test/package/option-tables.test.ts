import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { defaultOf, OPTIONS, type OptionRow } from '../../plugin/options/table';
import { projectFolder } from '../support/process/project-folder';

const ROWS: readonly OptionRow[] = OPTIONS;

/** Name, other name and default of each row of the tables of options in a document. */
function rowsIn(path: string): string[] {
  const text = readFileSync(join(projectFolder, path), 'utf8');
  return [...text.matchAll(/^\| `(--rest-[a-z-]+)` \|([^|]*)\|([^|]*)\|/gm)].map((cells) =>
    [...cells]
      .slice(1)
      .map((cell) => cell.replaceAll('`', '').trim())
      .join(' | ')
  );
}

const rowOf = (row: OptionRow): string =>
  [`--${row.name}`, row.alias === undefined ? '' : `--${row.alias}`, defaultOf(row) ?? ''].join(' | ');

describe('the options in the documents', () => {
  it('are those of the table: most in README.md, the others in docs/operating.md', () => {
    expect(rowsIn('README.md'), 'README.md').to.deep.equal(ROWS.filter(({ isRare }) => isRare !== true).map(rowOf));
    expect(rowsIn('docs/operating.md'), 'docs/operating.md').to.deep.equal(ROWS.filter(({ isRare }) => isRare === true).map(rowOf));
  });

  it('have the ranges of their numbers', () => {
    const lines = ['README.md', 'docs/operating.md'].flatMap((path) => readFileSync(join(projectFolder, path), 'utf8').split('\n'));
    for (const { name, kind } of ROWS)
      if (kind.type === 'number')
        expect(
          lines.find((line) => line.startsWith(`| \`--${name}\``)),
          name
        ).to.match(new RegExp(`\\b${kind.least} to ${kind.most}\\b`));
  });

  it('stand under the name of their group', () => {
    const readme = readFileSync(join(projectFolder, 'README.md'), 'utf8');
    const sections = readme.split(/^\*\*(REST|Wallets|Payments|Running)\b/m);
    for (const { name, group, isRare } of ROWS) {
      if (isRare === true) continue;
      const at = sections.findIndex((title) => title.toLowerCase() === group.toLowerCase());
      expect(sections[at + 1], name).to.include(`| \`--${name}\` |`);
    }
  });
});
