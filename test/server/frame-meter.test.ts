import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { FrameMeter, PIECE_COST_BYTES } from '../../lib/server/sockets/frame-meter';

const [FINAL, TEXT, NEXT, PING] = [0x80, 1, 0, 9];

/** A frame of a client (RFC 6455, 5.2). */
function frame(first: number, length: number): Buffer {
  const header =
    length < 126
      ? [0x80 | length]
      : length < 65_536
        ? [0xfe, length >> 8, length & 0xff]
        : [0xff, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 0xff, length & 0xff];
  return Buffer.concat([Buffer.of(first, ...header), Buffer.alloc(4), Buffer.alloc(length)]);
}

/** The frames of a message in parts of these lengths, each followed by a ping if asked. */
function message(lengths: readonly number[], isPinged: boolean): Buffer {
  return Buffer.concat(
    lengths.flatMap((length, i) => [
      frame((i === 0 ? TEXT : NEXT) | (i === lengths.length - 1 ? FINAL : 0), length),
      ...(isPinged && i < lengths.length - 1 ? [frame(FINAL | PING, 5)] : [])
    ])
  );
}

const payloads = fc.oneof(fc.integer({ min: 0, max: 130 }), fc.constantFrom(125, 126, 65_535, 65_536, 70_000));
const messages = fc.array(fc.tuple(fc.array(payloads, { minLength: 1, maxLength: 3 }), fc.boolean()), { maxLength: 5 });

describe('how much of a WebSocket message has come', () => {
  it('is nothing exactly between messages, however frames are cut', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 20 }), (all, cuts) => {
        const parts = all.map(([lengths, isPinged]) => message(lengths, isPinged));
        const bytes = Buffer.concat(parts);
        const ends = new Set([0]);
        let end = 0;
        for (const { length } of parts) ends.add((end += length));
        const meter = new FrameMeter();
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const next = Math.min(bytes.length, at + (cuts[i % cuts.length] as number));
          meter.push(bytes.subarray(at, next));
          at = next;
          expect(meter.bytes === 0, String(at)).to.equal(ends.has(at));
        }
      })
    );
  });

  it('counts what has come of the message, and what each piece costs', () => {
    const meter = new FrameMeter();
    const whole = frame(FINAL | TEXT, 1_000);
    meter.push(Buffer.concat([whole, whole.subarray(0, 100)]));
    expect(meter.bytes).to.equal(100 + PIECE_COST_BYTES);
    for (let at = 100; at < 200; at++) meter.push(whole.subarray(at, at + 1));
    expect(meter.bytes).to.equal(200 + 101 * PIECE_COST_BYTES);
    meter.push(whole.subarray(200));
    expect(meter.bytes).to.equal(0);
    meter.push(frame(FINAL | PING, 3));
    expect(meter.bytes).to.equal(0);
  });
});
