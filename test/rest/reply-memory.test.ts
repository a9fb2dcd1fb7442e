import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { ReplyMemory, type Release } from '../../lib/rest/cache/buffers';

const LONG = 1_000_000;

describe('the memory of replies', () => {
  it('is used again once everybody who held it has let go', () => {
    const memory = new ReplyMemory(2 ** 26);
    const { allocate, release } = memory.making();
    const first = allocate(LONG);
    const client = memory.hold(first.subarray(0, 10));
    release();
    expect(memory.making().allocate(LONG).buffer).to.not.equal(first.buffer);
    client();
    expect(memory.making().allocate(LONG).buffer).to.equal(first.buffer);
  });

  it('counts a hold once, however often it is let go', () => {
    const memory = new ReplyMemory(2 ** 26);
    const { allocate, release } = memory.making();
    const first = allocate(LONG);
    const [one, other] = [memory.hold(first), memory.hold(first)];
    release();
    one();
    one();
    release();
    expect(memory.making().allocate(LONG).buffer).to.not.equal(first.buffer);
    other();
    expect(memory.making().allocate(LONG).buffer).to.equal(first.buffer);
  });

  it('has room for what is asked for, and gives nobody a room much larger', () => {
    const memory = new ReplyMemory(2 ** 26);
    const { allocate, release } = memory.making();
    const large = allocate(8 * LONG);
    release();
    const small = memory.making().allocate(LONG);
    expect(small.buffer).to.not.equal(large.buffer);
    expect(small.length).to.be.within(LONG, 2 * LONG);
    expect(memory.making().allocate(7 * LONG).buffer).to.equal(large.buffer);
  });

  it('keeps the rooms that became free last, whatever sizes were asked for before', () => {
    const memory = new ReplyMemory(2 ** 26);
    const holders = Array.from({ length: 100 }, () => memory.making());
    for (const { allocate } of holders) allocate(LONG);
    for (const { release } of holders) release();
    const { allocate, release } = memory.making();
    const large = allocate(10 * LONG);
    release();
    expect(memory.making().allocate(10 * LONG).buffer).to.equal(large.buffer);
  });

  it('keeps no more free than it is told to', () => {
    const memory = new ReplyMemory(3 * LONG);
    const holders = Array.from({ length: 5 }, () => memory.making());
    const rooms = holders.map(({ allocate }) => allocate(LONG).buffer);
    for (const { release } of holders) release();
    const again = Array.from({ length: 5 }, () => memory.making().allocate(LONG).buffer);
    expect(again.filter((room) => rooms.includes(room))).to.have.length(2);
  });

  it('leaves short replies, and bytes from elsewhere, to the collector', () => {
    const memory = new ReplyMemory(2 ** 26);
    const { allocate, release } = memory.making();
    const short = allocate(100);
    expect(short.buffer.byteLength).to.equal(100);
    release();
    memory.hold(short)();
    memory.hold(Buffer.alloc(LONG))();
    expect(allocate(100).buffer).to.not.equal(short.buffer);
  });

  it('gives no room to two, whoever makes, holds and lets go when', () => {
    interface User { readonly bytes: Buffer; readonly mark: number; readonly release: Release }
    fc.assert(fc.property(fc.array(fc.tuple(fc.nat(2), fc.nat(1_000)), { maxLength: 200 }), (steps) => {
      const memory = new ReplyMemory(2 ** 26);
      const users: User[] = [];
      let marks = 0;
      for (const [what, pick] of steps) {
        const user = users[pick % Math.max(1, users.length)];
        if (what === 0 || user === undefined) {
          const { allocate, release } = memory.making();
          const bytes = allocate(65_536 * (1 + pick % 4));
          const mark = marks++;
          bytes.writeUInt32LE(mark);
          users.push({ bytes, mark, release });
        } else if (what === 1) users.push({ ...user, release: memory.hold(user.bytes) });
        else {
          user.release();
          users.splice(users.indexOf(user), 1);
        }
        for (const { bytes, mark } of users) expect(bytes.readUInt32LE()).to.equal(mark);
      }
    }), { numRuns: 200 });
  });
});
