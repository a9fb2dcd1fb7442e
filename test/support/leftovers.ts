// Closes at the end what failed tests have left open, so that the process ends by itself.

import { closeLeftNodes } from './regtest-node';

export const mochaHooks = {
  async afterAll(this: { timeout(ms: number): unknown }): Promise<void> {
    this.timeout(60_000);
    await closeLeftNodes();
  }
};
