// Credentials of accounts, which expire while node and reader are connected.

import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { connectToNats } from '../../lib/fleet/log/connection';
import { NatsRefusedError } from '../../lib/fleet/log/errors';
import { caught } from '../support/expectations/caught';
import { FeedingNode } from '../support/fleet/feeding-node';
import { newFolder } from '../support/process/folders';
import { Nats, needsNats } from '../support/fleet/nats';
import { mine } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import { Accounts } from './accounts';
import { ReadNode } from './read-node';
import type { NatsAccess } from '../../lib/fleet/log/access';

const LONG_SECONDS = 3_600;
/** Twice as many until they are enough to connect with. */
const FIRST_SECONDS = 2;

describe('credentials for NATS', () => {
  const accounts = new Accounts();
  let nats: Nats;
  let file: string;

  beforeEach(async function () {
    nats = await Nats.open(needsNats(this), 1, { accounts: accounts.config });
    file = join(await newFolder(), 'fleet.creds');
  });

  afterEach(() => nats.close());

  /** At once, as operators should. */
  async function renew(seconds: number): Promise<void> {
    await writeFile(`${file}.new`, accounts.credentials(seconds));
    await rename(`${file}.new`, file);
  }

  const access = (): NatsAccess => parseNatsUrls(nats.url, file) ?? expect.fail('a URL');

  describe('of a fleet', () => {
    let node: FeedingNode;
    let reader: ReadNode;

    afterEach(close);

    async function close(): Promise<void> {
      await reader.close();
      await node.close();
    }

    /** The node first: who finds none warns of it. */
    async function connect(): Promise<void> {
      await node.lead({ credentials: file });
      reader = await new ReadNode({ nats: access() }).open();
      await reader.reaches(node.source.tip());
    }

    /** Node and reader with credentials that expire soon. `before`: what is done before they do. */
    async function connected(before: () => Promise<void> = () => Promise.resolve()): Promise<void> {
      for (let seconds = FIRST_SECONDS; ; seconds *= 2) {
        node = await FeedingNode.open(nats.url);
        const expireMs = (Math.floor(Date.now() / 1_000) + seconds) * 1_000;
        await renew(seconds);
        const connecting = connect();
        await Promise.race([connecting, setTimeout(expireMs - Date.now(), undefined, { ref: false })]);
        await before();
        if (Date.now() < expireMs) return;
        await renew(LONG_SECONDS);
        await connecting;
        await close();
      }
    }

    const warnings = ({ log }: FeedingNode | ReadNode): string[] => log.lines.filter((line) => line.startsWith('warning'));

    it('are used as soon as they have expired, if they were renewed before, and nobody notices', async () => {
      await connected(() => renew(LONG_SECONDS));
      await until(() => node.feed.figures.connections > 1 && reader.source.figures.connections > 1);
      await mine(node.node, 1);
      await reader.reaches(node.source.tip());
      expect([...warnings(node), ...warnings(reader)]).to.deep.equal([]);
    });

    it('that have expired are named, and those that come into the file are used', async () => {
      await connected();
      for (const each of [node, reader])
        await until(() => warnings(each).some((line) => / NATS at \S+ refuses the credentials: /.test(line)));
      await mine(node.node, 1);
      await renew(LONG_SECONDS);
      await reader.reaches(node.source.tip());
      await until(() => node.feed.isLeading);
    });
  });

  it('that cannot be read or are none are named', async () => {
    const said = async (): Promise<string> => {
      const error = await caught(connectToNats(access(), 'test'));
      expect(error).to.be.instanceOf(NatsRefusedError);
      return (error as Error).message;
    };
    await renew(LONG_SECONDS);
    await (await connectToNats(access(), 'test')).connection.close();
    await rm(file);
    expect(await said()).to.equal(`NATS credentials cannot be read from ${file}: ENOENT: no such file or directory, open '${file}'`);
    await writeFile(file, 'nothing');
    expect(await said()).to.equal(`NATS credentials cannot be read from ${file}: unable to parse credentials`);
  });
});
