/** A setting that the service cannot use. */
export class OptionError extends Error {
  override readonly name = 'OptionError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // bcoin's own program prints the stack of the error that stops it, which does not help an operator.
    this.stack = message;
  }
}
