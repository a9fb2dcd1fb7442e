// `payments create`: writes an unsigned PaymentRequest that keeps the rules.

import { writeFile } from 'node:fs/promises';
import { makePaymentRequest } from '../new-request';
import { checkExpiry, payableOutputs, unixSeconds } from '../rules/request';
import type { Output, PaymentDetails } from '../messages';
import type { CommandIo } from './command';
import { printed } from './print';
import { UsageError, hexOption, integerOption, parseArguments, required } from './usage';

const OPTIONS = {
  output: { type: 'string', multiple: true },
  out: { type: 'string' },
  network: { type: 'string' },
  memo: { type: 'string' },
  expires: { type: 'string' },
  'payment-url': { type: 'string' },
  'merchant-data': { type: 'string' },
  json: { type: 'boolean' }
} as const;

export async function createRequest(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, OPTIONS);
  if (positionals.length > 0) throw new UsageError(`No file expected, ${positionals.join(' ')} came.`);
  const out = required('out', values.out);
  const { network = 'main', memo, expires } = values;
  if (network !== 'main' && network !== 'test') throw new UsageError(`--network: main or test expected, ${JSON.stringify(network)} came.`);
  const paymentUrl = values['payment-url'];
  const merchantData = values['merchant-data'];
  const details: PaymentDetails = {
    network,
    outputs: (values.output ?? []).map(outputOption),
    time: unixSeconds(io.now()),
    ...expires !== undefined && { expires: integerOption('expires', expires) },
    ...memo !== undefined && { memo },
    ...paymentUrl !== undefined && { paymentUrl },
    ...merchantData !== undefined && { merchantData: hexOption('merchant-data', merchantData) }
  };
  const { total } = payableOutputs(details);
  checkExpiry(details, io.now());
  const request = makePaymentRequest(details);
  await writeFile(out, request);
  io.out(printed({ written: out, bytes: request.length, total }, values.json ?? false));
  return 0;
}

function outputOption(value: string): Output {
  const [script = '', amount = '', ...more] = value.split(':');
  if (script === '' || more.length > 0) throw new UsageError(`--output: SCRIPT:SATOSHIS expected, ${JSON.stringify(value)} came.`);
  return { amount: integerOption('output', amount), script: hexOption('output', script) };
}
