/** How a command talks to its caller. */
export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly now: () => Date;
}
