// The command line of the payments library: `payments decode|verify|create|sign`. The caller provides arguments, output functions and
// a clock.

import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { DESCRIPTIONS, printed } from './describe';
import { PaymentError, messageOf } from './error';
import { identityOfPem } from './identity';
import { decodePaymentRequest, type Output, type PaymentDetails } from './messages';
import { checkAsked, payableOutputs, unixSeconds } from './rules/request';
import { makePaymentRequest, signPaymentRequest } from './signature';
import { verifyPaymentRequest } from './verify';
import { TrustRoots, certificatesOfPem } from './x509/trust';

export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly now: () => Date;
}

/** @returns the exit code. */
type Command = (args: readonly string[], io: CommandIo) => Promise<number>;

/** The arguments are wrong. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

const PIN_SIZE = 32;

const COMMANDS: Readonly<Record<string, Command>> = { decode, verify, create, sign };

export const PAYMENTS_COMMANDS = Object.keys(COMMANDS);

export const PAYMENTS_USAGE = `Usage: bcoin-rest payments decode|verify|create|sign ...

Reads, checks, makes and signs payment messages (BIP70).

  payments decode FILE [--type TYPE] [--json]
      TYPE: request (unless given), details, output, certificates, payment, ack
  payments verify FILE [--roots PEM] [--pin SHA256]... [--allow-sha1] [--time UNIX] [--json]
  payments create --output SCRIPT:SATOSHIS... --out FILE [--network main|test] [--memo TEXT]
      [--expires UNIX] [--payment-url URL] [--merchant-data HEX] [--json]
  payments sign FILE --key PEM --certificates PEM --out FILE [--json]

Exit codes:
  0  done; for verify: the signer is trusted
  1  no: the signer is not trusted, or the message is not one, or breaks a rule
  2  wrong arguments
  3  a file cannot be read or written
`;

/**
 * @param args the arguments after `payments`.
 * @returns the exit code: 0 done, 1 no (with the reason on `err`, or not trusted), 2 wrong usage, 3 a file that cannot be read or written.
 */
export async function runPaymentsCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  try {
    if (!command) throw new UsageError(name === '' ? 'A command is missing.' : `There is no command '${name}'.`);
    return await command(rest, io);
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`${error.message}\n\n${PAYMENTS_USAGE}`);
      return 2;
    }
    const isFileError = error instanceof Error && 'syscall' in error;
    if (!(error instanceof PaymentError) && !isFileError) throw error;
    io.err(`${error.message}\n`);
    return isFileError ? 3 : 1;
  }
}

/** Prints a message, whether it is valid or not. */
async function decode(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, { type: { type: 'string' }, json: { type: 'boolean' } });
  const { type = 'request', json = false } = values;
  const describe = Object.hasOwn(DESCRIPTIONS, type) ? DESCRIPTIONS[type] : undefined;
  if (!describe) throw new UsageError(`--type: one of ${Object.keys(DESCRIPTIONS).join(', ')} expected, ${JSON.stringify(type)} came.`);
  io.out(printed(describe(await readFile(oneFile(positionals))), json));
  return 0;
}

/** Says who signed a PaymentRequest, and by its exit code whether the signer is trusted. */
async function verify(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    roots: { type: 'string' },
    pin: { type: 'string', multiple: true },
    'allow-sha1': { type: 'boolean' },
    time: { type: 'string' },
    json: { type: 'boolean' }
  });
  const policy = {
    roots: values.roots === undefined ? TrustRoots.builtIn() : await readRoots(values.roots),
    pinnedKeys: (values.pin ?? []).map(pinOption),
    allowSha1: values['allow-sha1'] ?? false,
    time: values.time === undefined ? io.now() : timeOption('time', values.time)
  };
  const verification = verifyPaymentRequest(await readFile(oneFile(positionals)), policy);
  io.out(printed(verification, values.json ?? false));
  return verification.status === 'trusted' ? 0 : 1;
}

