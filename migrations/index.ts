// Every change of the index on disk, in order. How to write one: README.md.

import { places } from './0001-places';
import { txidHashes } from './0002-txid-hashes';
import type { Migration } from '../lib/store/migrate';

export const migrations: readonly Migration[] = [places, txidHashes];
