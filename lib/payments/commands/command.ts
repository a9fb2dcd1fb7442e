// What a command is, and what it is given besides its arguments.

export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly now: () => Date;
}

/** @returns the exit code. */
export type Command = (args: readonly string[], io: CommandIo) => Promise<number>;
