// Errors of the fleet's connection and log. Their messages are sentences for the operator.

/** NATS is away, or was not reached in time. What was tried may be tried again. */
export class NatsAwayError extends Error {
  override readonly name = 'NatsAwayError';
}

/** NATS refuses: wrong credentials, no permission, no JetStream. Trying again helps once the operator has changed something. */
export class NatsRefusedError extends Error {
  override readonly name = 'NatsRefusedError';
}

/** The packages of the client are not installed. */
export class NatsMissingError extends Error {
  override readonly name = 'NatsMissingError';
}

/** The stream is not a log of this network that this version can write or read, or something else wrote into it. */
export class ForeignLogError extends Error {
  override readonly name = 'ForeignLogError';
}

/** No node has said anything about the chain in this log yet, but somebody else has written into it. */
export class NoOwnRecordError extends ForeignLogError {}

/** Someone else has written into the log: who wanted to write must read on first. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/** The log is gone, or another one is in its place. */
export class LogGoneError extends Error {
  override readonly name = 'LogGoneError';
}

/** No record came, or the servers have lost the reader's place: it may go on where it was. */
export class LogSilentError extends Error {
  override readonly name = 'LogSilentError';
}

/** Records that were to be read are not there any more. */
export class LogGapError extends Error {
  override readonly name = 'LogGapError';
}
