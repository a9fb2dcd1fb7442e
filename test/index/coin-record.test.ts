import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { COIN_OVERHEAD, coinEnd, coinsIn, withCoins, writeCoin } from '../../lib/index/records/coin-record';

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
/** As long as the scripts of common kinds, and nearly the same. */
const nearly = [
  `76a914${'22'.repeat(20)}88ad`,
  `76a915${'22'.repeat(20)}88ac`,
  `a914${'22'.repeat(20)}88`,
  `0114${'22'.repeat(20)}`,
  `0015${'22'.repeat(20)}`,
  `5220${key}`,
  `0021${key}`,
  `2104${key}ac`,
  `2102${key}ad`,
  `2002${key}ac`
];

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
