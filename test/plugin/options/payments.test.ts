import { expect } from 'chai';
import { describe, it } from 'mocha';
import { expectRefused, optionsOf, type Settings } from './real-config';

describe('options for payments', () => {
  it('accept payments only if a folder is given, and name the URL for customers', async () => {
    const { payments } = await optionsOf({
      'rest-payments': '/tmp/shop/../shop',
      'rest-payments-url': 'https://shop.example/a',
      'api-key': 'sesame'
    });
    expect(payments).to.deep.equal({ folder: '/tmp/shop', publicUrl: 'https://shop.example/a', notifyOrigins: [] });
    const told = { 'rest-payments': '/tmp/shop', 'rest-payments-notify': 'https://a.example,http://127.0.0.1:8080', 'api-key': 'sesame' };
    expect((await optionsOf(told)).payments?.notifyOrigins).to.deep.equal(['https://a.example', 'http://127.0.0.1:8080']);
    const wrongPayments: readonly [Settings, string][] = [
      [{ 'rest-payments': '/tmp/shop' }, '--rest-payments needs the node to have a key: set --api-key'],
      [{ 'rest-payments': '', 'api-key': 'sesame' }, "--rest-payments must be a folder, not ''"],
      [{ 'rest-payments-url': 'https://shop.example' }, '--rest-payments-url has no effect without --rest-payments'],
      [{ 'rest-payments-notify': 'https://shop.example' }, '--rest-payments-notify has no effect without --rest-payments'],
      ...[
        'https://shop.example/paid',
        'shop.example',
        '*',
        'https://a.example,',
        Array.from({ length: 17 }, () => 'https://a.example').join()
      ].map((origins): [Record<string, string>, string] => [
        { 'rest-payments': '/tmp/shop', 'api-key': 'sesame', 'rest-payments-notify': origins },
        '--rest-payments-notify must be at most 16 origins such as https://shop.example, separated by commas'
      ]),
      [
        { 'rest-payments': '/tmp/shop', 'api-key': 'sesame', 'rest-payments-url': 'https://shop.example/' },
        "--rest-payments-url must be an http or https address without a slash at its end, not 'https://shop.example/'"
      ],
      [
        { 'rest-payments': '/tmp/shop', 'api-key': 'sesame', 'rest-payments-url': 'shop.example' },
        '--rest-payments-url must be an http or https address'
      ],
      [
        { 'rest-payments': '/tmp/shop', 'api-key': 'sesame', 'rest-payments-url': 'https://:80' },
        '--rest-payments-url must be an http or https address'
      ],
      [
        { 'rest-payments': '/tmp/shop', 'api-key': 'sesame', 'rest-payments-url': 'https://l\u00e4den.example' },
        '--rest-payments-url must be an http or https address'
      ]
    ];
    for (const [settings, sentence] of wrongPayments) await expectRefused(settings, sentence);
  });
});
