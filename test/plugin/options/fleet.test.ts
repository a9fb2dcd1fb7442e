import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { OptionError } from '../../../plugin/options/errors';
import { readOptions } from '../../../plugin/options/rest-options';
import { newFolder } from '../../support/process/folders';
import { configOf, expectRefused, optionsOf } from './real-config';

describe('options of a fleet', () => {
  it('name the servers of NATS over which a fleet is fed', async () => {
    const { feed } = await optionsOf({ 'rest-feed': 'tls://me:secret@a,b:1', 'rest-feed-lead': 'never', 'rest-feed-name': 'n-1' });
    expect(feed).to.deep.equal({
      access: { servers: ['a:4222', 'b:1'], tls: true, user: 'me', password: 'secret', credentials: undefined },
      name: 'n-1',
      leads: false
    });
    expect((await optionsOf({ 'rest-feed': 'nats://a' })).feed).to.include({ name: hostname(), leads: true });
    for (const [settings, sentence] of [
      [{ 'rest-feed-name': 'a b' }, '--rest-feed-name must be a name of 1 to 60'],
      [{ 'rest-feed-lead': 'always' }, '--rest-feed-lead must be one of auto, never']
    ] as const)
      await expectRefused({ 'rest-feed': 'nats://a', ...settings }, sentence);
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

  it('stop the node if they are wrong', async () => {
    for (const [name, value, sentence] of [
      ['rest-feed', 'a', '--rest-feed must be the addresses of servers, such as nats://a:4222,b,c'],
      ['rest-feed', 'nats://me:secret@', '--rest-feed must be the addresses of servers, such as nats://a:4222,b,c'],
      ['rest-feed-lead', 'never', '--rest-feed-lead has no effect without --rest-feed'],
      ['rest-nats-creds', 'creds', '--rest-nats-creds has no effect without --rest-feed'],
      ['rest-nats', 'nats://a', '--rest-nats is for readers of a fleet (bcoin-rest reader), not for a node']
    ] as const)
      await expectRefused({ [name]: value }, sentence);
  });
});
