import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { needsProgram } from '../support/process/installed';
import { projectFolder } from '../support/process/project-folder';

const FOLDER = join(projectFolder, 'docs/operating');

describe('the rules for Prometheus', () => {
  const promtool = (...args: string[]): string => {
    const { stdout, stderr } = spawnSync('promtool', args, { cwd: FOLDER, encoding: 'utf8' });
    return stdout + stderr;
  };

  it('are valid, and fire at what they say', function () {
    needsProgram(this, 'promtool');
    expect(promtool('check', 'rules', '--lint-fatal', 'alerts.yml')).to.match(/SUCCESS: \d+ rules found/);
    expect(promtool('check', 'config', '--syntax-only', 'prometheus.yml')).to.include('SUCCESS');
    expect(promtool('test', 'rules', 'alerts.test.yml'))
      .to.include('SUCCESS')
      .and.not.include('FAILED');
  });

  it('are each tested, and each has a section in docs/operating.md', () => {
    const names = (file: string, key: string): Set<string> =>
      new Set(
        [...readFileSync(join(FOLDER, file), 'utf8').matchAll(new RegExp(`${key}: (BcoinRest\\w+)`, 'g'))].map(([, name = '']) => name)
      );
    const alerts = names('alerts.yml', '- alert');
    expect(names('alerts.test.yml', 'alertname')).to.deep.equal(alerts);
    const guide = readFileSync(join(projectFolder, 'docs/operating.md'), 'utf8');
    for (const alert of alerts) expect(guide).to.include(`\`${alert}\``);
  });
});