/** Writes an unsigned PaymentRequest that obeys the rules. */
async function create(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    output: { type: 'string', multiple: true },
    out: { type: 'string' },
    network: { type: 'string' },
    memo: { type: 'string' },
    expires: { type: 'string' },
    'payment-url': { type: 'string' },
    'merchant-data': { type: 'string' },
    json: { type: 'boolean' }
  });
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
    ...(expires !== undefined && { expires: integerOption('expires', expires) }),
    ...(memo !== undefined && { memo }),
    ...(paymentUrl !== undefined && { paymentUrl }),
    ...(merchantData !== undefined && { merchantData: hexOption('merchant-data', merchantData) })
  };
  checkAsked(details, io.now());
  const { total } = payableOutputs(details);
  const request = makePaymentRequest(details);
  await writeFile(out, request);
  io.out(printed({ written: out, bytes: request.length, total }, values.json ?? false));
  return 0;
}

/** Writes a PaymentRequest signed with a key and its certificates. */
async function sign(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    key: { type: 'string' },
    certificates: { type: 'string' },
    out: { type: 'string' },
    json: { type: 'boolean' }
  });
  const out = required('out', values.out);
  const key = await readFile(required('key', values.key), 'utf8');
  const certificates = await readFile(required('certificates', values.certificates), 'utf8');
  const request = decodePaymentRequest(await readFile(oneFile(positionals)));
  const identity = identityOfPem(key, certificates, io.now());
  const signed = signPaymentRequest(request, identity);
  await writeFile(out, signed);
  io.out(printed({ written: out, bytes: signed.length, certificates: identity.certificates.length }, values.json ?? false));
  return 0;
}

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<Known extends Options> = ReturnType<typeof parseArgs<{ options: Known; allowPositionals: true }>>;

/** @throws UsageError for an unknown option. */
function parseArguments<Known extends Options>(args: readonly string[], options: Known): Parsed<Known> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/** @throws UsageError unless exactly one file is named. */
function oneFile(positionals: readonly string[]): string {
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new UsageError(`One file expected, ${positionals.length} came.`);
  return file;
}

/** @throws UsageError when the option is missing. */
function required(name: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`--${name} is required.`);
  return value;
}

/** Unix seconds. @throws UsageError */
function timeOption(name: string, value: string): Date {
  const time = new Date(Number(integerOption(name, value)) * 1_000);
  if (Number.isNaN(time.getTime())) throw new UsageError(`--${name}: Unix seconds expected, ${value} came.`);
  return time;
}

/** @throws UsageError */
function hexOption(name: string, value: string): Buffer {
  if (!/^([0-9a-f]{2})*$/i.test(value)) throw new UsageError(`--${name}: hex expected, ${JSON.stringify(value)} came.`);
  return Buffer.from(value, 'hex');
}

/** @throws UsageError */
function integerOption(name: string, value: string): bigint {
  if (!/^\d{1,20}$/.test(value)) throw new UsageError(`--${name}: a whole number expected, ${JSON.stringify(value)} came.`);
  return BigInt(value);
}

function outputOption(value: string): Output {
  const [script = '', amount = '', ...more] = value.split(':');
  if (script === '' || more.length > 0) throw new UsageError(`--output: SCRIPT:SATOSHIS expected, ${JSON.stringify(value)} came.`);
  return { amount: integerOption('output', amount), script: hexOption('output', script) };
}

async function readRoots(file: string): Promise<TrustRoots> {
  const certificates = certificatesOfPem(await readFile(file, 'utf8'));
  if (certificates.length === 0) throw new UsageError(`--roots: certificates in PEM expected, ${file} has none.`);
  return new TrustRoots(certificates);
}

function pinOption(value: string): Buffer {
  const pin = hexOption('pin', value);
  if (pin.length !== PIN_SIZE) throw new UsageError(`--pin: the ${PIN_SIZE} bytes of a SHA-256 expected, ${pin.length} came.`);
  return pin;
}
