import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import { bcoin } from '../support/bcoin/bcoin';
import { DescribedHttp, type HttpDocument } from '../support/client/described-http';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';

describe('searching addresses over Esplora’s interface', () => {
  let served: ServedNode;
  after(() => served.close());
  const reply = async (prefix: string): Promise<string> => {
    const { status, body } = await served.get(`/address-prefix/${prefix}`);
    return `${status} ${body.toString()}`;
  };

  it('finds the first ten addresses that begin so, which clients may keep for ten seconds', async () => {
    served = await ServedNode.open({ settings: { 'rest-addresses-search': true } });
    const addresses: string[] = [];
    for (let key = 1; key <= 12; key++) {
      const ring = bcoin.KeyRing.fromPrivate(Buffer.alloc(32, key), true);
      ring.witness = true;
      addresses.push(ring.getAddress('string', 'regtest'));
      await mine(served.node, 1, undefined, ring.getAddress());
    }
    await served.settle();
    await until(() => served.list?.state.phase === 'live' && served.list.state.height === 12);
    const sorted = addresses.toSorted();
    // Versions of bcoin differ in what addresses of regtest begin with.
    const start = sorted[0]?.slice(0, sorted[0].indexOf('1q') + 2) ?? '';
    expect(await reply(start)).to.equal(`200 ${JSON.stringify(sorted.slice(0, 10))}`);
    expect(await reply(sorted[11] ?? '')).to.equal(`200 ${JSON.stringify(sorted.slice(11))}`);
    for (const nothing of [start.toUpperCase(), `%${start.charCodeAt(0).toString(16)}${start.slice(1)}`, 'zz', 'x'.repeat(5_000)])
      expect(await reply(nothing)).to.equal('200 []');
    const answer = await served.get(`/address-prefix/${start}`);
    expect(answer.headers['cache-control']).to.equal('public, max-age=10');
    const document = new DescribedHttp(JSON.parse((await served.get('/openapi.json')).body.toString()) as HttpDocument);
    const operation = document.find('GET', '/address-prefix/{prefix}') ?? expect.fail('an operation');
    expect([document.faultIn(operation, answer), document.unmissed(operation, answer)]).to.deep.equal([undefined, []]);
  });
});
