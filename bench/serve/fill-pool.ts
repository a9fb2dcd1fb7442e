// Fills the pool of a node over its RPC, with a call that bcoin and Bitcoin Core share.

import { Agent, request } from 'node:http';
import { poolOf, type ServingChain } from './serving-chain';

/** `auth`: user and password. @throws Error when the node refuses a transaction */
export async function fillPool(port: number, chain: ServingChain, auth?: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const raw of poolOf(chain)) await send({ port, auth, agent, raw });
  agent.destroy();
}

interface Order {
  readonly port: number;
  readonly auth: string | undefined;
  readonly agent: Agent;
  readonly raw: string;
}

function send({ port, auth, agent, raw }: Order): Promise<void> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ id: 1, method: 'sendrawtransaction', params: [raw] });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
    const asked = request(
      { host: '127.0.0.1', port, method: 'POST', path: '/', agent, headers, ...(auth !== undefined && { auth }) },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          const { error } = JSON.parse(Buffer.concat(parts).toString()) as { error: { readonly message: string } | null };
          if (error === null) resolve();
          else reject(new Error(`expected the pool to take the transaction, it says ${error.message}`));
        });
      }
    );
    asked.on('error', reject);
    asked.end(body);
  });
}
