// Errors of the fleet's messages.

/** Bytes that are no message of ours: another program wrote them, or they are damaged. */
export class MalformedMessageError extends Error {
  override readonly name: string = 'MalformedMessageError';
}

/** A message that a newer version of this package wrote, and that this one cannot read. */
export class NewerMessageError extends MalformedMessageError {
  override readonly name = 'NewerMessageError';
}
