import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin } from '../support/bcoin/bcoin';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { needsShared } from '../support/recorded/shared';

const MAGIC_AND_LENGTH = 8;

/** Blocks as in a `blk*.dat` file: magic, length (both 32 bits, little endian), block. */
function blocksOf(file: string): Buffer[] {
  const bytes = gunzipSync(readFileSync(file));
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt32LE(at + 4);
    blocks.push(bytes.subarray(at + MAGIC_AND_LENGTH, at + MAGIC_AND_LENGTH + length));
    at += MAGIC_AND_LENGTH + length;
  }
  return blocks;
}

describe('the first 255 blocks of the main network', () => {
  let served: RestNode | undefined;
  let blocks: Buffer[] = [];

  before(async function () {
    const shared = needsShared(this);
    blocks = blocksOf(join(shared, 'fixtures/real-blocks/mainnet-1-255.dat.gz'));
    served = await openRestNode({ settings: { network: 'main' } });
    for (const raw of blocks) await served.node.chain.add(bcoin.Block.fromRaw(raw));
    await untilReady(served);
  });

  after(() => served?.node.close());

  const get = async (path: string): Promise<Buffer> => {
    const response = await fetch(`${served?.baseUrl ?? ''}/rest/${path}`);
    expect(response.status, path).to.equal(200);
    return Buffer.from(await response.arrayBuffer());
  };

  it('are served byte for byte, with all their transactions', async () => {
    for (const raw of blocks) {
      const { hash, transactions } = scanBlock(raw);
      expect(await get(`block/${toDisplayHex(hash)}.bin`)).to.deep.equal(raw);
      for (const transaction of transactions) expect(await get(`tx/${toDisplayHex(transaction.txid)}.bin`)).to.deep.equal(transaction.raw);
    }
  });

  it('have the addresses and amounts of the main network', async () => {
    const satoshiToFinney = JSON.parse(
      (await get('tx/f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16.json')).toString()
    ) as {
      readonly vout: readonly { readonly value: number; readonly scriptPubKey: { readonly addresses: readonly string[] } }[];
      readonly blockhash: string;
    };
    expect(satoshiToFinney.vout.map(({ value }) => value)).to.deep.equal([10, 40]);
    expect(satoshiToFinney.vout.flatMap(({ scriptPubKey }) => scriptPubKey.addresses)).to.deep.equal([
      '1Q2TWHE3GMdB6BZKafqwxXtWAWgFt5Jvm3',
      '12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S'
    ]);
    expect(satoshiToFinney.blockhash).to.equal('00000000d1145790a8694403d4063f323d499e655c83426834d4ce2f8dd4a2ee');
  });

  it('leave the right coins: spent ones are gone, and the genesis coinbase never was one', async () => {
    const spent = '0437cd7f8525ceed2324359c2d0ba26006d92d856a9c20fa0241106ee5a597c9-0';
    const unspent = 'f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16-0';
    const genesis = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b-0';
    const answer = JSON.parse((await get(`getutxos/${spent}/${unspent}/${genesis}.json`)).toString()) as Readonly<Record<string, unknown>>;
    expect(answer).to.deep.include({ chainHeight: 255, bitmap: '010' });
  });

  it('give chaininfo in the form of the reference', async () => {
    expect(JSON.parse((await get('chaininfo.json')).toString())).to.deep.include({
      chain: 'main',
      blocks: 255,
      headers: 255,
      difficulty: 1,
      pruned: false,
      chainwork: '0000000000000000000000000000000000000000000000000000010001000100'
    });
  });
});
