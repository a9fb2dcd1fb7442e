/** How a command talks to whoever has called it. */
export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly now: () => Date;
}
