import { expect } from 'chai';
import { describe, it } from 'mocha';
import { verificationProgress } from '../../lib/node/bcoin';
import type { HostChain } from '../../lib/node/host';

const chainOf = (transactions: number, time: number): Pick<HostChain, 'db' | 'tip'> =>
  ({ db: { state: { tx: transactions } }, tip: { time } }) as Pick<HostChain, 'db' | 'tip'>;

describe('the progress of verification', () => {
  it('counts transactions, as Bitcoin Core 0.17 does', () => {
    // Those that were known when 0.17 was made, and 2.4 a second since.
    const now = 1_532_884_444 + 1_000_000;
    expect(verificationProgress(chainOf(1_000_000, 1_300_000_000), 'main', now)).to.equal(1_000_000 / (331_282_217 + 2_400_000));
    // More than were known then: from the tip on.
    expect(verificationProgress(chainOf(1_100_000_000, 1_732_884_444), 'main', 1_732_884_444 + 600)).to.equal(
      1_100_000_000 / (1_100_000_000 + 1_440)
    );
    expect(verificationProgress(chainOf(19_438_709, 1_600_000_000), 'testnet', 1_600_001_000)).to.be.closeTo(
      19_438_709 / (19_438_709 + 626),
      1e-12
    );
  });

  it('is whole where nothing is known of the network', () => {
    expect(verificationProgress(chainOf(1, 1_296_688_602), 'regtest', 1_700_000_000)).to.equal(1);
  });

  it('is never more than whole: a block may be of the near future', () => {
    expect(verificationProgress(chainOf(1_100_000_000, 1_732_884_444), 'main', 1_732_884_000)).to.equal(1);
  });
});
