import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { jsonIn } from '../support/chain/chain-a';
import { copiedChain, CHAIN_A_TIMEOUT_MS } from '../support/node/chain-a-node';
import { openElectrumNode, type ElectrumNode } from '../support/node/electrum-node';
import { LineClient, type Reply } from '../support/client/line-client';

/** What was sent on a fresh connection, what came back, and what became of the connection. */
interface Exchange {
  readonly name: string;
  readonly sent: string;
  readonly got: string;
  readonly after: 'open' | 'closed';
}

const VERSION = '{"jsonrpc":"2.0","id":0,"method":"server.version","params":["t",["1.4","1.6"]]}\n';

/** Requests that were too long to be recorded. */
const LONG_LINES: Readonly<Record<string, string | undefined>> = {
  'long line 1.2 MB': `${VERSION}{"jsonrpc":"2.0","id":1,"method":"server.ping","params":["${'a'.repeat(1_200_000)}"]}\n`,
  'long line 900 kB': `${VERSION}{"jsonrpc":"2.0","id":1,"method":"blockchain.transaction.broadcast","params":["${'0'.repeat(900_000)}"]}\n`
};

/** Requests over HTTP, after which we close the connection. The others answer their lines one by one. */
const HTTP = 'http';

/** Requests that clients send only to mislead eavesdroppers. */
const DECOYS = new Set(['blockchain.relayfee', 'blockchain.estimatefee']);

function exchanges(server: string): ReadonlyMap<string, Exchange> {
  const all = jsonIn<Exchange>(join(__dirname, `../vectors/electrum/transport-${server}.jsonl.gz`));
  return new Map(all.map((exchange) => [exchange.name, exchange]));
}

/** Values without order, errors by their codes; undefined if the record is incomplete. */
function shown(lines: readonly string[]): readonly string[] | undefined {
  const replyOf = (reply: Reply): unknown => {
    const { error, result, id } = reply;
    if (error !== undefined) return { code: error.code, id };
    if (Array.isArray(result)) return { result: ['a server', result[1] as unknown], id };
    return { result: typeof result === 'string' && !/^[0-9a-f]+$/.test(result) ? 'a text' : result, id };
  };
  try {
    return lines
      .map((line) => JSON.parse(line) as Reply | Reply[])
      .filter((value) => Array.isArray(value) || !DECOYS.has(value.method ?? ''))
      .map((value) =>
        Array.isArray(value)
          ? value
              .map((reply) => JSON.stringify(replyOf(reply)))
              .sort()
              .join()
          : JSON.stringify(replyOf(value))
      )
      .sort();
  } catch {
    return undefined;
  }
}

describe('the Electrum protocol’s transport', () => {
  let served: ElectrumNode;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openElectrumNode({ prefix: await copiedChain() });
  });
  after(() => served.node.close());

  /** Sends bytes, and collects what comes back before the reply to a last request. */
  async function exchange(sent: string): Promise<{ lines: string[]; after: string }> {
    const client = await LineClient.connect(served.port);
    client.socket.write(sent);
    if (sent.endsWith('\n')) client.send({ id: 'last', method: 'server.ping' });
    const lines: string[] = [];
    for (;;) {
      // A request without a line end is not answered: waits while another client is answered.
      const line = sent.endsWith('\n') || lines.length === 0 ? await client.line() : await quietly(client);
      if (line === undefined) return { lines, after: client.socket.destroyed ? 'closed' : 'open' };
      if (line.includes('"id":"last"')) break;
      lines.push(line);
    }
    client.socket.destroy();
    return { lines, after: 'open' };
  }

  /** The line that comes while another client is answered several times, if any. */
  async function quietly(client: LineClient): Promise<string | undefined> {
    const other = await LineClient.connect(served.port);
    for (let i = 0; i < 5; i++) await other.ask('server.ping');
    other.socket.destroy();
    return client.waiting > 0 ? client.line() : undefined;
  }

  it('closes the connection if the first line is a request over HTTP, and calls nothing in its body', async () => {
    for (const head of ['POST / HTTP/1.1\r\nHost: a\r\n\r\n', 'GET /?{"id":1} HTTP/1.1\r\n', 'OPTIONS * HTTP/1.1\r\n\r\n']) {
      const { lines, after: end } = await exchange(`${head}${VERSION}${VERSION}`);
      expect({ lines, end }, head).to.deep.equal({ lines: [], end: 'closed' });
    }
    const { lines } = await exchange(`${VERSION}POST / HTTP/1.1\r\n`);
    expect(lines, 'later lines are requests that cannot be read').to.have.length(2);
  });

  it('answers a message without an id with an error if it cannot be read as a notification, as both servers', async () => {
    const sent = ['{"method":"server.ping","params":5}', '{"method":5}', '{}', '[{"method":"server.ping","params":5}]'];
    const { lines } = await exchange(`${sent.join('\n')}\n`);
    const errors = lines.flatMap((line) => JSON.parse(line) as Reply | Reply[]).map(({ id, error }) => ({ id, code: error?.code }));
    expect(errors).to.deep.equal([-32_602, -32_600, -32_600, -32_602].map((code) => ({ id: null, code })));
    const { lines: none } = await exchange('{"method":"unknown"}\n{"method":"server.ping","params":[1]}\n{"result":1}\n');
    expect(none, 'notifications that fail, and a reply to nothing').to.deep.equal([]);
  });

  const [electrumX, fulcrum] = [exchanges('electrumx-1.20.0'), exchanges('fulcrum-2.1.1')];
  for (const [name, { sent }] of electrumX) {
    if (name === HTTP) continue;
    it(`is that of ElectrumX or of Fulcrum: ${name}`, async () => {
      const { lines, after: end } = await exchange(LONG_LINES[name] ?? sent);
      const theirs = [electrumX, fulcrum].map((server) => server.get(name) as Exchange);
      const allowed = theirs.map(({ got, after: state }) => ({ lines: shown(got.trim().split(/\r?\n/).filter(Boolean)), after: state }));
      expect(allowed).to.deep.include({ lines: shown(lines), after: end });
    });
  }
});
