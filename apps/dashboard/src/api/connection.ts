const askAgainMs = 2_000;
/** A service that hangs does not answer. */
const patienceMs = 5_000;

let isAway = false;
let outage: Promise<void> | undefined;
const listeners = new Set<() => void>();

/** Whether requests of this page have met silence, and the service has not answered since. */
export function isServiceAway(): boolean {
  return isAway;
}

export function subscribeOutage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Call it when a request got no answer. Asks until the service answers, which the promise waits for. */
export function untilAnswering(): Promise<void> {
  outage ??= askUntilAnswered().finally(() => {
    outage = undefined;
  });
  return outage;
}

/** As long as the page is open: a person sees that it asks. A lost request of a service that answers is no outage. */
async function askUntilAnswered(): Promise<void> {
  while (!(await isAnswering())) {
    setAway(true);
    await new Promise((resolve) => setTimeout(resolve, askAgainMs));
  }
  setAway(false);
}

function setAway(next: boolean): void {
  if (next === isAway) return;
  isAway = next;
  for (const listener of listeners) listener();
}

/** A gateway in front of a stopped service answers 502. */
async function isAnswering(): Promise<boolean> {
  const reply = await fetch(location.href, {
    cache: 'no-store',
    signal: AbortSignal.timeout(patienceMs),
  }).catch(() => undefined);
  return reply !== undefined && reply.status < 500;
}
