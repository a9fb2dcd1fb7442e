// The machine on which the figures were measured.

import { cpus, totalmem } from 'node:os';
import { bcoin } from '../test/support/bcoin/bcoin';

export function describeMachine(): string {
  const [first, ...others] = cpus();
  const cores = others.length + (first === undefined ? 0 : 1);
  return `${first?.model ?? 'unknown processor'}, ${cores} cores, ${(totalmem() / 1_024 ** 3).toFixed(0)} GiB; ${process.platform}, Node ${process.version}, bcoin ${bcoin.pkg.version}`;
}
