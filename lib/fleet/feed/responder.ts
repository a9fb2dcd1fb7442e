// Takes the questions of readers off NATS, some at a time, and sends the answers.

import { Listener, type Listening } from '../log/listener';
import { NODES_QUEUE, type Subjects } from '../log/subjects';
import { decodeQuestion, encodeFault, encodeReply, FleetReplyError, LEADER_KNOWS, type QuestionName } from '../messages/questions';
import type { Msg } from '@nats-io/transport-node';
import type { NatsBus } from '../log/connection';
import type { NodeAnswers } from './answers';

/** Questions that are being answered at a time, and that may wait; calls of bcoin's apart, some of which wait for its next block. */
const MOST_AT_ONCE = 16;
const MOST_WAITING = 256;

/** What only the leader is asked, or answers otherwise than other nodes. */
const OF_LEADER: readonly QuestionName[] = ['broadcast', 'submit', 'try', 'call', 'tips', 'pool', 'headers', ...LEADER_KNOWS];
/** What all nodes are asked at once, and the one that can do it answers. */
const OF_ALL: readonly QuestionName[] = ['rewind'];
const NOT_OF_NODES: readonly QuestionName[] = ['pool', ...OF_ALL];

type ResponderBus = Pick<NatsBus, 'connection' | 'mostBytes'>;

export class Responder {
  readonly #bus: ResponderBus;
  readonly #subjects: Subjects;
  readonly #answers: NodeAnswers;
  readonly #listener: Listener;
  readonly #listening: readonly Listening[];
  #leading: readonly Listening[] = [];
  readonly #questions = new Lane();
  readonly #calls = new Lane();

  /** `refused`: called when the servers do not let it listen. */
  constructor(bus: ResponderBus, subjects: Subjects, answers: NodeAnswers, refused?: (error: Error) => void) {
    this.#bus = bus;
    this.#subjects = subjects;
    this.#answers = answers;
    this.#listener = new Listener(bus.connection, refused);
    const names = (Object.keys(answers) as QuestionName[]).filter((name) => !NOT_OF_NODES.includes(name));
    this.#listening = [
      ...names.map((name) => this.#listen(name, subjects.node(name), NODES_QUEUE)),
      ...OF_ALL.map((name) => this.#listen(name, subjects.leader(name)))
    ];
  }

  /** Answers what is asked of the leader from now on, or no longer. */
  lead(leads: boolean): void {
    for (const listening of this.#leading) listening.close();
    this.#leading = leads ? OF_LEADER.map((name) => this.#listen(name, this.#subjects.leader(name))) : [];
  }

  /** Questions that wait get no reply. */
  close(): void {
    this.lead(false);
    for (const listening of this.#listening) listening.close();
    this.#questions.clear();
    this.#calls.clear();
  }

  #listen(name: QuestionName, subject: string, queue?: string): Listening {
    const take = (message: Msg): void => {
      this.#take(name, message);
    };
    return this.#listener.listen(subject, take, queue);
  }

  #take(name: QuestionName, message: Msg): void {
    if (message.reply === undefined || message.reply === '') return;
    const lane = name === 'call' ? this.#calls : this.#questions;
    if (lane.add(() => this.#answer(name, message))) return;
    this.#send(message, encodeFault(new FleetReplyError('busy', 'too many questions are waiting')));
  }

  async #answer(name: QuestionName, message: Msg): Promise<void> {
    let reply: Buffer;
    try {
      reply = encodeReply(name, await this.#answers[name](decodeQuestion(message.data)));
    } catch (error) {
      if (OF_ALL.includes(name) && error instanceof FleetReplyError && error.code === 'not leading') return;
      reply = encodeFault(error);
    }
    this.#send(message, reply);
  }

  #send(message: Msg, reply: Buffer): void {
    const fits = reply.length <= this.#bus.mostBytes();
    const sent = fits ? reply : encodeFault(new FleetReplyError('failed', `the reply of ${reply.length} bytes is above NATS' max_payload`));
    try {
      message.respond(sent);
    } catch {
      // The connection is closed: who asked asks another node.
    }
  }
}

/** Answers some at a time; the others wait. */
class Lane {
  #running = 0;
  readonly #waiting: (() => Promise<void>)[] = [];

  /** False: too many are waiting. `answer` never rejects. */
  add(answer: () => Promise<void>): boolean {
    if (this.#waiting.length >= MOST_WAITING) return false;
    this.#waiting.push(answer);
    this.#next();
    return true;
  }

  /** Those that wait are not answered any more. */
  clear(): void {
    this.#waiting.length = 0;
  }

  #next(): void {
    while (this.#running < MOST_AT_ONCE) {
      const answer = this.#waiting.shift();
      if (answer === undefined) return;
      this.#running++;
      void answer().finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }
}
