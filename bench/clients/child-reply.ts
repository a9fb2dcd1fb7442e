// What a client in a separate process answers.

import type { ChildProcess, Serializable } from 'node:child_process';

/** Sends a child process an order, and gives its next message. @throws Error when the process ends before */
export function childReply(child: ChildProcess, order: Serializable): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => {
      reject(new Error('expected the client to go on, it ended'));
    };
    child.once('exit', onExit);
    child.once('message', (reply) => {
      child.removeListener('exit', onExit);
      resolve(reply);
    });
    child.send(order);
  });
}
