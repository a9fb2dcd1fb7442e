import { createRequire } from 'node:module';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { hash256 } from '../../lib/bitcoin/hash';
import { networkNamed, NETWORKS, type NetworkName } from '../../lib/fleet/reader/networks';
import { bcoin, bcoinTarget } from '../support/bcoin/bcoin';

interface HostParameters {
  readonly genesis: { readonly hash: string | Buffer };
  readonly genesisBlock: string | Buffer;
  readonly addressPrefix: { readonly pubkeyhash: number; readonly scripthash: number; readonly bech32: string };
  readonly halvingInterval: number;
  readonly rpcPort: number;
  readonly pow: { readonly limit: { toString(base: number): string } };
  readonly block: { readonly keepBlocks: number; readonly pruneAfterHeight: number };
}

const networks = createRequire(__filename)(`${bcoinTarget}/lib/protocol/networks`) as Readonly<Record<NetworkName, HostParameters>>;
const hexOf = (bytes: string | Buffer): string => (typeof bytes === 'string' ? bytes : bytes.toString('hex'));

describe('the networks of a reader', () => {
  for (const [name, ours] of Object.entries(NETWORKS)) {
    it(`${name} is as bcoin has it`, () => {
      const { genesis, genesisBlock, addressPrefix, halvingInterval, rpcPort, pow, block } = networks[name as NetworkName];
      expect(ours.genesisHash.toString('hex')).to.equal(hexOf(genesis.hash));
      expect(ours.genesisHeader.toString('hex')).to.equal(hexOf(genesisBlock).slice(0, 160));
      expect(hash256(ours.genesisHeader)).to.deep.equal(ours.genesisHash);
      expect(ours).to.deep.include({ halvingInterval, httpPort: rpcPort });
      expect(ours).to.deep.include({ keepBlocks: block.keepBlocks, pruneAfterHeight: block.pruneAfterHeight });
      if (ours.powLimit !== undefined) expect(ours.powLimit.toString(16)).to.equal(pow.limit.toString(16));
      // bcoin 1 has addresses of its own on regtest, and a node's settings may change them in these tests.
      const { pubkeyhash, scripthash, bech32 } = addressPrefix;
      if (name !== 'regtest' || bcoin.pkg.version.startsWith('2'))
        expect(ours.addressPrefixes).to.deep.equal({ pubkeyhash, scripthash, bech32 });
    });
  }

  it('are found by the names of bcoin and of Bitcoin Core', () => {
    expect(networkNamed('testnet')).to.equal(NETWORKS.testnet);
    expect(networkNamed('test')).to.equal(NETWORKS.testnet);
    expect(networkNamed('main')).to.equal(NETWORKS.main);
    expect(networkNamed('toString')).to.equal(undefined);
  });
});
