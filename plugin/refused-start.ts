// What bcoin's own programs (bin/node, bin/spvnode) print when the plugin refuses to start. They construct the node where nothing catches, so
// Node.js would put a line of its own source before the error.

import { basename } from 'node:path';
import { UnsupportedNodeError } from '../lib/node/errors';
import { OptionError } from './options/errors';

/** In bcoin's own programs: prints what the operator has to change, and ends the process. All other programs get the error. */
export function endOwnProgram(error: unknown): void {
  const isForOperator = error instanceof OptionError || error instanceof UnsupportedNodeError;
  if (!isForOperator || !isOwnProgram()) return;
  console.error(error.message);
  process.exit(1);
}

const isOwnProgram = (): boolean => process.title === 'bcoin' && ['node', 'spvnode'].includes(basename(require.main?.filename ?? ''));
