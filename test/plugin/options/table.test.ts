import { expect } from 'chai';
import { describe, it } from 'mocha';
import { TOPICS } from '../../../lib/zmq/topics';
import { OptionError } from '../../../plugin/options/errors';
import { readOptions } from '../../../plugin/options/rest-options';
import { OPTIONS, type OptionKind, type OptionRow, type Role } from '../../../plugin/options/table';
import { configOf, type Settings } from './real-config';

/** Values that no option of the kind can have; a text that is given without a value is `true`. */
const WRONG: Readonly<Record<OptionKind['type'], string>> = { flag: 'maybe', number: 'four', choice: '?', list: '?', text: 'true' };

/** With these every option has an effect. */
const OTHERS: Readonly<Record<Role, Settings>> = {
  node: {
    'api-key': 'sesame',
    'rest-core': 'modern',
    'rest-addresses': true,
    'rest-electrum-tls': 50_002,
    'rest-payments': '/payments',
    'rest-payments-url': 'https://example.com',
    'rest-feed': 'nats://a',
    ...Object.fromEntries(TOPICS.map((topic) => [`rest-zmq-${topic}`, 'tcp://127.0.0.1:28332']))
  },
  reader: { 'rest-core': 'modern', 'rest-nats': 'nats://a' }
};

describe('the table of options', () => {
  it('has none that nobody reads: wrong values of each are refused', async () => {
    for (const { name, kind, only: role = 'node' } of OPTIONS as readonly OptionRow[]) {
      const config = await configOf({ ...OTHERS[role], [name]: WRONG[kind.type] });
      expect(() => readOptions(config, role), name).to.throw(OptionError, `--${name} `);
    }
  });
});
