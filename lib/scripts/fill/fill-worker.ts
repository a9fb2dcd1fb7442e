// The thread that fills an index by script: answers the requests of a FillThread one after another, until it fails or is stopped.

import { parentPort, workerData } from 'node:worker_threads';
import { DiskStore } from '../../store/disk-store';
import { messageOf } from '../../system/error-text';
import { isDamageOfFilling, ScriptFilling } from './filling';
import type { FillReply, FillRequest, FillSetup } from './fill-thread';

const { path, filesPath, genesisHash, fromScratch, sizes, stop } = workerData as FillSetup;
const isStopped = (): boolean => Atomics.load(new Int32Array(stop), 0) !== 0;

const store = new DiskStore(path);
const opened = ScriptFilling.open({
  store,
  filesPath,
  genesisHash: Buffer.from(genesisHash),
  fromScratch,
  sizes,
  throwIfStopped: () => {
    if (isStopped()) throw new Error('it was stopped');
  }
});

/** All requests so far. Never rejects. */
let work = opened.then(({ progress: { step, at }, damage }) => say({ type: 'opened', start: { step, at, damage } })).catch(fail);

parentPort?.on('message', (request: FillRequest) => {
  if (request.type === 'close') void stopAll();
  else work = work.then(() => answer(request)).catch(fail);
});

async function answer(request: Exclude<FillRequest, { readonly type: 'close' }>): Promise<void> {
  const filling = await opened;
  switch (request.type) {
    case 'take': {
      const { height, hash, memory, rawLength, spentLength, txidsLength } = request;
      const spentEnd = rawLength + (spentLength ?? 0);
      await filling.take({
        point: { height, hash: Buffer.from(hash) },
        raw: Buffer.from(memory, 0, rawLength),
        spent: spentLength === undefined ? undefined : Buffer.from(memory, rawLength, spentLength),
        // A copy: it is kept for a page when the memory has another block.
        txids: txidsLength === 0 ? undefined : Buffer.from(Buffer.from(memory, spentEnd, txidsLength))
      });
      break;
    }
    case 'sort':
      await filling.sort((done, total) => say({ type: 'sorting', done, total }));
      break;
    case 'finish':
      await filling.finish();
      await store.close();
      break;
  }
  say({ type: 'done', id: request.id });
  if (request.type === 'finish') parentPort?.close();
}

/** Reports the first failure and ends the thread. */
async function fail(error: unknown): Promise<void> {
  await store.close().catch(() => undefined);
  say({ type: 'failed', damaged: isDamageOfFilling(error), message: messageOf(error) });
  parentPort?.close();
}

/** Makes the current work fail, and ends the thread. */
async function stopAll(): Promise<void> {
  await store.close().catch(() => undefined);
  // The work may have opened the store again before it failed.
  await work;
  await store.close().catch(() => undefined);
  parentPort?.close();
}

function say(reply: FillReply): void {
  parentPort?.postMessage(reply);
}
