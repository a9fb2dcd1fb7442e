// The thread that looks for faults in blocks for a FaultFinder.

import { parentPort } from 'node:worker_threads';
import { loadWasmCurve } from '../taproot/curve';
import { findFault } from './block-fault';
import type { FaultReply, FaultRequest } from './fault-finder';

const curve = loadWasmCurve();

async function answer({ memory, blockLength }: FaultRequest): Promise<FaultReply> {
  try {
    return { fault: findFault(Buffer.from(memory, 0, blockLength), Buffer.from(memory, blockLength), await curve) };
  } catch (error) {
    return { error };
  }
}

parentPort?.on('message', (request: FaultRequest) => {
  void answer(request).then((reply) => {
    parentPort?.postMessage(reply);
  });
});
