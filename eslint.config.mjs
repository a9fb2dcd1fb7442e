import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

// Modules that the interfaces for wallets may import.
const belowWallets = [
  'lib/bitcoin',
  'lib/index',
  'lib/node',
  'lib/profile',
  'lib/scripts',
  'lib/script-pool',
  'lib/script-answers',
  'lib/script-status',
  'lib/sockets',
  'lib/views',
  'lib/rest',
  'lib/rpc'
];

// For each module, the modules that it may import (docs/architecture.md): some of those above it in this table.
const modules = {
  'lib/profile': [],
  'lib/bitcoin': [],
  'lib/payments': [],
  'lib/store': [],
  'lib/node': ['lib/bitcoin'],
  'lib/index': ['lib/bitcoin', 'lib/store', 'lib/node'],
  'lib/scripts': ['lib/bitcoin', 'lib/store', 'lib/node', 'lib/index'],
  'lib/script-pool': ['lib/bitcoin', 'lib/node'],
  'lib/views': ['lib/bitcoin', 'lib/profile'],
  'lib/rest': ['lib/bitcoin', 'lib/index', 'lib/node', 'lib/profile', 'lib/views'],
  'lib/merchant': ['lib/bitcoin', 'lib/payments', 'lib/index', 'lib/node', 'lib/rest'],
  'lib/rpc': ['lib/bitcoin', 'lib/index', 'lib/node', 'lib/profile', 'lib/views', 'lib/rest'],
  'lib/script-answers': ['lib/bitcoin', 'lib/index', 'lib/node', 'lib/scripts', 'lib/script-pool', 'lib/views', 'lib/rest'],
  'lib/script-status': ['lib/bitcoin', 'lib/index', 'lib/node', 'lib/scripts', 'lib/script-pool', 'lib/script-answers', 'lib/rest'],
  'lib/sockets': ['lib/rest'],
  'lib/esplora': belowWallets,
  'lib/electrum': belowWallets,
  migrations: ['lib/store']
};

// Further files of which a module may import only types: the types of its functions' parameters.
const types = { 'lib/views': ['lib/index/types', 'lib/scripts/types', 'lib/node/types'] };

// What a folder of a module may import from that module: other folders, and files in the module's top folder.
const folders = {
  'lib/store/leveldb-files': ['store'],
  'lib/index/records': ['types', 'errors'],
  'lib/index/scan': ['types', 'errors', 'records'],
  'lib/index/coins': ['types', 'errors', 'records', 'scan'],
  'lib/index/read': ['types', 'errors', 'records', 'coins'],
  'lib/index/write': ['types', 'errors', 'records', 'scan', 'coins', 'read'],
  'lib/index/progress': ['types'],
  'lib/index/bootstrap': ['types', 'errors', 'records', 'scan', 'coins', 'write', 'progress'],
  'lib/index/follow': ['types', 'errors', 'records', 'scan', 'write', 'progress', 'bootstrap'],
  'lib/scripts/records': ['types', 'errors'],
  'lib/scripts/scan': ['types', 'errors', 'records'],
  'lib/scripts/read': ['types', 'errors', 'records'],
  'lib/scripts/write': ['types', 'errors', 'records', 'scan'],
  'lib/scripts/fill': ['types', 'errors', 'records', 'scan', 'write'],
  'lib/views/pool': ['json-writer'],
  'lib/views/esplora': ['json-writer'],
  'lib/rest/server': ['errors', 'limits'],
  'lib/rest/cache': ['errors', 'limits', 'format', 'server'],
  'lib/rest/endpoints': ['errors', 'limits', 'format', 'outpoints', 'spent-outputs', 'endpoint', 'server', 'cache'],
  'lib/merchant/orders': [],
  'lib/rpc/calls': ['errors', 'parameters', 'call'],
  'lib/esplora/endpoints': ['errors', 'reply', 'endpoint', 'transactions', 'spends', 'blocks', 'block-sizes'],
  'lib/esplora/push': ['errors', 'endpoint', 'transactions', 'spends', 'blocks'],
  'lib/esplora/server': ['errors', 'reply', 'endpoint'],
  'lib/electrum/methods': ['errors', 'method', 'header-tree'],
  'lib/electrum/server': ['errors', 'method'],
  'lib/electrum/notify': ['errors', 'method'],
  'lib/rpc/server': ['errors', 'parameters', 'call', 'call-table', 'json-rpc']
};

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
        message: `${module} may not import ${other}.`
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
        message: `${folder} may import only ${allowed.join(', ')} of its module.`
      }
    ]
  );
};

export default defineConfig(
  globalIgnores(['**/dist/', 'node_modules/', 'bench/data/', 'test/vectors/']),
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }]
    }
  },
  ...Object.keys(modules).map((module) => importRule([`${module}/**/*.ts`], modulePatterns(module))),
  ...Object.entries(folders).map(folderRule),
  importRule(['plugin/index.ts', 'plugin/options.ts', 'plugin/wallet-services.ts'], []),
  {
    files: ['test/**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
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
