// Asks how far the node is.

import type { ExplorerStatus } from '../../../explorer-status';
import type { Client } from './client';

export const EXPLORER = '/explorer';

export const statusOf = (client: Client): Promise<ExplorerStatus> => client.json<ExplorerStatus>(`${EXPLORER}/status.json`);
