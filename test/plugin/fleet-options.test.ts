import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { OptionError } from '../../plugin/options/errors';
import { readOptions } from '../../plugin/options/rest-options';
import { newFolder } from '../support/folders';
import { createRegtestNode } from '../support/regtest-node';
import type { HostConfig } from '../../lib/node/host';

/** The configuration of a real node with these settings. */
async function configOf(settings: Readonly<Record<string, unknown>>): Promise<HostConfig> {
  return (await createRegtestNode({ settings })).config;
}

describe('options of a fleet', () => {
  it('name the servers of NATS over which a fleet is fed', async () => {
    const { feed } = readOptions(
      await configOf({ 'rest-feed': 'tls://me:secret@a,b:1', 'rest-feed-lead': 'never', 'rest-feed-name': 'n-1' })
    );
    expect(feed).to.deep.equal({
      access: { servers: ['a:4222', 'b:1'], tls: true, user: 'me', password: 'secret', credentials: undefined },
      name: 'n-1',
      leads: false
    });
    expect(readOptions(await configOf({ 'rest-feed': 'nats://a' })).feed).to.include({ name: hostname(), leads: true });
    for (const [settings, sentence] of [
      [{ 'rest-feed-name': 'a b' }, '--rest-feed-name must be a name of 1 to 60'],
      [{ 'rest-feed-lead': 'always' }, '--rest-feed-lead must be one of auto, never']
    ] as const) {
      const config = await configOf({ 'rest-feed': 'nats://a', ...settings });
      expect(() => readOptions(config), sentence).to.throw(OptionError, sentence);
    }
  });

  it('name a file with credentials for NATS, which has to be there', async () => {
    const credentials = join(await newFolder(), 'creds');
    const config = await configOf({ 'rest-feed': 'nats://a', 'rest-nats-creds': credentials });
    expect(() => readOptions(config)).to.throw(
      OptionError,
      `--rest-nats-creds cannot be read: ENOENT: no such file or directory, open '${credentials}'`
    );
    await writeFile(credentials, '');
    expect(readOptions(config).feed?.access).to.include({ credentials });
  });
});
