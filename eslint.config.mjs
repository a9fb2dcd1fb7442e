import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

// Who may import whom (docs/architecture.md). Imports only ever point down.
const rooms = {
  'lib/bitcoin': [],
  'lib/payments': [],
  'lib/store': [],
  'lib/node': ['lib/bitcoin'],
  'lib/index': ['lib/bitcoin', 'lib/store', 'lib/node'],
  'lib/views': ['lib/bitcoin'],
  'lib/rest': ['lib/bitcoin', 'lib/index', 'lib/node', 'lib/views'],
  'lib/merchant': ['lib/bitcoin', 'lib/payments', 'lib/index', 'lib/node', 'lib/rest'],
  migrations: ['lib/store']
};
const everyRoom = [...Object.keys(rooms), 'plugin'];

/** Refuses imports out of a room into one that it may not know. */
const roomRule = ([room, allowed]) => {
  const forbidden = everyRoom.filter((other) => other !== room && !allowed.includes(other));
  return {
    files: [`${room}/**/*.ts`],
    rules: {
      'no-restricted-imports': ['error', {
        patterns: [
          ...forbidden.map((other) => ({
            regex: `^(\\.\\./)+${other.replace('lib/', '(lib/)?')}(/|$)`,
            message: `${room} may not import ${other}.`
          })),
          { regex: '^bcoin(/|$)', message: 'bcoin is reached through the running node only.' }
        ]
      }]
    }
  };
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
  ...Object.entries(rooms).map(roomRule),
  {
    files: ['plugin/index.ts', 'plugin/options.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ regex: '^bcoin(/|$)', message: 'bcoin is reached through the running node only.' }] }] }
  },
  {
    files: ['test/**/*.test.ts'],
    rules: {
      'no-restricted-syntax': ['error', {
        selector: 'Program > ExpressionStatement > CallExpression[callee.name=/^(before|after)(Each)?$/]',
        message: 'Outside a group a hook runs for the tests of all files.'
      }]
    }
  },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: { console: 'readonly', process: 'readonly', Buffer: 'readonly', URL: 'readonly' } }
  }
);
