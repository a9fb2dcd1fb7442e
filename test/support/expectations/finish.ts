/** Runs a view to its end at once. */
export function finish<T>(view: Generator<void, T>): T {
  for (;;) {
    const step = view.next();
    if (step.done === true) return step.value;
  }
}
