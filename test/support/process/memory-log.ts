// A logger that keeps its lines.

import type { IndexLogger } from '../../../lib/follow/logger';

export class MemoryLog implements IndexLogger {
  /** `<level> <message>` */
  readonly lines: string[] = [];

  error(message: string): void {
    this.lines.push(`error ${message}`);
  }
  warning(message: string): void {
    this.lines.push(`warning ${message}`);
  }
  info(message: string): void {
    this.lines.push(`info ${message}`);
  }
  debug(message: string): void {
    this.lines.push(`debug ${message}`);
  }
}
