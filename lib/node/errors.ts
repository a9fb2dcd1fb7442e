/** The node is of a kind that the service cannot work with. */
export class UnsupportedNodeError extends Error {
  override readonly name = 'UnsupportedNodeError';
}
