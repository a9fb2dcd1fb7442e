// Chai without what takes it long, and what this project does not need: a proxy around every assertion, for names that TypeScript knows,
// and a look at every byte of two buffers that are equal. What differs is still compared, and described, by chai.

import { isDeepStrictEqual } from 'node:util';
import { config, use } from 'chai';

config.useProxy = false;

use(({ Assertion }, utils) => {
  Assertion.overwriteMethod(
    'eql',
    (compare: (this: Chai.AssertionPrototype, expected: unknown, message?: string) => void) =>
      function (this: Chai.AssertionPrototype, expected: unknown, message?: string): void {
        const isNegated = utils.flag(this, 'negate') === true;
        if (isNegated || !isDeepStrictEqual(utils.flag(this, 'object'), expected)) compare.call(this, expected, message);
      }
  );
});
