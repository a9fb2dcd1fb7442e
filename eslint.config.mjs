import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

// What every interface may import. None imports another one.
export const belowInterfaces = [
  'lib/system',
  'lib/turns',
  'lib/describe',
  'lib/bitcoin',
  'lib/policy',
  'lib/node',
  'lib/views',
  'lib/pool',
  'lib/follow',
  'lib/index',
  'lib/scripts',
  'lib/addresses',
  'lib/server',
  'lib/answers'
];

// For each module, the modules that it may import (docs/architecture.md): some of those above it in this table.
export const modules = {
  'lib/system': [],
  'lib/turns': [],
  'lib/describe': [],
  'lib/bitcoin': [],
  'lib/clusters': [],
  'lib/taproot': ['lib/bitcoin'],
  'lib/policy': ['lib/turns', 'lib/bitcoin', 'lib/clusters', 'lib/taproot'],
  'lib/payments': [],
  'lib/store': ['lib/system', 'lib/turns'],
  'lib/node': ['lib/system', 'lib/turns', 'lib/bitcoin', 'lib/clusters', 'lib/taproot', 'lib/policy'],
  'lib/views': ['lib/describe', 'lib/bitcoin', 'lib/policy'],
  'lib/pool': ['lib/turns', 'lib/bitcoin', 'lib/clusters', 'lib/node'],
  'lib/follow': ['lib/system', 'lib/bitcoin', 'lib/store', 'lib/node'],
  'lib/index': ['lib/system', 'lib/turns', 'lib/bitcoin', 'lib/store', 'lib/node', 'lib/follow'],
  'lib/scripts': ['lib/system', 'lib/turns', 'lib/bitcoin', 'lib/store', 'lib/node', 'lib/follow', 'lib/index'],
  'lib/addresses': ['lib/system', 'lib/turns', 'lib/bitcoin', 'lib/store', 'lib/node', 'lib/follow', 'lib/index', 'lib/scripts'],
  'lib/snapshot': ['lib/system', 'lib/bitcoin', 'lib/store', 'lib/node', 'lib/follow', 'lib/index', 'lib/scripts'],
  'lib/fleet': ['lib/system', 'lib/turns', 'lib/bitcoin', 'lib/policy', 'lib/node', 'lib/follow', 'lib/index'],
  'lib/watch': ['lib/system', 'lib/turns', 'lib/bitcoin', 'lib/taproot', 'lib/node', 'lib/follow', 'lib/index'],
  'lib/server': ['lib/system', 'lib/turns', 'lib/describe', 'lib/bitcoin', 'lib/node', 'lib/views', 'lib/index', 'lib/scripts'],
  'lib/answers': [
    'lib/system',
    'lib/turns',
    'lib/describe',
    'lib/bitcoin',
    'lib/clusters',
    'lib/policy',
    'lib/node',
    'lib/views',
    'lib/pool',
    'lib/follow',
    'lib/index',
    'lib/scripts',
    'lib/server'
  ],
  'lib/rest': belowInterfaces,
  'lib/rpc': belowInterfaces,
  'lib/esplora': belowInterfaces,
  'lib/electrum': belowInterfaces,
  'lib/zmq': ['lib/system', 'lib/turns', 'lib/bitcoin', 'lib/node', 'lib/follow', 'lib/index'],
  'lib/rehearsal': ['lib/system', 'lib/turns', 'lib/bitcoin', 'lib/node', 'lib/index', 'lib/scripts', 'lib/server'],
  'lib/metrics': ['lib/system', 'lib/node', 'lib/index', 'lib/scripts', 'lib/addresses', 'lib/server', 'lib/answers'],
  'lib/web': ['lib/server'],
  'lib/explorer': ['lib/bitcoin', 'lib/node', 'lib/index', 'lib/scripts', 'lib/addresses', 'lib/server', 'lib/web'],
  'lib/merchant': [...belowInterfaces, 'lib/payments', 'lib/store', 'lib/web'],
  migrations: ['lib/store']
};

// Further files of which a module may import only types: the types of its functions' parameters.
const types = { 'lib/views': ['lib/index/types', 'lib/scripts/types', 'lib/node/types/[a-z-]+', 'lib/pool/order/[a-z]+'] };

