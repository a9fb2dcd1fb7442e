// Asks the nodes of the fleet. Any node answers what all know; the leader answers first where it matters whose pool or chain it is.

import { setTimeout } from 'node:timers/promises';
import {
  decodeReply,
  encodeQuestion,
  FleetReplyError,
  LEADER_KNOWS,
  type Asked,
  type QuestionName,
  type Replied
} from '../messages/questions';
import { messageOf } from '../../system/error-text';
import { NoNodeError } from '../../node/errors';
import type { NatsConnection, RequestError } from '@nats-io/transport-node';
import type { Subjects } from '../log/subjects';

const TIMEOUT_MS = 5_000;
/** For what is asked once: bcoin may take long. */
const ONCE_TIMEOUT_MS = 60_000;

const PAUSE_MS = 100;

type IsTrue<Name extends QuestionName> = (reply: NonNullable<Replied<Name>>) => Promise<boolean>;

export class Nodes {
  readonly #subjects: Subjects;
  readonly #connection: () => NatsConnection | undefined;
  /** How many questions of each kind were asked. */
  readonly asked: Partial<Record<QuestionName, number>> = {};

  /** `connection`: undefined while there is none. */
  constructor(subjects: Subjects, connection: () => NatsConnection | undefined) {
    this.#subjects = subjects;
    this.#connection = connection;
  }

  /**
   * What a node replies. One that does not know, cannot answer or has too much to do is not the last one that is asked: that is the leader,
   * which has all blocks of the log's chain and what they spend. undefined: it does not know, either. `isTrue`: says of a reply whether it can
   * be believed; if not, the next node is asked.
   * @throws NoNodeError; FleetReplyError for a question that no node answers; TransactionRefusedError
   */
  async ask<Name extends QuestionName>(name: Name, asked: Asked<Name>, isTrue?: IsTrue<Name>): Promise<Replied<Name>> {
    const [any, leader] = [this.#subjects.node(name), this.#subjects.leader(name)];
    return await this.#try(LEADER_KNOWS.includes(name) ? [any, any, leader] : [any, any, any], name, asked, { isTrue });
  }

  /** The same, but the leader is asked first. */
  async askLeader<Name extends QuestionName>(name: Name, asked: Asked<Name>): Promise<Replied<Name>> {
    const any = this.#subjects.node(name);
    return await this.#try([this.#subjects.leader(name), any, any, any], name, asked);
  }

  /** Only the leader is asked. */
  async askOnlyLeader<Name extends QuestionName>(name: Name, asked: Asked<Name>): Promise<Replied<Name>> {
    const leader = this.#subjects.leader(name);
    return await this.#try([leader, leader, leader], name, asked);
  }

  /** The leader is asked first, and no other node once one may have begun: what is asked has effects. Waits a minute for the reply. */
  async askOnce<Name extends QuestionName>(name: Name, asked: Asked<Name>): Promise<Replied<Name>> {
    const any = this.#subjects.node(name);
    return await this.#try([this.#subjects.leader(name), any, any], name, asked, { isOnce: true });
  }

  /** Asks at one subject after the other. */
  async #try<Name extends QuestionName>(
    subjects: readonly string[],
    name: Name,
    asked: Asked<Name>,
    { isTrue, isOnce = false }: { readonly isTrue?: IsTrue<Name> | undefined; readonly isOnce?: boolean } = {}
  ): Promise<Replied<Name>> {
    const question = encodeQuestion(name, asked);
    this.asked[name] = (this.asked[name] ?? 0) + 1;
    let last: unknown;
    for (const subject of subjects) {
      // Those that failed are given a moment.
      if (last !== undefined) await setTimeout(PAUSE_MS);
      try {
        const reply = decodeReply(name, await this.#request(subject, question, isOnce ? ONCE_TIMEOUT_MS : TIMEOUT_MS));
        if (reply === undefined) last = undefined;
        else if ((await isTrue?.(reply)) === false) last = new NoNodeError('a node says what cannot be true');
        else return reply;
      } catch (error) {
        if (!(isOnce ? hasNotBegun(error) : mayPass(error))) throw error;
        last = error;
      }
    }
    // Where no reply is among the replies, nodes have said that they do not know.
    if (last === undefined) return undefined;
    throw last instanceof NoNodeError ? last : new NoNodeError(`no node answers: ${messageOf(last)}`, { cause: last });
  }

  async #request(subject: string, question: Buffer, timeout: number): Promise<Uint8Array> {
    const connection = this.#connection();
    if (connection === undefined) throw new NoNodeError('no node can be asked: NATS is away');
    try {
      return (await connection.request(subject, question, { timeout })).data;
    } catch (error) {
      throw new NoNodeError(`no node answers: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** Whether another node, or the same one later, may answer. */
function mayPass(error: unknown): boolean {
  return error instanceof NoNodeError || (error instanceof FleetReplyError && error.code !== 'refused');
}

/** Whether nobody has begun with what was asked: there is no such node, or it has refused to. */
function hasNotBegun(error: unknown): boolean {
  if (error instanceof FleetReplyError) return error.code === 'busy' || error.code === 'not leading';
  return error instanceof NoNodeError && (error.cause === undefined || (error.cause as Partial<RequestError>).isNoResponders?.() === true);
}
