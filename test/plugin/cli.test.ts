import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { runCommandLine } from '../../plugin/cli/run';
import { OPTIONS, type OptionRow } from '../../plugin/options/table';
import { CapturedIo } from '../support/process/captured-io';

const project = resolve(__dirname, '../..');
const program = resolve(project, 'dist/plugin/cli/main.js');
const startProgram = resolve(project, 'dist/plugin/start/main.js');
const request = resolve(__dirname, '../vectors/payments/openssl-signed.rsa.hex');

interface Result {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

async function run(...args: string[]): Promise<Result> {
  const { out, err, said } = new CapturedIo();
  const status = await runCommandLine(args, { out, err, now: () => new Date() });
  return { status, ...said };
}

function runProgram(file: string, ...args: string[]): Result {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

describe('bcoin-rest on the command line', () => {
  const levels: readonly [args: readonly string[], usage: RegExp][] = [
    [[], /^Usage: bcoin-rest payments\|index/],
    [['index'], /^Usage: bcoin-rest index/],
    [['index', 'status'], /^Usage: bcoin-rest index/],
    [['payments'], /^Usage: bcoin-rest payments/],
    [['payments', 'decode'], /^Usage: bcoin-rest payments/]
  ];
  for (const [args, usage] of levels) {
    it(`prints help and version: bcoin-rest ${args.join(' ')}`, async () => {
      for (const question of ['--help', '-h', 'help']) {
        const { status, out, err } = await run(...args, question);
        expect({ status, err }, question).to.deep.equal({ status: 0, err: '' });
        expect(out, question).to.match(usage);
      }
      const { status, out, err } = await run(...args, '--version');
      expect({ status, err }).to.deep.equal({ status: 0, err: '' });
      expect(out).to.match(/^bcoin-rest \d+\.\d+\.\d+\n$/);
    });
  }

  it('prints the help of a command that is named after help', async () => {
    expect(await run('help')).to.have.property('status', 0);
    expect((await run('help', 'index')).out).to.match(/^Usage: bcoin-rest index/);
    expect((await run('payments', 'help', 'decode')).out).to.match(/^Usage: bcoin-rest payments/);
  });

  it('names an unknown command on standard error', async () => {
    expect(await run('dance'))
      .to.deep.include({ status: 2, out: '' })
      .and.to.have.property('err')
      .that.matches(/^there is no command 'dance'\n[^]*Usage/);
    expect(await run('index', 'dance'))
      .to.deep.include({ status: 2, out: '' })
      .and.to.have.property('err')
      .that.matches(/^there is no command 'dance'\n[^]*Usage/);
    expect(await run('payments', 'dance'))
      .to.deep.include({ status: 2, out: '' })
      .and.to.have.property('err')
      .that.matches(/^There is no command 'dance'\.\n[^]*Usage/);
    for (const args of [[], ['index'], ['payments']])
      expect(await run(...args))
        .to.deep.include({ status: 2, out: '' })
        .and.to.have.property('err')
        .that.matches(/^a command is missing/i);
  });

  it('runs the commands of the payments library', async () => {
    const { status, err } = await run('payments', 'decode', request);
    expect(status).to.equal(1);
    expect(err).to.match(/PaymentRequest/);
    expect(await run('payments', 'decode', '/nonexistent')).to.include({ status: 3, out: '' });
  });

  it('is a program', () => {
    expect(runProgram(program, '--version')).to.include({ status: 0, err: '' });
    expect(runProgram(program, 'dance')).to.include({ status: 2, out: '' });
  });

  it('has the options of the REST service in the help of npm start, and the versions of both', () => {
    const namesOfNodes = OPTIONS.filter((row: OptionRow) => row.only !== 'reader').map(({ name }) => name);
    for (const question of ['--help', 'help']) {
      const { status, out, err } = runProgram(startProgram, question);
      expect({ status, err }).to.deep.equal({ status: 0, err: '' });
      for (const name of [...namesOfNodes, 'network', 'prefix', 'api-key', 'http-port', 'prune', 'log-level'])
        expect(out).to.include(`--${name} `);
    }
    expect(runProgram(startProgram, '--version'))
      .to.have.property('out')
      .that.matches(/^bcoin-rest \d+\.\d+\.\d+, bcoin v?\d+\.\d+\.\d+\n$/);
  });
});
