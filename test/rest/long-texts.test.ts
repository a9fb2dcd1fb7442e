import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AGAIN, AnswerCache } from '../../lib/rest/cache/answers';
import { LongTexts, type HeldText } from '../../lib/rest/cache/block-texts';
import { ReplyMemory } from '../../lib/rest/cache/buffers';
import { caught } from '../support/caught';
import { afterThisTurn } from '../support/turn';
import type { Allocate } from '../../lib/bitcoin/text-writer';

const LENGTH = 200_000;
const here = { isGone: false };

/** Writes the letter all over, in more than one turn of the event loop. */
function* filled(letter: string, allocate: Allocate): Generator<void, Buffer> {
  const bytes = allocate(LENGTH).subarray(0, LENGTH);
  bytes.fill(letter);
  const isLater = afterThisTurn();
  while (!isLater()) yield;
  return bytes;
}

describe('long texts', () => {
  const open = (cacheBytes = 1_000_000): LongTexts<Buffer> => new LongTexts(new AnswerCache(cacheBytes), 'a', new ReplyMemory(2 ** 26), (bytes) => bytes, AGAIN);
  const make = async (texts: LongTexts<Buffer>, key: string): Promise<HeldText<Buffer>> => texts.make(key, here, (allocate) => filled(key, allocate));
  const afterTurn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

  it('are kept when they are asked for a second time', async () => {
    const texts = open();
    await make(texts, 'x');
    expect(texts.get('x')).to.equal(undefined);
    const { text } = await make(texts, 'x');
    expect(texts.get('x')?.text).to.equal(text);
  });

  it('are not kept when as much was asked for since as the cache has room for', async () => {
    const texts = open(3 * LENGTH);
    for (const key of ['x', 'a', 'b', 'c', 'x']) await make(texts, key);
    expect(texts.get('x')).to.equal(undefined);
  });

  it('are made once for all who ask meanwhile, and whole until the last of them has let go', async () => {
    const texts = open();
    const [one, other] = await Promise.all([make(texts, 'x'), make(texts, 'x')]);
    expect(one.text).to.equal(other.text);
    await afterTurn();
    one.release();
    expect((await make(texts, 'y')).text.buffer).to.not.equal(one.text.buffer);
    other.release();
    expect((await make(texts, 'z')).text.buffer).to.equal(one.text.buffer);
  });

  it('stay whole while they are kept, and give their memory back when they are not', async () => {
    const texts = open(2 * LENGTH);
    for (const { release } of [await make(texts, 'x'), await make(texts, 'x')]) release();
    const kept = texts.get('x') as HeldText<Buffer>;
    kept.release();
    await afterTurn();
    for (const key of ['a', 'b']) {
      (await make(texts, key)).release();
      await afterTurn();
    }
    expect(kept.text.every((byte) => byte === 0x78)).to.equal(true);
    // One more is kept instead.
    for (let time = 0; time < 2; time++) {
      (await make(texts, 'c')).release();
      await afterTurn();
    }
    expect(texts.get('x')).to.equal(undefined);
    expect((await make(texts, 'd')).text.buffer).to.equal(kept.text.buffer);
  });

  it('are renewed in memory of their own', async () => {
    const texts = open();
    for (const { release } of [await make(texts, 'x'), await make(texts, 'x')]) release();
    const before = texts.get('x') as HeldText<Buffer>;
    const renewed = texts.renew('x', (allocate) => allocate(LENGTH).fill('y'));
    before.release();
    expect(renewed.text.buffer).to.not.equal(before.text.buffer);
    expect(texts.get('x')?.text).to.equal(renewed.text);
  });

  it('give their memory back when they cannot be made', async () => {
    const texts = open();
    for (const isOver of [() => true, afterThisTurn()]) {
      let room: ArrayBufferLike | undefined;
      function* failing(allocate: Allocate): Generator<void, Buffer> {
        room = allocate(LENGTH).buffer;
        while (!isOver()) yield;
        throw new Error('broken view');
      }
      expect(await caught((async () => texts.make('x', here, failing))())).to.have.property('message', 'broken view');
      await afterTurn();
      const { text, release } = await make(texts, 'y');
      expect(text.buffer).to.equal(room);
      release();
      await afterTurn();
    }
  });
});
