// At the end of the run: closes what failed tests have left open, so that the process ends by itself, and deletes the folders of all tests.

import { deleteFolders } from '../process/folders';
import { closeLeftNodes } from './regtest-node';

export const mochaHooks = {
  async afterAll(this: { timeout(ms: number): unknown }): Promise<void> {
    this.timeout(60_000);
    await closeLeftNodes();
    await deleteFolders();
  }
};
