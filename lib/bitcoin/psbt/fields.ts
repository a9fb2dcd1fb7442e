// The fields of a PSBT's maps: how the value of each is read, and which values stand for nothing.

import { ByteReader } from '../reader';
import { broken } from './errors';
import { GLOBAL, INPUT, OUTPUT, PROPRIETARY } from './psbt';
import {
  leavesIn,
  readBytes,
  readCount,
  readExactly,
  readLeaf,
  readNonce,
  readOutput,
  readParticipants,
  readPath,
  readSchnorr,
  readScript,
  readSignature,
  readTapPath,
  readUnsigned,
  readWholeOutput,
  readWitness,
  requireControlBlock,
  requireKeyLength,
  requireParticipant,
  requirePublicKey,
  requireTree,
  requireXpub
} from './values';

/** Lock times from here on are times, below they are heights. */
const FIRST_TIME = 500_000_000;
const HIGHEST_VERSION = 2;

export const NOT_IN_V0 = 'is not allowed in PSBTv0';

/** Reads the value of a field whose key was read. */
type ReadValue = (reader: ByteReader, key: Buffer) => Buffer;

/** What a map may hold, by types. */
export interface MapForm {
  readonly name: 'global' | 'input' | 'output';
  /** The map in errors. */
  readonly place: string;
  /** The value of a field that is not in here is kept as it is. */
  readonly values: Readonly<Record<number, ReadValue | undefined>>;
  /** Whether a value stands for nothing. */
  readonly isNothing: Readonly<Record<number, ((value: Buffer) => boolean) | undefined>>;
}

/** A field with nothing in its key but its type. */
const single =
  (name: string, read: (reader: ByteReader) => Buffer): ReadValue =>
  (reader, key) => {
    requireKeyLength(name, key, 1);
    return read(reader);
  };

const number = (reader: ByteReader): Buffer => readExactly(reader, 4);
const hash = (reader: ByteReader): Buffer => readExactly(reader, 32);

/** A field of version 2. `words`: what errors call it. */
const ofV2 = (name: string, words: string, version: number, read: (reader: ByteReader) => Buffer): ReadValue =>
  single(name, (reader) => {
    if (version < 2) throw broken(`${words} ${NOT_IN_V0}`);
    return read(reader);
  });

const derivation: ReadValue = (reader, key) => {
  requirePublicKey('BIP32 keypath', key);
  return readPath(reader);
};

const tapDerivation =
  (name: 'Input' | 'Output'): ReadValue =>
  (reader, key) => {
    requireKeyLength(`${name} Taproot BIP32 Keypath`, key, 33);
    return readTapPath(reader, name);
  };

const participants =
  (name: 'Input' | 'Output'): ReadValue =>
  (reader, key) => {
    requireKeyLength(`${name} MuSig2 Participants Pubkeys`, key, 34);
    return readParticipants(reader, key, name);
  };

const preimage =
  (name: string, length: number): ReadValue =>
  (reader, key) => {
    requireKeyLength(`Input ${name} Preimage`, key, 1 + length);
    return readBytes(reader);
  };

const proprietary: ReadValue = (reader, key) => {
  const inner = new ByteReader(key, 1);
  readBytes(inner);
  inner.compactSize();
  return readBytes(reader);
};

const isEmpty = (value: Buffer): boolean => value.length === 0;
const isZero = (value: Buffer): boolean => value.every((byte) => byte === 0);

export const GLOBAL_MAP: MapForm = {
  name: 'global',
  place: 'the global',
  values: {
    [GLOBAL.transaction]: single('Global Unsigned TX', readUnsigned),
    [GLOBAL.version]: single('Global Transaction Version', number),
    [GLOBAL.locktime]: single('Global Fallback Locktime', number),
    [GLOBAL.inputs]: single('Global Input Count', readCount),
    [GLOBAL.outputs]: single('Global Output Count', readCount),
    [GLOBAL.modifiable]: single('Global TX Modifiable Flags', (reader) => readExactly(reader, 1)),
    [GLOBAL.xpub]: (reader, key) => {
      requireXpub(key);
      return readPath(reader);
    },
    [GLOBAL.psbtVersion]: single('Global PSBT Version', (reader) => {
      const value = number(reader);
      if (value.readUInt32LE() > HIGHEST_VERSION) throw broken('Unsupported version number');
      return value;
    }),
    [PROPRIETARY]: proprietary
  },
  isNothing: {}
};

