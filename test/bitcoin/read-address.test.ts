import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { acceptedPrefixes, scriptOfAddress, writeAddress, type AddressPrefixes } from '../../lib/bitcoin/address';
import { readBase58Check, writeBase58Check } from '../../lib/bitcoin/base58';
import { readBech32, readSegwitAddress, writeSegwitAddress } from '../../lib/bitcoin/bech32';
import { scriptTypeOf } from '../../lib/bitcoin/script-type';
import { TextWriter } from '../../lib/bitcoin/text-writer';
import { chainATransactions } from '../support/chain/chain-a-transactions';
import { coreRegtestPrefixes } from '../support/chain/chain-a';

type Pairs = readonly [text: string, scriptOrReason: string][];

const bips = JSON.parse(readFileSync(join(__dirname, '../vectors/addresses/bech32.json'), 'utf8')) as {
  readonly bech32: { readonly valid: readonly string[]; readonly invalid: Pairs };
  readonly bech32m: { readonly valid: readonly string[]; readonly invalid: Pairs };
  readonly addresses: { readonly valid: Pairs; readonly invalid: Pairs };
};

const MAIN: AddressPrefixes = { pubkeyhash: 0x00, scripthash: 0x05, bech32: 'bc' };
/** bcoin 1's prefixes. */
const OWN_REGTEST: AddressPrefixes = { pubkeyhash: 0x3c, scripthash: 0x26, bech32: 'rb' };

const text = (write: (writer: TextWriter) => void): string => {
  const writer = new TextWriter();
  write(writer);
  return writer.toString();
};

const base58 = (version: number, hash = Buffer.alloc(20, 7)): string => text((writer) => writeBase58Check(writer, version, hash));
const segwit = (prefix: string, version = 0, program = Buffer.alloc(20, 7)): string =>
  text((writer) => writeSegwitAddress(writer, prefix, version, program));

const pubkeyHash = `76a914${'07'.repeat(20)}88ac`;
const scriptHash = `a914${'07'.repeat(20)}87`;
const keyHash = `0014${'07'.repeat(20)}`;

const read = (address: string, chain: string, own: AddressPrefixes): string => {
  const script = scriptOfAddress(address, acceptedPrefixes(chain, own));
  return typeof script === 'string' ? script : script.toString('hex');
};

describe('readBech32', () => {
  it('accepts the valid texts of BIP173 and BIP350, each in one variant', () => {
    for (const variant of ['bech32', 'bech32m'] as const)
      for (const valid of bips[variant].valid) {
        expect(readBech32(valid), valid).to.include({ variant, prefix: valid.toLowerCase().slice(0, valid.lastIndexOf('1')) });
      }
  });

  it('refuses the invalid ones', () => {
    for (const [invalid, reason] of [...bips.bech32.invalid, ...bips.bech32m.invalid])
      expect(readBech32(invalid), reason).to.equal(undefined);
  });

  it('gives the symbols before the checksum', () => {
    const all = readBech32('abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw');
    expect([...(all?.symbols ?? [])]).to.deep.equal(Array.from({ length: 32 }, (_, i) => i));
    expect(readBech32('A12UEL5L')?.symbols).to.have.length(0);
  });
});

describe('readSegwitAddress', () => {
  it('accepts the valid addresses of BIP350 and gives their programs', () => {
    for (const [address, script] of bips.addresses.valid) {
      const witness = readSegwitAddress(address);
      expect(witness?.program.toString('hex'), address).to.equal(script.slice(4));
      expect(witness?.prefix).to.equal(address.slice(0, 2).toLowerCase());
    }
  });

  it('refuses the invalid ones of BIP173 and BIP350, except those with prefixes of other networks', () => {
    for (const [address, reason] of bips.addresses.invalid)
      expect(readSegwitAddress(address) !== undefined, reason).to.equal(reason === 'Invalid human-readable part');
  });

  it('reads what is written, in either case', () => {
    const program = fc.oneof(
      fc.tuple(fc.constant(0), fc.constantFrom(20, 32)),
      fc.tuple(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 2, max: 40 }))
    );
    fc.assert(
      fc.property(
        fc.constantFrom('bc', 'bcrt', 'rb'),
        program,
        fc.uint8Array({ minLength: 40, maxLength: 40 }),
        (prefix, [version, length], bytes) => {
          const expected = { prefix, version, program: Buffer.from(bytes.subarray(0, length)) };
          const address = segwit(prefix, version, expected.program);
          expect(readSegwitAddress(address)).to.deep.equal(expected);
          expect(readSegwitAddress(address.toUpperCase())).to.deep.equal(expected);
          expect(readSegwitAddress(`${address.slice(0, 4)}${address.slice(4).toUpperCase()}`)).to.equal(undefined);
        }
      )
    );
  });
});

