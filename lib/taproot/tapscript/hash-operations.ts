// Operations that compare bytes and hash them.

import { hash } from 'node:crypto';
import { hash160, hash256, sha256 } from '../../bitcoin/hash';
import { ScriptFailure } from '../script-error';
import { booleanItem } from './number';
import { withItems, type Operation, type Operations } from './operation';

const hashing = (compute: (item: Buffer) => Buffer): Operation => withItems(1, (machine) => machine.stack.push(compute(machine.pop())));

export const HASH_OPERATIONS: Operations = {
  OP_EQUAL: withItems(2, (machine) => machine.stack.push(booleanItem(machine.pop().equals(machine.pop())))),
  OP_EQUALVERIFY: withItems(2, (machine) => {
    if (!machine.pop().equals(machine.pop())) throw new ScriptFailure('EQUALVERIFY');
  }),
  OP_RIPEMD160: hashing((item) => hash('ripemd160', item, 'buffer')),
  OP_SHA1: hashing((item) => hash('sha1', item, 'buffer')),
  OP_SHA256: hashing(sha256),
  OP_HASH160: hashing(hash160),
  OP_HASH256: hashing(hash256)
};
