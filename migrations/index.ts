// Every change of the index on disk, in order. How to write one: README.md.

import type { Migration } from '../lib/store/migrate';

export const migrations: readonly Migration[] = [];
