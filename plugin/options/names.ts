// Names of options, as they are compared and as they are given.

/** Without dashes and in lower case, as bcoin keeps the names of flags, variables and lines of bcoin.conf. */
export const bareName = (name: string): string => name.replaceAll(/[-_]/g, '').toLowerCase();

export const flagOf = (name: string): string => `--${name}`;

/** Before the names of variables. */
export const VARIABLE_PREFIX = 'BCOIN_';

export const variableOf = (name: string): string => `${VARIABLE_PREFIX}${name.toUpperCase().replaceAll('-', '_')}`;
