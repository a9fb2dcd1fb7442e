import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { Unfinished, type UnfinishedMessage } from '../../lib/server/bounds/unfinished';

const LARGE = 100_000;

/** A client far away, and others. */
const [ONE, OTHER, THIRD] = ['192.0.2.1', '198.51.100.1', '203.0.113.1'];
const LOOPBACK = '127.0.0.1';

describe('the memory for unfinished messages', () => {
  let account: Unfinished;
  let dropped: string[];

  beforeEach(() => {
    account = new Unfinished({ largeBytes: 10 * LARGE, smallBytes: 1_000 });
    dropped = [];
  });

  const begin = (name: string, address: string, bytes: number, isTrusted = false): UnfinishedMessage => {
    const message = account.open(address, () => dropped.push(name), isTrusted);
    message.set(bytes);
    return message;
  };

  it('goes to those that began last: the oldest message makes room', () => {
    for (let i = 0; i < 12; i++) begin(`large ${i}`, LOOPBACK, LARGE);
    expect(dropped).to.deep.equal(['large 0', 'large 1']);
  });

  it('is free again when a message is finished', () => {
    for (let i = 0; i < 50; i++) begin(`large ${i}`, LOOPBACK, LARGE).set(0);
    expect(dropped).to.deep.equal([]);
  });

  it('has a reserve for small messages', () => {
    for (let i = 0; i < 10; i++) begin(`large ${i}`, LOOPBACK, LARGE);
    for (let i = 0; i < 10; i++) begin(`small ${i}`, LOOPBACK, 100);
    expect(dropped).to.deep.equal([]);
    begin('small 10', LOOPBACK, 1);
    expect(dropped).to.deep.equal(['small 0']);
    begin('large 10', LOOPBACK, LARGE);
    expect(dropped).to.deep.equal(['small 0', 'large 0']);
  });

  it('counts a message that has grown with the large ones', () => {
    const message = begin('growing', LOOPBACK, 600);
    message.set(LARGE);
    begin('small', LOOPBACK, 600);
    for (let i = 0; i < 10; i++) begin(`large ${i}`, LOOPBACK, LARGE);
    expect(dropped).to.deep.equal(['growing']);
    message.set(2 * LARGE);
    expect(dropped, 'dropped once, and no longer counted').to.deep.equal(['growing']);
  });

  it('counts a message that has shrunk with the small ones', () => {
    const message = begin('shrinking', LOOPBACK, LARGE);
    begin('small', LOOPBACK, 600);
    message.set(600);
    expect(dropped).to.deep.equal(['small']);
  });

  it('has a share for each address, which takes nothing from the others', () => {
    begin('other', OTHER, 2 * LARGE);
    for (let i = 0; i < 4; i++) begin(`one ${i}`, ONE, LARGE);
    expect(dropped).to.deep.equal(['one 0', 'one 1']);
    begin('third', THIRD, 2 * LARGE);
    expect(dropped).to.have.length(2);
  });

  it('has no shares for the node’s own machine and for clients that are trusted', () => {
    for (const [name, address, isTrusted] of [
      ['proxy', LOOPBACK, false],
      ['trusted', ONE, true]
    ] as const) {
      const messages = Array.from({ length: 8 }, (_, i) => begin(`${name} ${i}`, address, LARGE, isTrusted));
      expect(dropped).to.deep.equal([]);
      for (const message of messages) message.set(0);
    }
  });

  it('drops a message that is longer than all may be together', () => {
    begin('too long', LOOPBACK, 11 * LARGE);
    expect(dropped).to.deep.equal(['too long']);
    begin('next', LOOPBACK, 10 * LARGE);
    expect(dropped).to.deep.equal(['too long']);
  });
});