describe('readBase58Check', () => {
  it('reads what is written', () => {
    const hash = fc.oneof(
      fc.uint8Array({ minLength: 20, maxLength: 20 }),
      fc.nat(20).map((zeros) => new Uint8Array(20).fill(255, zeros))
    );
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(0, 5, 111, 196, 255), fc.nat(255)), hash, (version, bytes) => {
        expect(readBase58Check(base58(version, Buffer.from(bytes)))).to.deep.equal({ version, hash: Buffer.from(bytes) });
      }),
      { numRuns: 500 }
    );
  });

  it('refuses texts with any character changed, added or left out', () => {
    const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0OIl é\u{161}';
    fc.assert(
      fc.property(fc.nat(255), fc.nat(33), fc.nat(alphabet.length - 1), (version, at, of) => {
        const character = alphabet.charAt(of);
        const address = base58(version);
        const changed = [
          `${address.slice(0, at)}${character}${address.slice(at + 1)}`,
          `${address.slice(0, at)}${character}${address.slice(at)}`,
          `${address.slice(0, at)}${address.slice(at + 1)}`
        ];
        for (const wrong of changed) expect(wrong !== address && readBase58Check(wrong) !== undefined, wrong).to.equal(false);
      }),
      { numRuns: 500 }
    );
  });

  it('refuses data that is not a hash: a private key, an extended key, nothing', () => {
    for (const wrong of [
      '',
      '1'.repeat(25),
      '1'.repeat(1_000_000),
      '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ',
      'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8'
    ])
      expect(readBase58Check(wrong), wrong.slice(0, 60)).to.equal(undefined);
  });
});

describe('scriptOfAddress', () => {
  it('gives the script of a valid address of BIP350, on its own network only', () => {
    for (const [address, script] of bips.addresses.valid) {
      const isMain = address.toLowerCase().startsWith('bc');
      expect(read(address, 'main', MAIN), address).to.equal(isMain ? script : 'of another network');
      expect(read(address, 'test', coreRegtestPrefixes), address).to.equal(isMain ? 'of another network' : script);
    }
    for (const [address, reason] of bips.addresses.invalid)
      expect(read(address, 'main', MAIN), address).to.equal(reason === 'Invalid human-readable part' ? 'of another network' : 'unreadable');
  });

  it('gives every script of chain A from its address', () => {
    const scripts = new Set<string>();
    for (const { transaction } of chainATransactions().values())
      for (const { script } of transaction.outputs) if (scriptTypeOf(script) !== 'pubkey') scripts.add(script.toString('hex'));
    let count = 0;
    for (const hex of scripts) {
      const script = Buffer.from(hex, 'hex');
      const address = text((writer) => writeAddress(writer, script, 0, script.length, scriptTypeOf(script), coreRegtestPrefixes));
      if (address === '') continue;
      count++;
      expect(read(address, 'regtest', coreRegtestPrefixes), address).to.equal(hex);
    }
    expect(count).to.be.above(500);
  });

  it("accepts the node's own prefixes and Bitcoin Core's on test networks", () => {
    for (const address of [base58(OWN_REGTEST.pubkeyhash), base58(0x6f)])
      expect(read(address, 'regtest', OWN_REGTEST)).to.equal(pubkeyHash);
    for (const address of [base58(OWN_REGTEST.scripthash), base58(0xc4)])
      expect(read(address, 'regtest', OWN_REGTEST)).to.equal(scriptHash);
    for (const prefix of ['rb', 'bcrt', 'tb']) expect(read(segwit(prefix), 'regtest', OWN_REGTEST)).to.equal(keyHash);
    const simnet = { pubkeyhash: 0x3f, scripthash: 0x7b, bech32: 'sb' };
    for (const prefix of ['sb', 'tb']) expect(read(segwit(prefix), 'simnet', simnet)).to.equal(keyHash);
  });

  it('distinguishes addresses of other networks from texts that are not addresses', () => {
    for (const address of [base58(0), base58(5), segwit('bc'), segwit('ltc'), base58(48)])
      expect(read(address, 'regtest', OWN_REGTEST), address).to.equal('of another network');
    for (const address of [base58(0x6f), base58(0xc4), segwit('tb'), segwit('bcrt'), base58(0x3c)])
      expect(read(address, 'main', MAIN), address).to.equal('of another network');
    expect(read(segwit('bcrt'), 'test', { ...coreRegtestPrefixes, bech32: 'tb' })).to.equal('of another network');
    for (const address of ['', 'zz', `${base58(0)}1`, ` ${base58(0)}`, `${segwit('bc')} `, segwit('bc').replace('9', '8'), 'é'.repeat(34)])
      expect(read(address, 'main', MAIN), address).to.equal('unreadable');
  });
});
