/** A question that is answered with yes from the next turn of the event loop on. */
export function afterThisTurn(): () => boolean {
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  return () => turned;
}
