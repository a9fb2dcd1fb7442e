// The rehearsal of the nodes that tests open: so short that it asks once. On a busy chain the whole of it takes seconds at each start of a
// node, and is the subject of `test/rehearsal` only.

export const SHORT_REHEARSAL = { rehearsalMs: 1 } as const;
