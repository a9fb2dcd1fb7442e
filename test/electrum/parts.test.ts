import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { ElectrumError } from '../../lib/electrum/errors';
import { Turns, type TurnTaker } from '../../lib/electrum/server/turns';
import { negotiate } from '../../lib/electrum/server/versions';
import { isLoopback } from '../../lib/server/bounds/address-group';
import { Accounts } from '../../lib/server/bounds/cost';
import { LineBuffer } from '../../lib/server/sockets/line-buffer';

describe('lines', () => {
  it('come out as they went in, however they are cut, except those that are too long', () => {
    const most = 20;
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 30 })), fc.array(fc.integer({ min: 1, max: 50 })), (texts, lengths) => {
        const lines = new LineBuffer(most);
        const plain = texts.map((text) => text.replaceAll('\n', ''));
        const bytes = Buffer.from(plain.map((text) => `${text}\n`).join(''));
        const found: string[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const length = lengths.length === 0 ? bytes.length : (lengths[i % lengths.length] as number);
          lines.push(bytes.subarray(at, at + length));
          for (let line = lines.next(); line !== undefined; line = lines.next()) found.push(line.toString());
          at += length;
        }
        expect(found).to.deep.equal(plain.filter((text) => Buffer.byteLength(text) <= most));
        expect(lines.memoryBytes).to.equal(0);
      })
    );
  });

  it('take memory while they are incomplete: at most twice their bytes, however many pieces they come in', () => {
    const lines = new LineBuffer(1_000);
    for (let i = 0; i < 300; i++) {
      lines.push(Buffer.from('x'));
      expect(lines.next()).to.equal(undefined);
    }
    expect(lines.memoryBytes).to.equal(512);
    lines.push(Buffer.from('\n'));
    expect(lines.next()).to.have.length(300);
    expect(lines.memoryBytes).to.equal(1);
    expect([lines.next(), lines.memoryBytes]).to.deep.equal([undefined, 0]);
  });
});

describe('the version of the protocol', () => {
  it('is the highest that both sides speak', () => {
    const agreed: readonly (readonly [asked: unknown, version: string])[] = [
      [undefined, '1.4'],
      ['1.4', '1.4'],
      ['1.4.0', '1.4'],
      ['1.4.2', '1.4.2'],
      [' 1.4', '1.4'],
      ['1. 4 .2\n', '1.4.2'],
      [[' 1.4 ', '1.4.2 '], '1.4.2'],
      [['1.4', '1.4.2'], '1.4.2'],
      [['0', '9999'], '1.6']
    ];
    for (const [asked, version] of agreed) expect(negotiate(asked), JSON.stringify(asked)).to.deep.equal({ version, protocol: version });
  });

  it('may be between two that are known: then it is the same as the lower one', () => {
    const agreed: readonly (readonly [asked: unknown, version: string, protocol: string])[] = [
      ['1.4.9', '1.4.9', '1.4.3'],
      ['1.5.1.0', '1.5.1', '1.5'],
      [['1.4.4', '1.4.9'], '1.4.9', '1.4.3'],
      [['1.2', '1.5.3'], '1.5.3', '1.5']
    ];
    for (const [asked, version, protocol] of agreed) expect(negotiate(asked), JSON.stringify(asked)).to.deep.equal({ version, protocol });
  });

  it('is refused if it is malformed or unknown', () => {
    for (const asked of [
      '',
      '1.3',
      '1.10',
      '1.6.0.1',
      1.4,
      null,
      {},
      [],
      ['1.4'],
      ['1.4', '1.5', '1.6'],
      ['1.6', '1.4'],
      ['1.7', '2'],
      '1 .',
      '1 4'
    ])
      expect(() => negotiate(asked), JSON.stringify(asked)).to.throw(ElectrumError, 'unsupported protocol version');
  });
});

describe('what a client costs', () => {
  it('slows it down, and finally cuts it off; loopback is free', () => {
    const accounts = new Accounts(100_000, isLoopback);
    const account = accounts.of('192.0.2.1');
    account.charge(9_000);
    expect([account.delayMs, account.isOverdrawn]).to.deep.equal([0, false]);
    account.charge(46_000);
    expect(account.delayMs).to.be.within(1_200, 1_250);
    // The next connection of the same address continues with the same account.
    accounts.of('192.0.2.1').charge(60_000);
    expect([account.delayMs, account.isOverdrawn]).to.deep.equal([2_500, true]);
    expect(accounts.of('192.0.2.2').isOverdrawn).to.equal(false);
    for (const free of [accounts.of('127.0.0.1'), accounts.of('::1'), new Accounts(0, isLoopback).of('192.0.2.1')]) {
      free.charge(1e9);
      expect([free.delayMs, free.isOverdrawn]).to.deep.equal([0, false]);
    }
  });

  it('is forgotten once it has drained away and the client has gone', () => {
    const accounts = new Accounts(100, isLoopback);
    accounts.of('192.0.2.1').charge(200);
    accounts.of('192.0.2.2');
    accounts.sweep(() => false);
    expect(accounts.of('192.0.2.1').isOverdrawn).to.equal(true);
    // One whose client is there stays, since the client charges it.
    const there = accounts.of('192.0.2.3');
    accounts.sweep((group) => group === '192.0.2.3');
    expect(accounts.of('192.0.2.3')).to.equal(there);
    accounts.sweep(() => false);
    expect(accounts.of('192.0.2.3')).not.to.equal(there);
  });
});

describe('turns', () => {
  it('go round: no session waits for all requests of another', async () => {
    const order: string[] = [];
    const turns = new Turns('small', 2);
    const taker = (name: string, count: number): TurnTaker => {
      let left = count;
      return {
        hasWork: () => left > 0,
        begin: async () => {
          left--;
          order.push(name);
          await new Promise(setImmediate);
        },
        tookLong: () => undefined
      };
    };
    const [much, little] = [taker('much', 6), taker('little', 2)];
    turns.want(much);
    turns.want(little);
    while (order.length < 8) await new Promise(setImmediate);
    // On a busy machine the first request may take the whole turn: then the second begins after the other session has come.
    const before = order.indexOf('little');
    expect(before).to.be.within(2, 3);
    expect(order.slice(before)).to.deep.equal(['little', 'much', 'little', ...Array.from({ length: 5 - before }, () => 'much')]);
  });

  it('say what a request took for which all others had to wait', () => {
    let left = 1;
    let took = 0;
    new Turns('heavy', 1).want({
      hasWork: () => left > 0,
      begin: () => {
        left--;
        for (const end = performance.now() + 20; performance.now() < end;);
        return undefined;
      },
      tookLong: (ms) => (took += ms)
    });
    expect(took).to.be.greaterThan(10);
  });
});
