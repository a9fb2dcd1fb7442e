import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { BlockTexts, type HeldText } from '../../../lib/answers/blocks/texts';
import { caught } from '../../support/expectations/caught';
import { afterThisTurn } from '../../support/expectations/turn';
import type { Allocate } from '../../../lib/bitcoin/text-writer';

const LENGTH = 1_000_000;
const here = { isGone: false };

const afterTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Fills a text with the letter, in more than one turn of the event loop. */
function* filled(letter: string, length: number, allocate: Allocate): Generator<void, Buffer> {
  const bytes = allocate(length).subarray(0, length);
  bytes.fill(letter);
  const isLater = afterThisTurn();
  while (!isLater()) yield;
  return bytes;
}

/** Makes a text that repeats its key's first letter. */
const make = (texts: BlockTexts, key: string, length = LENGTH): Promise<HeldText> =>
  texts.make(key, here, (allocate) => filled(key, length, allocate));

/** Makes a text and releases it; resolves with its memory once it has no holders. */
async function makeAndLeave(texts: BlockTexts, key: string, length?: number): Promise<ArrayBufferLike> {
  const { text, release } = await make(texts, key, length);
  release();
  await afterTurn();
  return text.buffer;
}

describe('texts of blocks', () => {
  it('are found again until their memory is needed', async () => {
    const texts = new BlockTexts(2.5 * LENGTH);
    const memory = await makeAndLeave(texts, 'x');
    await makeAndLeave(texts, 'y');
    const again = texts.get('x');
    expect([again?.text.buffer, again?.text.every((byte) => byte === 0x78), texts.get('z')]).to.deep.equal([memory, true, undefined]);
    again?.release();
    // This text was asked for again, so the other one is dropped first.
    for (const key of ['a', 'b', 'c']) await makeAndLeave(texts, key);
    expect(texts.get('y')).to.equal(undefined);
    const [c, x] = [texts.get('c'), texts.get('x')];
    expect(x?.text.buffer).to.equal(memory);
    x?.release();
    c?.release();
    await makeAndLeave(texts, 'z');
    expect([texts.get('x'), texts.get('c') === undefined]).to.deep.equal([undefined, false]);
  });

  it('give their memory to others once all holders have released them', async () => {
    const texts = new BlockTexts(2 * LENGTH);
    const [x, y] = [await make(texts, 'x'), await make(texts, 'y')];
    const second = texts.get('x');
    await afterTurn();
    x.release();
    x.release();
    y.release();
    // There is space for one.
    expect((await make(texts, 'a')).text.buffer).to.equal(y.text.buffer);
    expect((await make(texts, 'b')).text.buffer).to.not.equal(x.text.buffer);
    second?.release();
    expect((await make(texts, 'c')).text.buffer).to.equal(x.text.buffer);
    expect([texts.get('x'), texts.get('y')]).to.deep.equal([undefined, undefined]);
  });

  it('are made once for all clients that ask meanwhile, and stay whole until the last of them has released them', async () => {
    const texts = new BlockTexts(2 * LENGTH);
    const [one, other] = await Promise.all([make(texts, 'x'), make(texts, 'x')]);
    expect(one.text).to.equal(other.text);
    await afterTurn();
    one.release();
    expect((await make(texts, 'y')).text.buffer).to.not.equal(one.text.buffer);
    other.release();
    expect((await make(texts, 'z')).text.buffer).to.equal(one.text.buffer);
  });

  it('get no buffer that is much larger than they are', async () => {
    const texts = new BlockTexts(10 * LENGTH);
    const large = await makeAndLeave(texts, 'x', 8 * LENGTH);
    expect(await makeAndLeave(texts, 'y'))
      .to.have.property('byteLength')
      .that.is.within(LENGTH, 2 * LENGTH);
    expect(await makeAndLeave(texts, 'z', 7 * LENGTH)).to.equal(large);
  });

  it('keep no more free memory than configured', async () => {
    const texts = new BlockTexts(3 * LENGTH);
    const held = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((key) => make(texts, key)));
    await afterTurn();
    for (const { release } of held) release();
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => texts.get(key) !== undefined)).to.deep.equal([false, false, false, true, true]);
  });

  it('give their memory back when they cannot be made', async () => {
    const texts = new BlockTexts(2 ** 26);
    for (const [key, isOver] of [
      ['a', () => true],
      ['b', afterThisTurn()]
    ] as const) {
      let memory: ArrayBufferLike | undefined;
      function* failing(allocate: Allocate): Generator<void, Buffer> {
        memory = allocate(LENGTH).buffer;
        while (!isOver()) yield;
        throw new Error('broken view');
      }
      expect(await caught(texts.make('x', here, failing))).to.have.property('message', 'broken view');
      await afterTurn();
      expect(await makeAndLeave(texts, key)).to.equal(memory);
      expect(texts.get('x')).to.equal(undefined);
    }
  });

  it('share no memory, in any order of making, holding and releasing', async () => {
    interface User {
      readonly held: HeldText;
      readonly key: string;
    }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(3), fc.nat(1_000)), { maxLength: 60 }), async (steps) => {
        const texts = new BlockTexts(300_000);
        const users: User[] = [];
        for (const [what, pick] of steps) {
          const user = users[pick % Math.max(1, users.length)];
          if (what <= 1 || user === undefined) {
            const key = String.fromCharCode(0x61 + (pick % 7));
            const view = function* (allocate: Allocate): Generator<void, Buffer> {
              yield;
              return allocate(60_000 * (1 + (pick % 7)))
                .subarray(0, 100)
                .fill(key);
            };
            users.push({ key, held: await texts.make(key, here, view) });
            if (what === 0) await afterTurn();
          } else if (what === 2) {
            const held = texts.get(user.key);
            if (held !== undefined) users.push({ key: user.key, held });
          } else {
            user.held.release();
            users.splice(users.indexOf(user), 1);
          }
          for (const {
            key,
            held: { text }
          } of users)
            expect(text.toString('latin1', 0, 100)).to.equal(key.repeat(100));
        }
      }),
      { numRuns: 100 }
    );
  });
});