// What a folder of a module may import from that module: other folders, and files in the module's top folder.
export const folders = {
  'lib/taproot/tapscript': ['curve', 'script-error', 'signature', 'signature-hash'],
  'lib/payments/rules': ['error', 'messages', 'web-url'],
  'lib/payments/transport': ['error', 'rules'],
  'lib/payments/x509': ['error'],
  'lib/store/leveldb-files': ['store'],
  'lib/index/records': ['types'],
  'lib/index/scan': ['records'],
  'lib/index/coins': ['types', 'records', 'scan'],
  'lib/index/utxo-hash': ['types', 'records', 'scan'],
  'lib/index/read': ['types', 'errors', 'records', 'coins', 'utxo-hash'],
  'lib/index/write': ['types', 'records', 'scan', 'coins', 'read'],
  'lib/index/progress': ['types'],
  'lib/index/bootstrap': ['types', 'errors', 'records', 'scan', 'write', 'progress'],
  'lib/index/follow': ['types', 'errors', 'records', 'scan', 'write', 'progress', 'bootstrap'],
  'lib/fleet/messages': [],
  'lib/fleet/log': ['messages'],
  'lib/fleet/feed': ['messages', 'log'],
  'lib/fleet/readers': ['messages', 'log'],
  'lib/fleet/reader': ['messages', 'log', 'readers'],
  'lib/scripts/records': [],
  'lib/scripts/scan': ['errors', 'records'],
  'lib/scripts/txids': ['errors', 'records'],
  'lib/scripts/read': ['types', 'errors', 'script-coins', 'records', 'txids'],
  'lib/scripts/write': ['types', 'records', 'scan', 'txids'],
  'lib/scripts/fill': ['types', 'errors', 'records', 'scan', 'txids'],
  'lib/node/types': ['errors'],
  'lib/node/modern-pool': ['host', 'types', 'errors', 'broadcaster', 'curve', 'first-checks'],
  'lib/pool/order': [],
  'lib/pool/by-script': ['summary'],
  'lib/pool/projection': ['order', 'by-script'],
  'lib/views/esplora': ['json-writer'],
  'lib/server/bounds': [],
  'lib/server/figures': [],
  'lib/server/work': ['errors', 'figures'],
  'lib/server/cache': ['http/reply'],
  'lib/server/consistency': ['errors', 'limits', 'bounds'],
  'lib/server/json': [],
  'lib/server/json-rpc': ['json'],
  'lib/server/ports': [],
  'lib/server/http': ['errors', 'limits', 'bounds'],
  'lib/server/sockets': ['errors', 'limits', 'logger', 'serving', 'app', 'bounds', 'http'],
  'lib/answers/blocks': ['scripts/txids'],
  'lib/answers/chain': ['blocks', 'scripts/txids'],
  'lib/answers/pool': [],
  'lib/answers/transactions': ['errors', 'blocks', 'scripts'],
  'lib/answers/scripts': ['blocks', 'transactions'],
  'lib/answers/updates': [],
  'lib/answers/status': ['scripts', 'updates'],
  'lib/answers/outpoints': ['transactions', 'updates'],
  'lib/rest/endpoints': ['errors', 'format', 'operations', 'outpoints', 'endpoint'],
  'lib/merchant/orders': [],
  'lib/merchant/webhooks': ['orders'],
  'lib/rpc/calls': ['errors', 'parameters', 'call', 'known-block'],
  'lib/esplora/endpoints': ['errors', 'operations', 'reply', 'endpoint', 'blocks'],
  'lib/esplora/mempool': ['errors', 'operations', 'reply', 'endpoint', 'blocks', 'messages'],
  'lib/esplora/push': ['endpoint', 'blocks', 'messages', 'mempool'],
  'lib/electrum/methods': ['errors', 'method', 'about', 'outpoint-text'],
  'lib/electrum/server': ['errors', 'method', 'outpoint-text'],
  'lib/rpc/server': ['errors', 'parameters', 'call', 'call-table', 'json-rpc', 'own-calls']
};

// Folders of test/support: each may import those before it.
const supportFolders = ['expectations', 'process', 'bcoin', 'client', 'chain', 'index', 'fleet', 'node', 'pool', 'recorded', 'programs'];

const withNames = (kind, source) => `ImportDeclaration[importKind="${kind}"][specifiers.length>0][source.value=/^${source}/]`;

/** Node's modules, packages, own files; then what is only imported as a type, in the same order. */
const importOrder = [
  ...['value', 'type'].flatMap((kind) => [
    `${withNames(kind, '\\.')} ~ ${withNames(kind, '[^.]')}`,
    `${withNames(kind, '(?!node:)[^.]')} ~ ${withNames(kind, 'node:')}`
  ]),
  `${withNames('type', '')} ~ ${withNames('value', '')}`
].map((selector) => ({ selector, message: "Imports are in this order: Node's modules, packages, own files; then types, likewise." }));

