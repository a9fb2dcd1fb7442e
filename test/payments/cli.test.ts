import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { runPaymentsCommand } from '../../lib/payments/cli';
import { decodePaymentDetails, decodePaymentRequest, encodePaymentDetails, encodePaymentRequest } from '../../lib/payments/messages';
import { CapturedIo } from '../support/process/captured-io';
import { newFolder } from '../support/process/folders';
import { VALID_TIME, der, keyFile, pem, vector, vectorsFolder } from './vectors';

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(...args: string[]): Promise<Result> {
  const { out, err, said } = new CapturedIo();
  const code = await runPaymentsCommand(args, { out, err, now: () => VALID_TIME });
  return { code, ...said };
}

/** Runs a test with a folder. */
const inFolder = (test: (folder: string) => Promise<void>) => async (): Promise<void> => test(await newFolder());

async function fileOf(folder: string, bytes: Buffer): Promise<string> {
  const file = join(folder, 'message');
  await writeFile(file, bytes);
  return file;
}

const certificate = (name: string): string => join(vectorsFolder, 'certificates', `${name}.pem`);

describe('payments command', () => {
  describe('decode', () => {
    it(
      'prints a request as JSON, with the details inside it',
      inFolder(async (folder) => {
        const file = await fileOf(folder, encodePaymentRequest({ serializedPaymentDetails: vector('messages/PaymentDetails.full.hex') }));
        const { code, out } = await run('decode', file, '--json');
        expect(code).to.equal(0);
        expect(JSON.parse(out)).to.deep.equal({
          paymentDetailsVersion: 1,
          pkiType: 'none',
          paymentDetails: {
            network: 'test',
            outputs: [
              { amount: '100000', script: '51' },
              { amount: '1', script: '52' }
            ],
            time: '1400000000',
            expires: '1400000900',
            memo: 'Two mugs ☕',
            paymentUrl: 'https://shop.example/pay/1',
            merchantData: '00ff80'
          }
        });
      })
    );

    it(
      'prints a request as text',
      inFolder(async (folder) => {
        const file = await fileOf(
          folder,
          encodePaymentRequest({ serializedPaymentDetails: encodePaymentDetails({ outputs: [], time: 5n }) })
        );
        expect((await run('decode', file)).out).to.equal(
          'paymentDetailsVersion: 1\npkiType: none\npaymentDetails:\n  network: main\n  outputs: none\n  time: 5\n'
        );
      })
    );

    it(
      'prints a memo in one line, whatever it contains',
      inFolder(async (folder) => {
        const file = await fileOf(folder, encodePaymentDetails({ outputs: [], time: 5n, memo: 'a\nstatus: trusted\u001b[2J' }));
        expect((await run('decode', file, '--type', 'details')).out).to.match(/^memo: a\\u\{a\}status: trusted\\u\{1b\}\[2J$/m);
      })
    );

    it(
      'prints the other messages',
      inFolder(async (folder) => {
        const cases = [
          ['output', 'Output.extensions', { amount: '1', script: '51', unknownFields: ['a206026869', 'f8ffffff0fac02'] }],
          ['certificates', 'X509Certificates.full', { certificate: ['3000', '', '300100'] }],
          ['ack', 'PaymentACK.minimal', { payment: { transactions: [], refundTo: [] } }]
        ] as const;
        for (const [type, name, expected] of cases) {
          const { out } = await run('decode', await fileOf(folder, vector(`messages/${name}.hex`)), '--type', type, '--json');
          expect(JSON.parse(out), name).to.deep.equal(expected);
        }
      })
    );

    it(
      'prints the certificates of a signed request',
      inFolder(async (folder) => {
        const { out } = await run('decode', await fileOf(folder, vector('openssl-signed.rsa.hex')), '--json');
        const { certificates } = JSON.parse(out) as { certificates: { subject: string; der: string }[] };
        expect(certificates.map(({ subject }) => subject)).to.deep.equal(['CN=shop.example', 'O=Test Roots, CN=Test Intermediate']);
        expect(certificates[0]?.der).to.equal(der('rsa2048').toString('hex'));
      })
    );

    it(
      'prints malformed certificates as bytes',
      inFolder(async (folder) => {
        const bytes = encodePaymentRequest({
          ...decodePaymentRequest(vector('messages/PaymentRequest.full.hex')),
          serializedPaymentDetails: vector('messages/PaymentDetails.minimal.hex')
        });
        const { out } = await run('decode', await fileOf(folder, bytes), '--json');
        expect(JSON.parse(out)).to.deep.include({ certificates: [{ der: '3000' }], signature: '010203' });
      })
    );

    it(
      'says why it cannot',
      inFolder(async (folder) => {
        expect(await run('decode', await fileOf(folder, Buffer.from('0801', 'hex')))).to.deep.equal({
          code: 1,
          out: '',
          err: "PaymentRequest: missing required 'serializedPaymentDetails'.\n"
        });
        expect(await run('decode', join(folder, 'absent')))
          .to.include({ code: 3 })
          .and.to.have.property('err')
          .that.matches(/ENOENT/);
      })
    );
  });

  describe('verify', () => {
    it(
      'exits with 0 for a trusted signer',
      inFolder(async (folder) => {
        const file = await fileOf(folder, vector('openssl-signed.ecdsa.hex'));
        expect(await run('verify', file, '--roots', certificate('root'))).to.deep.equal({
          code: 0,
          out: 'status: trusted\nname: shop.example\ntrustedBy: O=Test Roots, CN=Test Root\n',
          err: ''
        });
      })
    );

    it(
      'exits with 3 for a file that it cannot read',
      inFolder(async (folder) => {
        expect(await run('verify', join(folder, 'absent'))).to.include({ code: 3, out: '' });
        expect(await run('verify', folder)).to.include({ code: 3, out: '' });
      })
    );

    it(
      'exits with 1 for everything else, and says why',
      inFolder(async (folder) => {
        const signed = await fileOf(folder, vector('openssl-signed.ecdsa.hex'));
        expect(await run('verify', signed))
          .to.include({ code: 1 })
          .and.to.have.property('out')
          .that.matches(/^reason: unknown-root$/m);
        expect(JSON.parse((await run('verify', signed, '--roots', certificate('root'), '--time', '0', '--json')).out)).to.include({
          reason: 'not-yet-valid'
        });
        const unsigned = await fileOf(folder, vector('messages/PaymentRequest.minimal.hex'));
        expect(await run('verify', unsigned)).to.deep.equal({ code: 1, out: 'status: none\n', err: '' });
      })
    );

    it(
      'accepts SHA-1 and pins if options say so',
      inFolder(async (folder) => {
        const sha1 = await fileOf(folder, vector('openssl-signed.sha1.hex'));
        expect(await run('verify', sha1, '--roots', certificate('root'))).to.include({ code: 1 });
        expect(await run('verify', sha1, '--roots', certificate('root'), '--allow-sha1')).to.include({ code: 0 });
        expect(await run('verify', sha1, '--pin', '00'.repeat(32), '--allow-sha1')).to.include({ code: 1 });
      })
    );
  });

  describe('create and sign', () => {
    const basic = ['create', '--output', `0014${'00'.repeat(20)}:1000`, '--output', '51:2000'];

    it(
      'make a request that verify trusts',
      inFolder(async (folder) => {
        const [request, signed, chain] = [join(folder, 'request'), join(folder, 'signed'), join(folder, 'chain.pem')];
        await writeFile(chain, pem('p256') + pem('intermediate'));
        expect((await run(...basic, '--out', request)).out).to.match(/^total: 3000$/m);
        expect(await run('sign', request, '--key', keyFile('p256'), '--certificates', chain, '--out', signed)).to.include({ code: 0 });
        expect(await run('verify', signed, '--roots', certificate('root'))).to.include({ code: 0 });
      })
    );

    it(
      'write the given fields',
      inFolder(async (folder) => {
        const out = join(folder, 'request');
        await run(
          ...basic,
          '--out',
          out,
          '--network',
          'test',
          '--memo',
          'Two mugs',
          '--expires',
          '1900000000',
          '--payment-url',
          'https://shop.example/pay',
          '--merchant-data',
          'a1'
        );
        expect(decodePaymentDetails(decodePaymentRequest(await readFile(out)).serializedPaymentDetails)).to.deep.equal({
          network: 'test',
          outputs: [
            { amount: 1_000n, script: Buffer.from(`0014${'00'.repeat(20)}`, 'hex') },
            { amount: 2_000n, script: Buffer.from('51', 'hex') }
          ],
          time: BigInt(VALID_TIME.getTime() / 1_000),
          expires: 1_900_000_000n,
          memo: 'Two mugs',
          paymentUrl: 'https://shop.example/pay',
          merchantData: Buffer.from('a1', 'hex')
        });
      })
    );

    it(
      'refuse unpayable requests, and the key of another certificate',
      inFolder(async (folder) => {
        const out = join(folder, 'request');
        expect(await run('create', '--output', '51:1', '--out', out))
          .to.include({ code: 1 })
          .and.to.have.property('err')
          .that.matches(/dust/);
        expect(await run('create', '--out', out)).to.include({ code: 1 });
        for (const [option, value, message] of [
          ['--output', '6a00:100000', /nobody ever can/],
          ['--expires', '1800000000000', /milliseconds/],
          ['--payment-url', 'javascript:alert(1)', /payment_url/]
        ] as const)
          expect(await run(...basic, option, value, '--out', out))
            .to.include({ code: 1 })
            .and.to.have.property('err')
            .that.matches(message);
        await run(...basic, '--out', out);
        expect(await run('sign', out, '--key', keyFile('p256'), '--certificates', certificate('rsa2048'), '--out', out)).to.include({
          code: 1
        });
      })
    );
  });

  describe('wrong usage', () => {
    for (const args of [
      [],
      ['pay'],
      ['toString'],
      ['decode'],
      ['decode', 'a', 'b'],
      ['decode', 'a', '--type', 'invoice'],
      ['verify', 'a', '--pin', '00'],
      ['verify', 'a', '--pin', 'x'],
      ['verify', 'a', '--roots', keyFile('p256')],
      ['verify', 'a', '--time', 'now'],
      ['verify', 'a', '--time', '99999999999999999999'],
      ['verify', 'a', '--trust'],
      ['create', '--output', '51:1000'],
      ['create', 'file', '--out', 'x'],
      ['create', '--output', '51', '--out', 'x'],
      ['create', '--output', '5:1', '--out', 'x'],
      ['create', '--output', '51:1:1', '--out', 'x'],
      ['create', '--network', 'regtest', '--out', 'x'],
      ['sign', 'a', '--out', 'x']
    ]) {
      it(`exits with 2: ${args.map((arg) => arg.split('/').at(-1)).join(' ')}`, async () => {
        const { code, out, err } = await run(...args);
        expect({ code, out }).to.deep.equal({ code: 2, out: '' });
        expect(err).to.include('payments decode FILE');
      });
    }

    it('names an unknown command', async () => {
      expect((await run('pay')).err).to.match(/^There is no command 'pay'\.\n/);
    });
  });
});
