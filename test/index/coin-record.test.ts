import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import {
  COIN_OVERHEAD,
  coinAt,
  coinEnd,
  coinKey,
  coinsIn,
  coinsOfTransaction,
  transactionCoins,
  wantedCoins,
  withCoins,
  writeCoin
} from '../../lib/index/records/coin-record';
import { putRecord } from '../../lib/index/records/layout';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const key = '11'.repeat(32);
const scripts: Readonly<Record<string, string>> = {
  P2PKH: `76a914${'22'.repeat(20)}88ac`,
  P2SH: `a914${'22'.repeat(20)}87`,
  P2WPKH: `0014${'22'.repeat(20)}`,
  P2WSH: `0020${key}`,
  P2TR: `5120${key}`,
  'P2PK, even': `2102${key}ac`,
  'P2PK, odd': `2103${key}ac`
};
/** Where the key or hash is, of which no kind says anything. */
const payloadIn = (script: string): RegExpExecArray => /(?:22){20}|(?:11){32}/.exec(script) ?? expect.fail('a key or hash');
/** Each byte that all scripts of a kind share is another one. */
const nearly = Object.values(scripts).flatMap((script) => {
  const { 0: payload, index } = payloadIn(script);
  return Array.from(hex(script), (byte, at) => {
    const other = hex(script);
    other[at] = byte ^ 0x40;
    return at * 2 < index || at * 2 >= index + payload.length ? [other.toString('hex')] : [];
  }).flat();
});

function packed(slot: number, value: number, script: Buffer): Buffer {
  const coin = Buffer.alloc(script.length + COIN_OVERHEAD);
  return coin.subarray(0, writeCoin(coin, 0, slot, value, script, 0, script.length));
}

describe('packed coins', () => {
  for (const [kind, script] of Object.entries(scripts)) {
    it(`leave out the bytes that all ${kind} scripts share`, () => {
      const coin = packed(31, 5_000_000_000, hex(script));
      const payload = script.length / 2 >= 34 ? 32 : 20;
      expect(coin.length).to.equal(2 + payload);
      expect(coinsIn(coin)).to.deep.equal([{ slot: 31, value: 5_000_000_000, script: hex(script), bytes: coin }]);
    });
  }

  it('keep every other script whole', () => {
    for (const script of [...nearly, '', '51', '00'.repeat(10_000)]) {
      const coin = packed(0, 1, hex(script));
      expect(coinsIn(coin)).to.deep.equal([{ slot: 0, value: 1, script: hex(script), bytes: coin }]);
    }
  });

  it('are found by their scripts, whatever kind these are of', () => {
    const all = [...Object.values(scripts), ...nearly].slice(0, 32).map(hex);
    const position = { height: 7, index: 3 };
    const { key: coinsKey, value } = putRecord(coinKey(position, 0), Buffer.concat(all.map((script, slot) => packed(slot, 1, script))));
    expect(transactionCoins(coinsKey, value, position).map(({ index }) => index)).to.deep.equal([...all.keys()]);
    for (const [index, script] of all.entries()) {
      const isWanted = (bytes: Uint8Array, start: number, end: number): boolean => script.equals(bytes.subarray(start, end));
      const coin = { index, height: 7, coinbase: false, value: 1, script };
      expect(wantedCoins(coinsKey, value, position, isWanted)).to.deep.equal([coin]);
    }
  });

  it('are those of their transaction, also of the last one that a block can have, and none have an index beyond all groups', () => {
    const last = 65_535 * 32 + 31;
    for (const [position, next, coinbase] of [
      [{ height: 7, index: 0 }, { height: 7, index: 1 }, true],
      [{ height: 8_388_608, index: 0xffff }, { height: 8_388_609, index: 0 }, false]
    ] as const) {
      const { key: coinsKey, value } = putRecord(coinKey(position, 65_535), packed(31, 1, hex('51')));
      const records = { get: (key: Buffer) => (key.equals(coinsKey) ? value : undefined) };
      const coin = { height: position.height, coinbase, value: 1, script: hex('51') };
      expect(coinAt(records, position, last)).to.deep.equal(coin);
      expect(transactionCoins(coinsKey, value, position)).to.deep.equal([{ ...coin, index: last }]);
      for (const index of [last - 1, last + 1, 0xffff_ffff]) expect(coinAt(records, position, index)).to.equal(undefined);
      expect(coinsOfTransaction(position)).to.deep.equal({ gte: coinKey(position, 0), lt: coinKey(next, 0) });
      expect(coinsKey.compare(coinKey(next, 0))).to.equal(-1);
    }
  });

  it('are read as they were written, for every amount and script, one after another', () => {
    const coin = fc.record({
      slot: fc.nat({ max: 31 }),
      value: fc.oneof(
        fc.nat({ max: Number.MAX_SAFE_INTEGER }),
        fc.nat({ max: 21_000_000 }).map((coins) => coins * 100_000_000),
        fc.constant(Number.MAX_SAFE_INTEGER)
      ),
      script: fc.oneof(
        fc.constantFrom(...Object.values(scripts), ...nearly).map(hex),
        fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))
      )
    });
    fc.assert(
      fc.property(fc.array(coin), (coins) => {
        const record = Buffer.concat(coins.map(({ slot, value, script }) => packed(slot, value, script)));
        expect(coinsIn(record).map(({ slot, value, script }) => ({ slot, value, script }))).to.deep.equal(coins);
        let at = 0;
        for (const { slot, value, script } of coins) at += packed(slot, value, script).length;
        let end = 0;
        while (end < record.length) end = coinEnd(record, end);
        expect(end).to.equal(at);
      })
    );
  });

  it('are damaged where their bytes end within a length', () => {
    const coin = packed(0, 1, Buffer.alloc(300));
    // Kind, amount, and the first byte of the length.
    expect(() => coinEnd(coin.subarray(0, 3), 0)).to.throw(DamagedIndexError, 'within a length');
    expect(coinEnd(coin.subarray(0, 4), 0)).to.equal(coin.length);
  });

  it('are put back to their place in their record', () => {
    const coins = Array.from({ length: 32 }, (_, slot) => packed(slot, slot * 7, hex('51')));
    fc.assert(
      fc.property(fc.subarray(coins), (taken) => {
        const left = coins.filter((coin) => !taken.includes(coin));
        expect(withCoins(left.length === 0 ? undefined : Buffer.concat(left), [...taken].reverse())).to.deep.equal(Buffer.concat(coins));
      })
    );
  });

  it('are refused when their bytes end too early', () => {
    const coin = packed(3, 123_456_789, hex('51'));
    for (let length = 1; length < coin.length; length++)
      expect(() => coinsIn(coin.subarray(0, length)), `${length} bytes`).to.throw(DamagedIndexError);
  });
});
