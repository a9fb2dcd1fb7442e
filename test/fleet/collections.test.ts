import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { compiledProgram } from '../support/process/compiled';

describe('the process of a reader', () => {
  it('has its whole heap collected less often until it answers', () => {
    const text = execFileSync(process.execPath, [compiledProgram('counted-collections')], { encoding: 'utf8' });
    const counted = JSON.parse(text) as { readonly before: number; readonly meanwhile: number; readonly isListening: boolean };
    expect(counted.meanwhile, text).to.be.below(counted.before);
    expect(counted.isListening).to.equal(false);
  });
});
