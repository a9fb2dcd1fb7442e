// Where a command of `bcoin-rest` that runs in this process writes to: it is kept, and there is no terminal.

import { Writable } from 'node:stream';
import type { CommandIo } from '../../../plugin/cli/maintenance';

export class CapturedIo implements CommandIo {
  /** What was written so far. */
  readonly said = { out: '', err: '' };
  readonly progress = new Writable({ write: (_chunk, _encoding, done) => done() }) as unknown as NodeJS.WriteStream; // no terminal

  readonly out = (text: string): void => void (this.said.out += text);

  readonly err = (text: string): void => void (this.said.err += text);
}
