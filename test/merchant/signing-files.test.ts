import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { SigningFiles } from '../../lib/merchant/signing-files';
import { PaymentError } from '../../lib/payments/error';
import { makeCertificate, type MadeCertificate } from '../payments/made-certificates';
import { caught } from '../support/expectations/caught';
import { newFolder } from '../support/process/folders';
import { MemoryLog } from '../support/process/memory-log';

const HOUR_MS = 3_600_000;

const root = makeCertificate({ commonName: 'Root', ca: true });

describe('the files with which payment requests are signed', () => {
  let folder: string;
  let log: MemoryLog;
  let now: Date;

  beforeEach(async () => {
    folder = await newFolder();
    log = new MemoryLog();
    now = new Date();
  });

  const open = (): Promise<SigningFiles> => SigningFiles.open({ folder, clock: () => now, logger: log });
  const refusal = async (): Promise<string> => {
    const error = await caught(open());
    expect(error).to.be.instanceOf(PaymentError);
    return (error as PaymentError).message;
  };
  /** Writes as `cp` does: the file itself stays, with other bytes. */
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
  const writePair = async (leaf: MadeCertificate): Promise<void> => {
    await write('key.pem', leaf.keyPem);
    await write('certificates.pem', leaf.pem + root.pem);
  };
  const certify = (validMs = 24 * HOUR_MS): MadeCertificate =>
    makeCertificate({ commonName: 'shop.example', issuer: root, notAfter: new Date(now.getTime() + validMs) });
  const firstOf = async (files: SigningFiles): Promise<string | undefined> => (await files.identity())?.certificates[0]?.toString('hex');

  it('are a key and its certificates', async () => {
    const leaf = certify();
    await writePair(leaf);
    const files = await open();
    expect(files.sign).to.equal(true);
    expect((await files.identity())?.certificates).to.deep.equal([leaf.der, root.der]);
  });

  it('may both be missing', async () => {
    const files = await open();
    expect(files.sign).to.equal(false);
    expect(await files.identity()).to.equal(undefined);
  });

  describe('stop the start with their name if', () => {
    const inCertificates = (text: string): RegExp => new RegExp(`^${join(folder, 'certificates.pem')}: ${text}`);
    const inKey = (text: string): RegExp => new RegExp(`^${join(folder, 'key.pem')}: ${text}`);

    it('a certificate has expired', async () => {
      const [notBefore, notAfter] = [new Date('2020-01-01'), new Date('2021-01-01')];
      await writePair(makeCertificate({ commonName: 'shop.example', issuer: root, notBefore, notAfter }));
      expect(await refusal()).to.match(inCertificates('"CN=shop.example" was valid until 2021-01-01.*Put a renewed certificate there'));
    });

    it('certificates are in the wrong order', async () => {
      const leaf = certify();
      await write('key.pem', leaf.keyPem);
      await write('certificates.pem', root.pem + leaf.pem);
      expect(await refusal()).to.match(inCertificates(".*Put the key's own certificate first"));
    });

    it('there is no certificate', async () => {
      await write('key.pem', certify().keyPem);
      await write('certificates.pem', '');
      expect(await refusal()).to.match(inCertificates('A certificate in PEM expected'));
    });

    it('the key belongs to another certificate', async () => {
      await writePair(certify());
      await write('key.pem', certify().keyPem);
      expect(await refusal()).to.match(/key\.pem, .*certificates\.pem: The first certificate is of another key\. Put/);
    });

    it('the key is encrypted', async () => {
      const leaf = certify();
      await writePair(leaf);
      await write('key.pem', leaf.key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'sesame' }).toString());
      expect(await refusal()).to.match(inKey('The key is encrypted\\. Write it without a passphrase'));
    });

    it('the key is malformed', async () => {
      await writePair(certify());
      await write('key.pem', 'secret');
      expect(await refusal()).to.match(inKey('A private key in PEM expected'));
    });

    it('one of the two files is missing', async () => {
      await write('key.pem', certify().keyPem);
      expect(await refusal()).to.equal(`${folder} needs both key.pem and certificates.pem to sign payment requests, or neither.`);
    });
  });

  describe('are read again', () => {
    it('when they were renewed in place', async () => {
      await writePair(certify());
      const files = await open();
      await firstOf(files);
      const renewed = certify();
      await writePair(renewed);
      expect(await firstOf(files)).to.equal(renewed.der.toString('hex'));
    });

    it('when other files were moved to their place, or a link to them points elsewhere', async () => {
      const [first, second, third] = [certify(), certify(), certify()];
      await writePair(first);
      const files = await open();
      for (const [name, text] of [
        ['key.pem', second.keyPem],
        ['certificates.pem', second.pem + root.pem]
      ] as const) {
        await write(`${name}.new`, text);
        await rename(join(folder, `${name}.new`), join(folder, name));
      }
      expect(await firstOf(files)).to.equal(second.der.toString('hex'));
      for (const [name, text] of [
        ['key.pem', third.keyPem],
        ['certificates.pem', third.pem + root.pem]
      ] as const) {
        await write(`${name}.3`, text);
        await symlink(`${name}.3`, join(folder, `${name}.link`));
        await rename(join(folder, `${name}.link`), join(folder, name));
      }
      expect(await firstOf(files)).to.equal(third.der.toString('hex'));
    });

    it('when they came after the start', async () => {
      const files = await open();
      const leaf = certify();
      await writePair(leaf);
      expect(await firstOf(files)).to.equal(leaf.der.toString('hex'));
      expect(files.sign).to.equal(true);
    });

    it('and not when nothing changed', async () => {
      await writePair(certify());
      const files = await open();
      expect(await files.identity()).to.equal(await files.identity());
      expect(log.lines).to.deep.equal([]);
    });

    it('once for a renewal that cannot be used, which keeps the previous pair and is logged', async () => {
      const first = certify();
      await writePair(first);
      const files = await open();
      const renewed = certify();
      await write('key.pem', renewed.keyPem);
      for (let i = 0; i < 3; i++) expect(await firstOf(files)).to.equal(first.der.toString('hex'));
      expect(log.lines).to.have.length(1);
      expect(log.lines[0]).to.match(/^error payments: .*key\.pem, .*certificates\.pem: The first certificate is of another key\./);
      expect(log.lines[0]).to.match(/ signed with the previous key and certificates\.$/);
      await write('certificates.pem', renewed.pem + root.pem);
      expect(await firstOf(files)).to.equal(renewed.der.toString('hex'));
    });

    it('when they are gone or cannot be read, which keeps the previous pair and is logged', async () => {
      const leaf = certify();
      await writePair(leaf);
      const files = await open();
      await rm(join(folder, 'key.pem'));
      await rm(join(folder, 'certificates.pem'));
      expect(await firstOf(files)).to.equal(leaf.der.toString('hex'));
      expect(log.lines.at(-1)).to.match(/are gone from/);
      await writePair(leaf);
      await rm(join(folder, 'key.pem'));
      await mkdir(join(folder, 'key.pem'));
      expect(await firstOf(files)).to.equal(leaf.der.toString('hex'));
      expect(log.lines.at(-1)).to.match(/EISDIR/);
    });
  });

  it('sign nothing after they have expired, until they are renewed', async () => {
    await writePair(certify(HOUR_MS));
    const files = await open();
    now = new Date(now.getTime() + 2 * HOUR_MS);
    const error = await caught(files.identity());
    expect((error as PaymentError).message).to.match(
      /certificates\.pem: "CN=shop.example" was valid until .*Put a renewed certificate there/
    );
    const renewed = certify();
    await writePair(renewed);
    expect(await firstOf(files)).to.equal(renewed.der.toString('hex'));
  });
});
