// The secret that indexes have which are to be the same in every byte.

import { putRecord, SECRET_KEY } from '../../lib/index/layout';

export const knownSecret = putRecord(SECRET_KEY, Buffer.alloc(32, 0x5e));
