/**
 * Loads several items at once and passes them on in order while the next ones load. When one fails, the items before
 * it are passed on, then its error is thrown. Later results are dropped.
 */
export async function readAhead<Item, Loaded>(
  items: readonly Item[],
  atOnce: number,
  load: (item: Item) => Promise<Loaded>,
  take: (loaded: Loaded) => Promise<void>,
): Promise<void> {
  const loading: Promise<Outcome<Loaded>>[] = [];
  const waiting = items.values();
  const loadNext = () => {
    const { value, done } = waiting.next();
    if (done !== true) loading.push(outcomeOf(load(value)));
  };
  for (let begun = 0; begun < atOnce; begun += 1) loadNext();
  for (let next = loading.shift(); next !== undefined; next = loading.shift()) {
    const outcome = await next;
    if ('error' in outcome) throw outcome.error;
    loadNext();
    await take(outcome.loaded);
  }
}

type Outcome<Loaded> = { readonly loaded: Loaded } | { readonly error: unknown };

/** Never rejects: an item may fail long before its turn. */
function outcomeOf<Loaded>(promise: Promise<Loaded>): Promise<Outcome<Loaded>> {
  return promise.then(
    (loaded) => ({ loaded }),
    (error: unknown) => ({ error }),
  );
}
