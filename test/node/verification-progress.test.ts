import { expect } from 'chai';
import { describe, it } from 'mocha';
import { verificationProgress } from '../../lib/node/bcoin';
import type { HostChain } from '../../lib/node/host';

const chainOf = (transactions: number, time: number): Pick<HostChain, 'db' | 'tip'> =>
  ({ db: { state: { tx: transactions } }, tip: { time } }) as Pick<HostChain, 'db' | 'tip'>;

describe('the progress of verification', () => {
  it('counts transactions, as Bitcoin Core 0.17 does', () => {
    // The transactions that were known when 0.17 was released, and 2.4 a second since then.
    const now = 1_532_884_444 + 1_000_000;
    expect(verificationProgress(chainOf(1_000_000, 1_300_000_000), 'main', now)).to.equal(1_000_000 / (331_282_217 + 2_400_000));
    // If the chain has more than that, counting starts at its tip.
    expect(verificationProgress(chainOf(1_100_000_000, 1_732_884_444), 'main', 1_732_884_444 + 600)).to.equal(
      1_100_000_000 / (1_100_000_000 + 1_440)
    );
    expect(verificationProgress(chainOf(19_438_709, 1_600_000_000), 'testnet', 1_600_001_000)).to.be.closeTo(
      19_438_709 / (19_438_709 + 626),
      1e-12
    );
  });

  it('is 1 if nothing is known about the network', () => {
    expect(verificationProgress(chainOf(1, 1_296_688_602), 'regtest', 1_700_000_000)).to.equal(1);
  });

  it('is never more than 1: the time of a block may be in the near future', () => {
    expect(verificationProgress(chainOf(1_100_000_000, 1_732_884_444), 'main', 1_732_884_000)).to.equal(1);
  });
});
