import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';

const program = resolve(__dirname, '../../dist/plugin/cli/main.js');
const request = resolve(__dirname, '../vectors/payments/openssl-signed.rsa.hex');

function run(...args: string[]): { readonly status: number | null; readonly out: string; readonly err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

describe('bcoin-rest on the command line', () => {
  it('says how it is used, on standard error unless asked', () => {
    expect(run('--help')).to.deep.include({ status: 0, err: '' }).and.to.have.property('out').that.includes('payments');
    expect(run()).to.deep.include({ status: 2, out: '' }).and.to.have.property('err').that.includes('Usage');
    expect(run('dance').status).to.equal(2);
  });

  it('runs the commands of the payments library', () => {
    const { status, err } = run('payments', 'decode', request);
    expect(status).to.equal(1);
    expect(err).to.match(/PaymentRequest/);
    expect(run('payments', 'decode', '/nowhere').status).to.equal(1);
    expect(run('payments').status).to.equal(2);
  });
});