const bcoinRule = { regex: '^bcoin(/|$)', message: 'bcoin is reached through the running node only.' };

/** Refuses imports from a module into modules that it may not use. */
const modulePatterns = (module) => {
  const forbidden = [...Object.keys(modules), 'plugin'].filter((other) => other !== module && !modules[module].includes(other));
  const typeFiles = types[module] ?? [];
  const pattern = (path, end) => `^(\\.\\./)+${path.replace('lib/', '(lib/)?')}${end}`;
  return [
    ...typeFiles.map((file) => ({
      regex: pattern(file, '$'),
      allowTypeImports: true,
      message: `${module} may import only types of ${file}.`
    })),
    ...forbidden.map((other) => {
      const allowed = typeFiles.filter((file) => file.startsWith(`${other}/`)).map((file) => file.slice(other.length + 1));
      return {
        regex: pattern(other, allowed.length === 0 ? '(/|$)' : `(/(?!(${allowed.join('|')})$)|$)`),
        message: `${module} may not import ${other}: what both need lies in a module above both (docs/architecture.md, Modules).`
      };
    })
  ];
};

const importRule = (files, patterns) => ({
  files,
  rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns: [...patterns, bcoinRule] }] }
});

const folderRule = ([folder, allowed]) => {
  const module = folder.slice(0, folder.lastIndexOf('/'));
  return importRule(
    [`${folder}/**/*.ts`],
    [
      ...modulePatterns(module),
      {
        regex: `^\\.\\./(?!(?:${allowed.join('|')})(?:/|$))[a-z]`,
        message: `${folder} may import ${allowed.length === 0 ? 'nothing else' : `only ${allowed.join(', ')}`} of its module.`
      }
    ]
  );
};

/** What runs in browsers imports packages that are bundled, its own folder and the parts that pages share. */
const browserRule = (folder, others) =>
  importRule(
    [`lib/web/browser/${folder}/**/*.{ts,tsx}`],
    [
      { regex: `^(\\.\\./)+(${others})(/|$)`, message: `Pages share only parts.` },
      { regex: '^(node:|(\\.\\./){2,}(lib|server|web)/)', message: 'This runs in browsers.' }
    ]
  );

const supportRule = (folder, at) => ({
  files: [`test/support/${folder}/**/*.ts`],
  rules: {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            regex: `^\\.\\./(${supportFolders.slice(at + 1).join('|')})/`,
            message: `${folder} may import only folders of test/support that stand before it (CONTRIBUTING.md).`
          }
        ]
      }
    ]
  }
});

export default defineConfig(
  globalIgnores(['**/dist/', 'node_modules/', 'bench/data/', 'test/vectors/']),
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }]
    }
  },
  ...Object.keys(modules).map((module) => importRule([`${module}/**/*.ts`], modulePatterns(module))),
  ...Object.entries(folders).map(folderRule),
  ...supportFolders.slice(0, -1).map(supportRule),
  browserRule('parts', 'explorer|shop'),
  browserRule('explorer', 'shop'),
  browserRule('shop', 'explorer'),
  importRule(
    ['index', 'assemble', 'wallet-services', 'places'].map((name) => `plugin/${name}.ts`),
    []
  ),
  importRule(['plugin/options/*.ts'], [{ regex: '^\\.\\./(?!\\.\\./)', message: 'Options know nothing of what is made with them.' }]),
  { files: ['**/*.{ts,tsx}'], rules: { 'no-restricted-syntax': ['error', ...importOrder] } },
  {
    files: ['lib/**/*.ts', 'plugin/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...importOrder,
        {
          selector:
            'CallExpression[callee.object.name="Promise"] > ArrayExpression > :not(:first-child):matches(AwaitExpression, :has(> AwaitExpression))',
          message: 'Nobody hears of the promises before it that fail while this is awaited, and Node ends the process over them.'
        }
      ]
    }
  },
  {
    files: ['test/**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...importOrder,
        {
          selector: 'Program > ExpressionStatement > CallExpression[callee.name=/^(before|after)(Each)?$/]',
          message: 'Outside a group a hook runs for the tests of all files.'
        }
      ]
    }
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { globals: { process: 'readonly', __dirname: 'readonly', __filename: 'readonly' } }
  },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: { console: 'readonly', process: 'readonly', Buffer: 'readonly', URL: 'readonly' } }
  }
);
