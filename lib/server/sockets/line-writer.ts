// Hands lines over to a socket in as few calls as possible: each call costs more than copying some kilobytes.

import { TLSSocket } from 'node:tls';
import { bytesOf, partOf, type Piece } from './outbox';
import type { Socket } from 'node:net';

const LINE_END = '\n';
const LINE_END_CODE = 10;

/** Longer parts are not copied. */
const LONG_BYTES = 16_384;

/** The memory into which parts are copied. */
const JOINED_BYTES = 512 * 1_024;

/** Of a character of a string. */
const MOST_BYTES = 3;

/** Into which the next parts are copied; undefined: a socket has it, since the system has not taken all of it. */
let memory: Buffer | undefined;

/** `written`: called once the operating system has all pieces. Each message is a line. */
export function writeLines(socket: Socket, pieces: readonly Piece[], written: () => void): void {
  const text = joinedTexts(pieces);
  if (text !== undefined) socket.write(text, written);
  // A socket over TLS keeps what it is given until it is encrypted and sent.
  else if (roomFor(pieces) <= JOINED_BYTES && hasTakenAll(socket) && !(socket instanceof TLSSocket)) {
    socket.write(joined(pieces, (memory ??= Buffer.allocUnsafeSlow(JOINED_BYTES))), written);
    if (!hasTakenAll(socket)) memory = undefined;
  } else writeEach(socket, pieces, written);
}

const hasTakenAll = ({ writableLength }: Socket): boolean => writableLength === 0;

/** undefined: some of them are not texts. */
function joinedTexts(pieces: readonly Piece[]): string | undefined {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece + LINE_END;
    else if (typeof piece.bytes !== 'string') return undefined;
    else text += piece.isLast ? piece.bytes + LINE_END : piece.bytes;
  }
  return text;
}

/** Infinity if there is a part that is not to be copied. */
function roomFor(pieces: readonly Piece[]): number {
  let room = pieces.length;
  for (const piece of pieces) {
    const bytes = bytesOf(piece);
    if (bytes.length > LONG_BYTES) return Infinity;
    room += typeof bytes === 'string' ? bytes.length * MOST_BYTES : bytes.length;
  }
  return room;
}

function joined(pieces: readonly Piece[], into: Buffer): Buffer {
  let at = 0;
  for (const piece of pieces) {
    const bytes = bytesOf(piece);
    at += typeof bytes === 'string' ? into.write(bytes, at) : bytes.copy(into, at);
    if (typeof piece === 'string' || piece.isLast) into[at++] = LINE_END_CODE;
  }
  return into.subarray(0, at);
}

function writeEach(socket: Socket, pieces: readonly Piece[], written: () => void): void {
  socket.cork();
  for (const [i, piece] of pieces.entries()) {
    const { bytes, isLast } = partOf(piece);
    const isEnd = i === pieces.length - 1;
    socket.write(bytes, isEnd && !isLast ? written : undefined);
    if (isLast) socket.write(LINE_END, isEnd ? written : undefined);
  }
  socket.uncork();
}
