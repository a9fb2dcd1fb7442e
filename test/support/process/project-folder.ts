import { extname, resolve } from 'node:path';

/** This checkout. What is compiled into its `dist` lies one folder deeper. */
export const projectFolder = resolve(__dirname, extname(__filename) === '.ts' ? '../../..' : '../../../..');
