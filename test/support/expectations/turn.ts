/** A function that returns true from the next turn of the event loop on. */
export function afterThisTurn(): () => boolean {
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  return () => turned;
}
