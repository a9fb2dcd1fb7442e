import { createECDH } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { MalformedBytesError } from '../../lib/bitcoin/reader';
import { readNodeCoin } from '../../lib/node/coins';
import { StoredCoinReader } from '../../lib/node/stored-coin';
import { outputsOf, spanOf, undoCoins } from '../../lib/node/undo-record';
import { bcoin } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';

const key = Buffer.concat([Buffer.from('c'), Buffer.alloc(32, 7), Buffer.from('00000102', 'hex')]);

/** A record of height 3 and a coinbase, with a value and a script as bcoin packs them. */
const recordOf = (value: string, script: string): Buffer => Buffer.from(`0107000000${value}${script}`, 'hex');

const scriptOf = (packed: string): string => readNodeCoin(key, recordOf('05', packed)).script.toString('hex');

describe('a coin of the node', () => {
  it('has outpoint, height, coinbase flag, value and script', () => {
    expect(readNodeCoin(key, recordOf('fe00e1f505', '0751'))).to.deep.equal({
      txid: Buffer.alloc(32, 7),
      index: 0x102,
      height: 3,
      coinbase: true,
      value: 100_000_000,
      script: Buffer.from('51', 'hex')
    });
  });

  it('has values of every length', () => {
    for (const [packed, value] of [
      ['00', 0],
      ['fc', 252],
      ['fdfd00', 253],
      ['fe00000100', 65_536],
      ['ff0040075af0750700', 2_100_000_000_000_000]
    ] as const)
      expect(readNodeCoin(key, recordOf(packed, '06')).value).to.equal(value);
  });

  it('has its whole script, whichever part was left out', () => {
    const hash = 'ab'.repeat(20);
    expect(scriptOf(`00${hash}`)).to.equal(`76a914${hash}88ac`);
    expect(scriptOf(`01${hash}`)).to.equal(`a914${hash}87`);
    expect(scriptOf('06')).to.equal('');
    expect(scriptOf(`fd3201${'6b'.repeat(300)}`)).to.equal('6b'.repeat(300));
  });

  it('has its whole public key, compressed or not', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((bytes) => bytes.some((byte) => byte > 0) && (bytes[0] as number) < 0xff),
        (secret) => {
          const pair = createECDH('secp256k1');
          pair.setPrivateKey(secret);
          const [long, short] = [pair.getPublicKey('hex', 'uncompressed'), pair.getPublicKey('hex', 'compressed')];
          expect(scriptOf(short)).to.equal(`21${short}ac`);
          expect(scriptOf(`${short.startsWith('02') ? '04' : '05'}${short.slice(2)}`)).to.equal(`41${long}ac`);
        }
      ),
      { numRuns: 50 }
    );
  });

  it('is malformed when it ends too early', () => {
    const record = recordOf('05', `00${'ab'.repeat(20)}`);
    for (let length = 0; length < record.length; length++)
      expect(() => readNodeCoin(key, record.subarray(0, length)), `${length} bytes`).to.throw(MalformedBytesError);
  });

  it('can be skipped without being read', () => {
    const short = `03${'11'.repeat(32)}`;
    for (const packed of [
      `00${'ab'.repeat(20)}`,
      `01${'ab'.repeat(20)}`,
      short,
      `04${'11'.repeat(32)}`,
      '06',
      '0751',
      `fd3201${'6b'.repeat(300)}`
    ])
      for (const value of ['00', 'fdfd00', 'fe00e1f505', 'ff0040075af0750700']) {
        const record = recordOf(value, packed);
        const reader = new StoredCoinReader(Buffer.concat([record, record]));
        reader.skipCoin();
        expect(reader.offset).to.equal(record.length);
      }
  });

  it('is read from undo records in their order', () => {
    const [a, b] = [recordOf('05', '0751'), recordOf('06', '0752')];
    expect(Array.from(undoCoins(Buffer.concat([Buffer.from('02000000', 'hex'), a, b])), ({ value }) => value)).to.deep.equal([5, 6]);
  });

  it('is not read from an undo record that has more or fewer of them, or other bytes', async () => {
    const coin = recordOf('05', '0751');
    const record = Buffer.concat([Buffer.from('02000000', 'hex'), coin, coin]);
    const fewer = Buffer.concat([Buffer.from('01000000', 'hex'), coin, coin]);
    expect(await spanOf(record, { start: 1, count: 1 })).to.have.length(1);
    expect(await outputsOf(record, Uint32Array.of(0, 2))).to.have.length(1 + 1 + 1 + 2 * (8 + 1 + 1));
    for (const outputs of [
      spanOf(record, { start: 1, count: 2 }),
      outputsOf(record, Uint32Array.of(0, 1)),
      outputsOf(record, Uint32Array.of(0, 3)),
      spanOf(fewer, { start: 1, count: 1 }),
      outputsOf(fewer, Uint32Array.of(0, 2)),
      outputsOf(Buffer.concat([record, Buffer.of(0)]), Uint32Array.of(0, 2)),
      // A script of fewer bytes than none, and a key that is on no curve.
      outputsOf(Buffer.concat([Buffer.from('01000000', 'hex'), recordOf('05', 'fd0200')]), Uint32Array.of(1)),
      outputsOf(Buffer.concat([Buffer.from('01000000', 'hex'), recordOf('05', `04${'ff'.repeat(32)}`)]), Uint32Array.of(1))
    ])
      expect(await caught(outputs)).to.be.instanceOf(MalformedBytesError);
  });

  it('is as bcoin itself writes it', async () => {
    const host = await openRegtestNode();
    const [block] = await mine(host, 1, undefined, bcoin.KeyRing.fromPrivate(Buffer.alloc(32, 9), false).getAddress());
    const txid = block?.txs[0]?.hash() ?? expect.fail('a coinbase');
    const record = await host.chain.db.db.get(Buffer.concat([Buffer.from('c'), txid, Buffer.alloc(4)]));
    const coin = readNodeCoin(Buffer.concat([Buffer.from('c'), txid, Buffer.alloc(4)]), record ?? expect.fail('a coin'));
    expect(coin).to.deep.include({ txid, index: 0, height: 1, coinbase: true, value: 5_000_000_000 });
    expect(block?.toRaw().includes(coin.script)).to.equal(true);
    await host.close();
  });
});
