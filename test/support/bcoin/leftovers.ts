// At the end of the run: closes what failed tests have left open, so that the process ends by itself, and deletes the folders of all tests.

import { deleteFolders } from '../process/folders';
import { closeLeftNodes } from './regtest-node';

export const mochaHooks = {
  async afterAll(): Promise<void> {
    await closeLeftNodes();
    await deleteFolders();
  }
};
