import { expect } from 'chai';
import { describe, it } from 'mocha';
import { expectRefused, optionsOf } from './real-config';

describe('options for JSON-RPC', () => {
  it('name a user for JSON-RPC besides the API key', async () => {
    const { rpcUser } = await optionsOf({ 'rest-core': 'modern', 'rest-rpc-user': 'alice:open:sesame' });
    expect(rpcUser).to.equal('alice:open:sesame');
    for (const user of ['alice', 'alice:', ':sesame'])
      await expectRefused({ 'rest-core': 'modern', 'rest-rpc-user': user }, '--rest-rpc-user must be a user, a colon and a password');
  });

  it('name the calls that users of JSON-RPC may make', async () => {
    const settings = { 'rest-core': 'modern', 'rest-rpc-user': 'alice:sesame' };
    const { rpcWhitelists } = await optionsOf({ ...settings, 'rest-rpc-whitelist': 'alice:uptime,rpc.discover __cookie__:' });
    expect(rpcWhitelists).to.deep.equal(
      new Map([
        ['alice', new Set(['uptime', 'rpc.discover'])],
        ['__cookie__', new Set()]
      ])
    );
    for (const [whitelist, words] of [
      ['alice', "must be a user, a colon and calls separated by commas, not 'alice'"],
      ['alice:uptime,', "must be a user, a colon and calls separated by commas, not 'alice:uptime,'"],
      ['alice:up time', "must be a user, a colon and calls separated by commas, not 'time'"],
      ['bob:uptime', "must be of the user of --rest-rpc-user or of __cookie__, not 'bob'"],
      ['alice:uptime alice:help', "names 'alice' twice"]
    ] as const)
      await expectRefused({ ...settings, 'rest-rpc-whitelist': whitelist }, `--rest-rpc-whitelist ${words}`);
  });

  it('are refused in the older edition, in which there are no such calls', async () => {
    for (const [name, value] of [
      ['rest-rpc-user', 'alice:sesame'],
      ['rest-rpc-whitelist', '__cookie__:uptime']
    ] as const)
      await expectRefused({ [name]: value }, `--${name} has no effect without --rest-core=modern`);
  });
});
