// Methods for tests of the transport: some of the protocol, and some that wait, fail, or return long replies.

import { CODES, ElectrumError } from '../../lib/electrum/errors';
import type { Answers } from '../../lib/answers/answers';
import type { Method, MethodTable } from '../../lib/electrum/method';

const LETTER = 0x61;

export function transportMethods({ reader }: Answers, held?: (release: () => void) => void): MethodTable {
  const method = (parameters: readonly string[], answer: Method['answer'], more: Partial<Method> = {}): Method => ({
    parameters,
    required: parameters.length,
    answer,
    ...more
  });
  return {
    'server.ping': method([], () => Promise.resolve('null')),
    'server.banner': method([], () => Promise.resolve('"hello"')),
    'blockchain.relayfee': method([], () => Promise.resolve('0.00001'), { until: '1.5' }),
    'mempool.get_info': method([], () => Promise.resolve('{}'), { since: '1.6' }),
    'blockchain.block.header': {
      parameters: ['height', 'cp_height'],
      required: 1,
      answer: ([height]) => {
        const header = reader.read((snapshot) => (typeof height === 'number' ? snapshot.headerAt(height) : undefined));
        if (header === undefined) return Promise.reject(new ElectrumError(CODES.badRequest, 'height out of range'));
        return Promise.resolve(JSON.stringify(header.header.toString('hex')));
      }
    },
    'blockchain.transaction.broadcast': method(['raw_tx'], () => Promise.reject(new ElectrumError(CODES.badRequest, 'rejected'))),
    'test.hold': method(
      [],
      () =>
        new Promise((resolve) => {
          held?.(() => {
            resolve('"held"');
          });
        })
    ),
    'test.letters': method(['count'], ([count]) => Promise.resolve(Buffer.from(`"${String.fromCharCode(LETTER).repeat(Number(count))}"`)), {
      isHeavy: true
    }),
    'test.charge': method(['points'], ([points], client) => {
      client.charge(Number(points));
      return Promise.resolve('null');
    }),
    'test.subscribe': method([], (_, client) => {
      client.subscriptions.removeScript(Buffer.alloc(0));
      return Promise.resolve('null');
    }),
    'test.fail': method([], () => Promise.reject(new TypeError('something that nobody thought of'))),
    'test.throw': method([], () => {
      throw new TypeError('something that nobody thought of');
    })
  };
}
