// The description of the interface, as a node gives it, held against its router and against the recorded answers of Bitcoin Core.

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { restRoutes } from '../../lib/rest/routes';
import { PROFILES } from '../../lib/views/profile';
import {
  chainAAnswers,
  chainAAnswers31,
  chainAChainInfo,
  chainAChainInfo31,
  chainADeprecated31,
  recordedBody,
  type RecordedAnswer
} from '../support/chain/chain-a';
import { DescribedHttp, type HttpDocument } from '../support/client/described-http';
import { endpointContext } from '../support/client/endpoints';
import { ask, basicAuth } from '../support/client/http';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import type { Described } from '../support/client/described';

type Edition = keyof typeof PROFILES;

/** Forms of a path beside those that are described: looser outpoints and counts, and no hash where there may be one. */
const isOdd = ({ tags: [endpoint], path }: RecordedAnswer): boolean =>
  endpoint === 'getutxos' || /^\/rest\/(deploymentinfo\/\.|headers\/(?!\d+\/|[0-9a-f]{64}\.))/.test(path);

interface RecordedEdition {
  readonly core: Edition;
  readonly answers: () => readonly RecordedAnswer[];
  /** The state of the chain at other heights. */
  readonly chainInfo: () => Readonly<Record<string, string>>;
  /** Fields that may be lacking, by the schema in which they are: those that all recorded answers have, and those that none has. */
  readonly unproven: Described['unproven'];
}

const PRUNED = ['automatic_pruning', 'prune_target_size', 'pruneheight'].map((field) => `ChainInfo.${field}`);

const EDITIONS: readonly RecordedEdition[] = [
  { core: '0.17', answers: chainAAnswers, chainInfo: chainAChainInfo, unproven: { always: [], never: PRUNED } },
  {
    core: 'modern',
    answers: chainAAnswers31,
    chainInfo: chainAChainInfo31,
    unproven: {
      always: ['threshold', 'possible'].map((field) => `Deployment(1).bip9.statistics.${field}`).sort(),
      never: [...PRUNED, 'Deployment(1).height']
    }
  }
];

const pathOf = ({ path }: RecordedAnswer): string => (path.split('?')[0] ?? '').slice('/rest'.length);

/** Asks a node for the description. */
async function descriptionOf(settings: object): Promise<{ readonly served: RestNode; readonly described: DescribedHttp }> {
  const served = await openRestNode({ settings: { 'rest-filters': true, ...settings } });
  const { status, contentType, body } = await ask(served.port, { path: '/rest/openapi.json' });
  expect([status, contentType]).to.deep.equal([200, 'application/json']);
  return { served, described: new DescribedHttp(JSON.parse(body.toString()) as HttpDocument) };
}

for (const { core, answers, chainInfo, unproven } of EDITIONS)
  describe(`the description of REST as Bitcoin Core ${core} has it`, () => {
    let served: RestNode;
    let described: DescribedHttp;

    before(async () => {
      ({ served, described } = await descriptionOf({ 'rest-core': core }));
    });
    after(() => served.node.close());

    it('has the operations of the routes, and no others', () => {
      const { node, reader } = served.rest;
      const routes = restRoutes(endpointContext(node, reader, undefined, PROFILES[core]));
      for (const { prefix, operations } of routes) {
        expect(operations, prefix).to.have.length.above(0);
        for (const { path } of operations) {
          const serving = routes.find((route) => `/rest${path}`.startsWith(route.prefix));
          expect(serving?.prefix, path).to.equal(prefix);
        }
      }
      const ours = routes.flatMap(({ operations }) => operations.map(({ method, path }) => `${method} ${path}`));
      expect(described.operations.map(({ method, path }) => `${method} ${path}`)).to.have.members([...ours, 'GET /openapi.json']);
    });

    it('has every recorded answer, and none of those with a field taken away', () => {
      const faults: string[] = [];
      let successes = 0;
      for (const answer of answers()) {
        const { method, path, status, contentType, tags } = answer;
        const operation = described.find(method, pathOf(answer));
        // HTML is what Bitcoin Core's HTTP server says, and not its REST interface.
        if (operation === undefined || tags.includes('transport') || contentType?.startsWith('text/html') === true) continue;
        const given = { status, contentType, body: recordedBody(answer) };
        const fault = described.faultIn(operation, given);
        if (fault !== undefined) faults.push(`${method} ${path}: ${fault}`);
        if (status !== 200) continue;
        successes++;
        if (!isOdd(answer) && !described.hasParameters(operation, pathOf(answer))) faults.push(`${path}: its parameters are not described`);
        faults.push(...described.unmissed(operation, given).map((place) => `${path}: ${place} is not missed`));
      }
      const info = described.find('GET', '/chaininfo.json') ?? expect.fail('the operation');
      for (const text of Object.values(chainInfo())) {
        const given = { status: 200, contentType: 'application/json', body: Buffer.from(text) };
        faults.push(...described.unmissed(info, given).map((place) => `chaininfo: ${place} is not missed`));
      }
      expect(faults).to.deep.equal([]);
      expect(successes).to.be.above(1_000);
      expect(described.schemas.taken).to.be.above(10_000);
      expect(described.schemas.unproven).to.deep.equal(unproven);
    });
  });

describe('the description of REST', () => {
  it('has the fields that --rest-deprecated brings back', async () => {
    const { served, described } = await descriptionOf({ 'rest-core': 'modern', 'rest-deprecated': 'bip125,fullrbf,warnings' });
    const recorded = chainADeprecated31();
    expect(recorded).to.have.length(3);
    for (const answer of recorded) {
      const operation = described.find('GET', pathOf(answer)) ?? expect.fail('the operation');
      const { status, contentType } = answer;
      const given = { status, contentType, body: recordedBody(answer) };
      expect(described.faultIn(operation, given)).to.equal(undefined);
      expect(described.unmissed(operation, given)).to.deep.equal([]);
    }
    await served.node.close();
  });

  it('says what is switched off, and who needs a key', async () => {
    const { served, described } = await descriptionOf({ 'rest-filters': false });
    await untilReady(served);
    const filter = described.find('GET', '/blockfilter/basic/00.json') ?? expect.fail('the operation');
    const refusal = await ask(served.port, { path: `/rest/blockfilter/basic/${'0'.repeat(64)}.json` });
    expect([refusal.status, Object.keys(filter.of.responses).sort()]).to.deep.equal([400, ['400', '500', '503']]);
    expect(filter.of.security).to.equal(undefined);
    await served.node.close();
    const locked = await openRestNode({ settings: { 'rest-auth': true, 'api-key': 'key' } });
    expect((await ask(locked.port, { path: '/rest/openapi.json' })).status).to.equal(401);
    const headers = { Authorization: basicAuth('x:key') };
    const { body } = await ask(locked.port, { path: '/rest/openapi.json', headers });
    const { operations } = new DescribedHttp(JSON.parse(body.toString()) as HttpDocument);
    expect(operations.every(({ of }) => of.security !== undefined && '401' in of.responses)).to.equal(true);
    await locked.node.close();
  });

  it('does not take paths beside it', async () => {
    const { served } = await descriptionOf({});
    const replies = await Promise.all(
      ['/rest/openapi.json?a', '/rest/openapi', '/rest/openapi.json.hex', '/rest/openapi.jso'].map((path) => ask(served.port, { path }))
    );
    expect(replies.map(({ status, body }) => [status, status === 200 || body.toString()])).to.deep.equal([
      [200, true],
      ...Array.from({ length: 3 }, () => [404, 'Not found\r\n'])
    ]);
    await served.node.close();
  });
});
