// The two editions of Bitcoin Core's interface that the service speaks, and everything that differs between them, in one table.
// Endpoints and views read its properties and never ask which edition it is. Endpoints that 0.17 does not have are the same in both.

export interface Profile {
  readonly fields: ProfileFields;
  readonly parsing: ProfileParsing;
  readonly texts: ProfileTexts;
  readonly replies: ProfileReplies;
  readonly limits: ProfileLimits;
  /** Whether calls of Bitcoin Core's JSON-RPC are answered on the node's port as well. */
  readonly rpc: boolean;
}

/** What JSON contains. */
export interface ProfileFields {
  /** Outputs have `desc` and `address` instead of `reqSigs` and `addresses`. */
  readonly descriptors: boolean;
  /** Script features newer than 0.17: the types `witness_v1_taproot` and `anchor`, OP_CHECKSIGADD, `multisig` of 17 to 20 keys. */
  readonly newScripts: boolean;
  /** Inputs of a coinbase show their witness. */
  readonly coinbaseWitness: boolean;
  /** Versions of transactions are unsigned. */
  readonly unsignedVersion: boolean;
  /** Blocks show `coinbase_tx`, and the outputs that they spend with the fees that follow from them. */
  readonly spentOutputs: boolean;
  /** Blocks show all of their header before anything else, and their transactions last. */
  readonly headerFirst: boolean;
  /** Headers, blocks and the state of the chain show `target`; the state of the chain also shows `bits` and `time`. */
  readonly target: boolean;
  /** The state of the chain lists soft forks. Otherwise only `deploymentinfo` does. */
  readonly softForks: boolean;
  /** Pool and entries have the fields of a pool that is ordered by chunks. */
  readonly chunks: boolean;
  /** Warnings are a list of texts instead of one text. */
  readonly warningsInList: boolean;
  /** Entries of the pool show `bip125-replaceable`. */
  readonly bip125: boolean;
  /** The summary of the pool shows `fullrbf`. */
  readonly fullRbf: boolean;
}

/** How requests are parsed. */
export interface ProfileParsing {
  /** The path ends at the last question mark. Otherwise the query is part of the suffix after the last dot. */
  readonly cutsQuery: boolean;
  /** Headers may be asked for with their count in the query. */
  readonly countInQuery: boolean;
  /** Whole numbers are digits and nothing else, and outpoints have one form only. */
  readonly isStrict: boolean;
  /** The pool's two paths share one route, and its contents take parameters. */
  readonly poolParameters: boolean;
}

/** Texts that the editions word differently. */
export interface ProfileTexts {
  /** The list in the format error of headers. */
  readonly headerFormats: string;
  readonly noHeaderCount: string;
  /** `text`: as typed. `most`: the limit. */
  readonly headerCountOutOfRange: (text: string, most: number) => string;
}

/** Statuses and headers. */
export interface ProfileReplies {
  readonly queueFullStatus: number;
  /** The status for methods other than GET, HEAD, POST, PUT and DELETE. */
  readonly unknownMethodStatus: number;
  /** Every reply says whether it may be cached. */
  readonly cacheControl: boolean;
  /** The coinbase of the genesis block, whose output cannot be spent, is found as a transaction. */
  readonly genesisCoinbase: boolean;
  /** The status for a block that is lost or damaged on the node's disk. */
  readonly unreadableBlockStatus: 404 | 500;
}

/** Defaults of options. */
export interface ProfileLimits {
  /** Requests that are worked on at a time. */
  readonly threads: number;
  /** Requests that may wait for their turn. */
  readonly workQueue: number;
}

/** The editions by the names of their releases. */
export const PROFILES = {
  '0.17': {
    fields: {
      descriptors: false,
      newScripts: false,
      coinbaseWitness: false,
      unsignedVersion: false,
      spentOutputs: false,
      headerFirst: false,
      target: false,
      softForks: true,
      chunks: false,
      warningsInList: false,
      bip125: false,
      fullRbf: false
    },
    parsing: { cutsQuery: false, countInQuery: false, isStrict: false, poolParameters: false },
    texts: {
      headerFormats: '.bin, .hex',
      noHeaderCount: 'No header count specified. Use /rest/headers/<count>/<hash>.<ext>.',
      headerCountOutOfRange: (text) => `Header count out of range: ${text}`
    },
    replies: { queueFullStatus: 500, unknownMethodStatus: 501, cacheControl: false, genesisCoinbase: true, unreadableBlockStatus: 404 },
    limits: { threads: 4, workQueue: 16 },
    rpc: false
  },
  modern: {
    fields: {
      descriptors: true,
      newScripts: true,
      coinbaseWitness: true,
      unsignedVersion: true,
      spentOutputs: true,
      headerFirst: true,
      target: true,
      softForks: false,
      chunks: true,
      warningsInList: true,
      bip125: false,
      fullRbf: false
    },
    parsing: { cutsQuery: true, countInQuery: true, isStrict: true, poolParameters: true },
    texts: {
      headerFormats: '.bin, .hex, .json',
      noHeaderCount: 'Invalid URI format. Expected /rest/headers/<hash>.<ext>?count=<count>',
      headerCountOutOfRange: (text, most) => `Header count is invalid or out of acceptable range (1-${most}): ${text}`
    },
    replies: { queueFullStatus: 503, unknownMethodStatus: 405, cacheControl: true, genesisCoinbase: false, unreadableBlockStatus: 500 },
    limits: { threads: 16, workQueue: 64 },
    rpc: true
  }
} as const satisfies Readonly<Record<string, Profile>>;

/** The fields that Bitcoin Core's `-deprecatedrpc` brings back, by its names. */
const DEPRECATED = {
  bip125: { bip125: true },
  fullrbf: { fullRbf: true },
  warnings: { warningsInList: false }
} as const satisfies Readonly<Record<string, Partial<ProfileFields>>>;

/** The profile with some deprecated fields brought back. */
export function withDeprecated(profile: Profile, names: readonly (keyof typeof DEPRECATED)[]): Profile {
  return { ...profile, fields: names.reduce((fields, name) => ({ ...fields, ...DEPRECATED[name] }), profile.fields) };
}
