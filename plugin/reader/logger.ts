// The log of a reader: lines on its standard output, as bcoin writes them.

import { format } from 'node:util';
import type { HostNodeLogger } from '../../lib/node/host';

/** bcoin's levels, by number. */
export const LEVELS = ['none', 'error', 'warning', 'info', 'debug', 'spam'] as const;
export type LogLevel = (typeof LEVELS)[number];

export const isLogLevel = (text: string): text is LogLevel => (LEVELS as readonly string[]).includes(text);

export class ReaderLogger implements HostNodeLogger {
  readonly console = true;
  readonly level: number;
  readonly #write: (line: string) => void;
  readonly #name: string;

  constructor(level: LogLevel, write: (line: string) => void, name = '') {
    this.level = LEVELS.indexOf(level);
    this.#write = write;
    this.#name = name;
  }

  context(name: string): ReaderLogger {
    return new ReaderLogger(LEVELS[this.level] ?? 'info', this.#write, name);
  }

  error(text: string, ...values: readonly unknown[]): void {
    this.#log('error', text, values);
  }

  warning(text: string, ...values: readonly unknown[]): void {
    this.#log('warning', text, values);
  }

  info(text: string, ...values: readonly unknown[]): void {
    this.#log('info', text, values);
  }

  debug(text: string, ...values: readonly unknown[]): void {
    this.#log('debug', text, values);
  }

  #log(level: LogLevel, text: string, values: readonly unknown[]): void {
    if (LEVELS.indexOf(level) > this.level) return;
    const time = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    this.#write(`[${level.slice(0, 1).toUpperCase()}:${time}] ${this.#name === '' ? '' : `(${this.#name}) `}${format(text, ...values)}\n`);
  }
}
