// Bitcoin Core's regtest in the format of bitcoinjs-lib, which @bitcoinerlab's packages take.

import { coreRegtestPrefixes } from './chain-a';

const { bech32, pubkeyhash: pubKeyHash, scripthash: scriptHash } = coreRegtestPrefixes;

export const REGTEST = {
  messagePrefix: '\x18Bitcoin Signed Message:\n',
  bip32: { public: 0x043587cf, private: 0x04358394 },
  wif: 0xef,
  bech32,
  pubKeyHash,
  scriptHash
};
