import type { Topic } from './topics';

/** A topic cannot be published: the package is missing, or the address cannot be listened on. */
export class NotPublishedError extends Error {
  override readonly name = 'NotPublishedError';
  readonly topic: Topic;

  constructor(topic: Topic, message: string, options: ErrorOptions) {
    super(message, options);
    this.topic = topic;
  }
}
