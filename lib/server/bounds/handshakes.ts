// TLS handshakes that are under way, on one port. Clients that never finish one take no places of others.

import { Unfinished, type UnfinishedMessage } from './unfinished';
import type { Socket } from 'node:net';
import type { Proxies } from './proxies';

/** At a time. Beyond it the one that has been under way for longest ends; one address may have a quarter. */
const MOST_HANDSHAKES = 200;

/** What a connection and its TLS socket have in common. */
type Peer = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress'>;

interface Handshake {
  readonly message: UnfinishedMessage;
  readonly address: string | undefined;
}

export class Handshakes {
  readonly #account: Unfinished;
  readonly #underWay = new Map<string, Handshake>();

  constructor(proxies?: Proxies) {
    this.#account = new Unfinished({ smallBytes: MOST_HANDSHAKES, largeBytes: 0 }, proxies);
  }

  /** Connections that were cut off to make room. */
  get cutOff(): number {
    return this.#account.cutOff;
  }

  /** `address`: the client's, if not that of its socket. */
  begin(socket: Socket, address = socket.remoteAddress): void {
    const key = keyOf(socket);
    const message = this.#account.open(address, () => socket.destroy());
    const handshake = { message, address };
    this.#underWay.set(key, handshake);
    socket.once('close', () => {
      message.set(0);
      if (this.#underWay.get(key) === handshake) this.#underWay.delete(key);
    });
    message.set(1);
  }

  /** The connection is secure. Gives the client's address. */
  end(socket: Peer): string | undefined {
    const key = keyOf(socket);
    const handshake = this.#underWay.get(key);
    handshake?.message.set(0);
    this.#underWay.delete(key);
    return handshake?.address;
  }
}

const keyOf = ({ remoteAddress, remotePort, localAddress }: Peer): string => [remoteAddress, remotePort, localAddress].join();
