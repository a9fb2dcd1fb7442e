// The error of a node that does not start, in one sentence that says what to do.

import { messageOf } from '../../lib/system/error-text';
import { IN_USE, type HostFullNode } from '../bcoin';
import type { StartSettings } from './settings';

interface Remedy {
  /** In the error. */
  readonly words: RegExp;
  /** What helps. `DIR` stands for the node's folder. */
  readonly remedy: string;
}

const REMEDIES: readonly Remedy[] = [
  { words: IN_USE, remedy: 'another process uses DIR: stop that node first, or name another folder with --prefix' },
  {
    words: /^(IO error: .*(permission denied|read-only)|(EACCES|EROFS|EPERM)\b)/i,
    remedy: 'the user that runs the node may not write in DIR: let it, or name another folder with --prefix'
  }
];

/** Of chains that do not fit. */
const CHAIN_REMEDIES: readonly Remedy[] = [
  {
    words: /version mismatch/i,
    remedy: 'the data in DIR were made by another version of bcoin: name that one with BCOIN_PATH, or another folder with --prefix'
  },
  { words: /retroactively/, remedy: 'the chain in DIR was begun with other options: give those, or name another folder with --prefix' },
  { words: /network mismatch/i, remedy: 'the data in DIR are of another network: name another folder with --prefix' }
];

const DEMONSTRATION_REMEDY =
  'the demonstration chain in DIR was made by another version of bcoin, or with other options: ' + 'delete that folder for a fresh one';

/** The text for the operator; unexpected errors keep bcoin's text. */
export function failureText(error: unknown, node: HostFullNode, { folder, isDemonstration }: StartSettings): string {
  const message = messageOf(error);
  const port = busyPort(error);
  if (port !== undefined) return `port ${port} is in use: stop what listens there, or name another one with ${portOption(port, node)}`;
  const ofChain = remedyIn(CHAIN_REMEDIES, message);
  const remedy = remedyIn(REMEDIES, message) ?? (isDemonstration && ofChain !== undefined ? DEMONSTRATION_REMEDY : ofChain);
  return remedy === undefined ? message : `${remedy.replace('DIR', () => folder)} (${message})`;
}

const remedyIn = (remedies: readonly Remedy[], message: string): string | undefined =>
  remedies.find(({ words }) => words.test(message))?.remedy;

function busyPort(error: unknown): number | undefined {
  const { code, port } = error as { readonly code?: unknown; readonly port?: unknown };
  return code === 'EADDRINUSE' && typeof port === 'number' ? port : undefined;
}

function portOption(port: number, node: HostFullNode): string {
  if (port === node.http.options.port) return '--http-port';
  const wallet = node.get('walletdb') as { readonly http: { readonly options: { readonly port: number } } } | null;
  return port === wallet?.http.options.port ? '--wallet-http-port' : '--port, or --listen=false';
}
