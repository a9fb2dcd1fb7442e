import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readAddress, scriptHash, type Prefixes } from '../../lib/web/browser/explorer/data/addresses';
import { readingOf, withoutSecret } from '../../lib/web/browser/explorer/search/reading';
import { isSameAddress } from '../../lib/web/browser/explorer/address/own';

const MAIN: readonly Prefixes[] = [{ pubkeyhash: 0, scripthash: 5, bech32: 'bc' }];
const REGTEST: readonly Prefixes[] = [{ pubkeyhash: 0x6f, scripthash: 0xc4, bech32: 'bcrt' }];
const TXID = 'ab'.repeat(32);

const hintsOf = (text: string): string => {
  const reading = readingOf(text);
  return reading.kind === 'nothing' ? reading.hints.join(' ') : reading.kind;
};

describe('a text that is searched for', () => {
  it('is a height, a hash, an output or an address', () => {
    expect(readingOf(' 1,234 ')).to.deep.equal({ kind: 'height', height: 1_234 });
    expect(readingOf(TXID.toUpperCase())).to.deep.equal({ kind: 'hash', hash: TXID });
    expect(readingOf(`0x${TXID}`)).to.deep.equal({ kind: 'hash', hash: TXID });
    expect(readingOf(`${TXID.slice(0, 32)} ${TXID.slice(32)}`)).to.deep.equal({ kind: 'hash', hash: TXID });
    expect(readingOf(`${TXID}:7`)).to.deep.equal({ kind: 'outpoint', txid: TXID, output: 7 });
    expect(readingOf(`https://other.example/tx/${TXID}?x#y`)).to.deep.equal({ kind: 'hash', hash: TXID });
    expect(readingOf('bitcoin:BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4?amount=1')).to.deep.equal({
      kind: 'address',
      address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
    });
    expect(readingOf('1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2')).to.include({ kind: 'address' });
  });

  it('that is nothing gets told what it could have been', () => {
    expect(hintsOf(TXID.slice(1)))
      .to.include('63')
      .and.to.include('1 are missing');
    expect(hintsOf(`${TXID.slice(1)}g`)).to.include('“g”');
    expect(hintsOf('ab'.repeat(33))).to.include('public key');
    expect(hintsOf('ab'.repeat(20))).to.include('20 bytes');
    expect(hintsOf('ab'.repeat(100))).to.include('raw transaction');
    expect(hintsOf('1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN0')).to.include('“0”');
    expect(hintsOf('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8fbt4')).to.include('“b”');
    expect(hintsOf('bc1qW508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')).to.include('small letters');
    expect(hintsOf('-1')).to.include('begin at 0');
    expect(hintsOf('99999999999')).to.include('No chain');
    expect(hintsOf('lnbc2500u1pvjluezpp5')).to.include('Lightning');
    expect(hintsOf('<script>alert(1)</script>')).to.include('neither');
  });

  it('that looks like a secret is kept from the node', () => {
    expect(hintsOf('5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ')).to.include('private key');
    expect(hintsOf(`xprv${'9'.repeat(107)}`)).to.include('not sent');
    const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
    expect(hintsOf(words)).to.include('restored');
    for (const secret of ['5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ', `xprv${'9'.repeat(107)}`, words, ` ${words}  zoo`]) {
      const shown = withoutSecret(secret);
      expect(shown).to.match(/^an? [a-z]+ [a-z]+$/);
      expect(readingOf(shown)).to.deep.equal(readingOf(secret));
    }
    expect(withoutSecret('legal winner thank')).to.equal('legal winner thank');
  });

  it('is a secret in whatever form people keep it', () => {
    const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'.split(' ');
    const key = `xprv${'9'.repeat(107)}`;
    const secrets: readonly (readonly [text: string, name: string])[] = [
      [words.map((word, i) => `${i + 1}. ${word}`).join(' '), 'a recovery phrase'],
      [words.map((word, i) => `${i + 1}.${word}`).join(''), 'a recovery phrase'],
      [words.join(', '), 'a recovery phrase'],
      [`"${words.join(' ')}"`, 'a recovery phrase'],
      [`my 12 words: ${words.join(' ')} (do not lose)`, 'a recovery phrase'],
      ['的 一 是 在 不 了 有 和 人 这 中 大', 'a recovery phrase'],
      ['的一是在不了有和人这中大', 'a recovery phrase'],
      ['6PYNKZ1EAgYgmQfmNVamxyXVWHzK5s6DGhwP4J5o44cvXdoY7sRzhtpUeo', 'a private key'],
      ['ms10testsxxxxxxxxxxxxxxxxxxxxxxxxxx4nzvca9cmczlw', 'a private key'],
      ['5Hue CGU8 rMjx EXxi PuD5 BDku 4MkF qeZy d4dZ 1jvh TVqv bTLv yTJ', 'a private key'],
      ['wpkh(5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ)#abcdefgh', 'a private key'],
      [`wpkh(${key}/84h/0h/0h/0/*)`, 'an extended key'],
      [`wpkh([d34db33f/84h/0h/0h]${key}/0/*)`, 'an extended key'],
      [`https://other.example/?key=${key}`, 'an extended key'],
      [`the key is ${key}`, 'an extended key']
    ];
    for (const [text, name] of secrets) expect(withoutSecret(text), text).to.equal(name);
    const spaced = 'd3adbeef'.repeat(8).replace(/..../g, '$& ');
    for (const text of [spaced, TXID, 'bc1pxprvlvhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'])
      expect(withoutSecret(text)).to.equal(text);
  });

  it('is perhaps the beginning of an address, but not if it could be a key with a mistake in it', () => {
    for (const text of ['1BvB', '1BvBMSEYstWetqTFn5Au4m4GF', 'bc1qw50', 'rb1q'])
      expect(readingOf(text), text).to.include({ beginning: text });
    const key = '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ';
    for (const text of [key.slice(0, -1), key.slice(1), `${key}yT`, key.replace('U', '0')])
      expect(readingOf(text), text).not.to.have.property('beginning');
  });

  it('is nothing when it is a name that every object has', () => {
    for (const text of ['constructor', 'toString', '__proto__']) expect(hintsOf(text)).to.include('neither a height');
  });

  it('is an address of this network, of another one, or mistyped', () => {
    expect(readAddress('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', MAIN)).to.deep.equal({ kind: 'right' });
    expect(readAddress('bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', MAIN)).to.deep.equal({ kind: 'right' });
    expect(readAddress('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', REGTEST)).to.deep.equal({
      kind: 'elsewhere',
      networks: 'the main network'
    });
    expect(readAddress('1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', REGTEST)).to.deep.equal({ kind: 'elsewhere', networks: 'the main network' });
    expect(readAddress('mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', REGTEST)).to.deep.equal({ kind: 'right' });
    expect(readAddress('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', MAIN)).to.deep.equal({ kind: 'mistyped' });
    expect(readAddress('1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3', MAIN)).to.deep.equal({ kind: 'mistyped' });
    // Version 0 with the checksum of later versions (BIP350).
    expect(readAddress('bc1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd', MAIN)).to.deep.equal({ kind: 'mistyped' });
  });

  it('is the same address with another beginning of a test network', () => {
    expect(isSameAddress('bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 'BCRT1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KYGT080')).to.equal(true);
    expect(isSameAddress('bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx')).to.equal(true);
    expect(isSameAddress('1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3')).to.equal(false);
  });

  it('finds scripts by their hash as Esplora names them', () => {
    expect(scriptHash('0014751e76e8199196d454941c45d1b3a323f1433bd6')).to.match(/^[\da-f]{64}$/);
  });
});