const inputMap = (version: 0 | 2): MapForm => ({
  name: 'input',
  place: 'an input',
  values: {
    [INPUT.wholeOutput]: single('Input Non-witness UTXO', readWholeOutput),
    [INPUT.output]: single('Input Witness UTXO', readOutput),
    [INPUT.signature]: (reader, key) => {
      requirePublicKey('partial signature pubkey', key);
      return readSignature(reader);
    },
    [INPUT.sighash]: single('Input Sighash Type', number),
    [INPUT.redeemScript]: single('Input redeemScript', readScript),
    [INPUT.witnessScript]: single('Input witnessScript', readScript),
    [INPUT.derivation]: derivation,
    [INPUT.finalScript]: single('Input Final scriptSig', readScript),
    [INPUT.finalWitness]: single('Input Final scriptWitness', readWitness),
    [INPUT.ripemd160]: preimage('RIPEMD160', 20),
    [INPUT.sha256]: preimage('SHA256', 32),
    [INPUT.hash160]: preimage('Hash160', 20),
    [INPUT.hash256]: preimage('Hash256', 32),
    [INPUT.txid]: ofV2('Input Previous TXID', 'Previous txid', version, hash),
    [INPUT.index]: ofV2("Input Previous Output's Index", "Previous output's index", version, number),
    [INPUT.sequence]: ofV2('Input Sequence', 'Sequence', version, number),
    [INPUT.timeLock]: ofV2('Input Required Time Based Locktime', 'Required time based locktime', version, (reader) => {
      const value = number(reader);
      if (value.readUInt32LE() < FIRST_TIME) throw broken(`Required time based locktime is invalid (less than ${FIRST_TIME})`);
      return value;
    }),
    [INPUT.heightLock]: ofV2('Input Required Height Based Locktime', 'Required height based locktime', version, (reader) => {
      const value = number(reader);
      const height = value.readUInt32LE();
      if (height >= FIRST_TIME) throw broken(`Required height based locktime is invalid (greater than or equal to ${FIRST_TIME})`);
      if (height === 0) throw broken('Required height based locktime is invalid (0)');
      return value;
    }),
    [INPUT.tapSignature]: single('Input Taproot Key Path Signature', (reader) => readSchnorr(reader, 'key')),
    [INPUT.tapScriptSignature]: (reader, key) => {
      requireKeyLength('Input Taproot Script Path Signature', key, 65);
      return readSchnorr(reader, 'script');
    },
    [INPUT.tapScript]: (reader, key) => {
      requireControlBlock(key);
      return readLeaf(reader);
    },
    [INPUT.tapDerivation]: tapDerivation('Input'),
    [INPUT.tapKey]: single('Input Taproot Internal Key', hash),
    [INPUT.tapRoot]: single('Input Taproot Merkle Root', hash),
    [INPUT.participants]: participants('Input'),
    [INPUT.nonce]: (reader, key) => {
      requireParticipant(key, 'pubnonce');
      return readNonce(reader);
    },
    [INPUT.partialSignature]: (reader, key) => {
      requireParticipant(key, 'partial sig');
      return hash(reader);
    },
    [PROPRIETARY]: proprietary
  },
  isNothing: {
    [INPUT.output]: (value) => value.readBigInt64LE() === -1n,
    [INPUT.redeemScript]: isEmpty,
    [INPUT.witnessScript]: isEmpty,
    [INPUT.finalScript]: isEmpty,
    [INPUT.finalWitness]: isZero,
    [INPUT.tapKey]: isZero,
    [INPUT.tapRoot]: isZero
  }
});

const outputMap = (version: 0 | 2): MapForm => ({
  name: 'output',
  place: 'an output',
  values: {
    [OUTPUT.redeemScript]: single('Output redeemScript', readScript),
    [OUTPUT.witnessScript]: single('Output witnessScript', readScript),
    [OUTPUT.derivation]: derivation,
    [OUTPUT.amount]: ofV2('Output Amount', 'Output amount', version, (reader) => readExactly(reader, 8)),
    [OUTPUT.script]: ofV2('Output Script', 'Output script', version, readScript),
    [OUTPUT.tapKey]: single('Output Taproot Internal Key', hash),
    [OUTPUT.tapTree]: single('Output Taproot Tree Key', (reader) => {
      const tree = readBytes(reader);
      requireTree(leavesIn(new ByteReader(tree)));
      return tree;
    }),
    [OUTPUT.tapDerivation]: tapDerivation('Output'),
    [OUTPUT.participants]: participants('Output'),
    [PROPRIETARY]: proprietary
  },
  isNothing: {
    [OUTPUT.redeemScript]: isEmpty,
    [OUTPUT.witnessScript]: isEmpty,
    [OUTPUT.tapKey]: isZero
  }
});

/** By the version of the PSBT. */
export const INPUT_MAPS = { 0: inputMap(0), 2: inputMap(2) };
export const OUTPUT_MAPS = { 0: outputMap(0), 2: outputMap(2) };
