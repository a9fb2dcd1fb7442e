// A plugin for a node under measurement: writes the time at which the last block was connected to the file that BLOCK_CLOCK names.

import { writeFileSync } from 'node:fs';
import { cpuMicroseconds } from '../serve/process-figures';

export interface Connected {
  /** When the block was connected, in milliseconds since 1970. */
  readonly at: number;
  /** Processor time of all threads of the process by then, in microseconds. */
  readonly cpu: number;
}

interface Host {
  readonly chain: { on(event: 'connect', listener: () => void): void };
}

export const id = 'block-clock';

export function init({ chain }: Host): { open(): void; close(): void } {
  const file = process.env['BLOCK_CLOCK'];
  return {
    open: () => {
      chain.on('connect', () => {
        const connected: Connected = { at: performance.timeOrigin + performance.now(), cpu: cpuMicroseconds(process.pid) };
        if (file !== undefined) writeFileSync(file, JSON.stringify(connected));
      });
    },
    close: () => undefined
  };
}
