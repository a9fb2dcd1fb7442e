// TLS handshakes that are under way, on one port. Clients that never finish one take no places of others.

import { Unfinished, type UnfinishedMessage } from './unfinished';
import type { Socket } from 'node:net';

/** At a time. Beyond it the one that has been under way for longest ends; one address may have a quarter. */
const MOST_HANDSHAKES = 200;

/** What a connection and its TLS socket have in common. */
type Peer = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress'>;

export class Handshakes {
  readonly #account = new Unfinished({ smallBytes: MOST_HANDSHAKES, largeBytes: 0 });
  readonly #underWay = new Map<string, UnfinishedMessage>();

  begin(socket: Socket): void {
    const key = keyOf(socket);
    const handshake = this.#account.open(socket.remoteAddress, () => socket.destroy());
    this.#underWay.set(key, handshake);
    socket.once('close', () => {
      handshake.set(0);
      if (this.#underWay.get(key) === handshake) this.#underWay.delete(key);
    });
    handshake.set(1);
  }

  /** The connection is secure. */
  end(socket: Peer): void {
    const key = keyOf(socket);
    this.#underWay.get(key)?.set(0);
    this.#underWay.delete(key);
  }
}

const keyOf = ({ remoteAddress, remotePort, localAddress }: Peer): string => [remoteAddress, remotePort, localAddress].join();
