import { untilAnswering } from './connection.ts';

let isOld = false;
const listeners = new Set<() => void>();

/** Whether the service has newer pages than this one, which has missed a file of its own. */
export function isPageOld(): boolean {
  return isOld;
}

export function subscribeUpdate(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Looks for newer pages whenever a file of these ones cannot be read: an update of the service removes them. */
export function watchForUpdates(): void {
  window.addEventListener('vite:preloadError', () => void lookForUpdate());
}

async function lookForUpdate(): Promise<void> {
  if (isOld) return;
  await untilAnswering();
  const own = document.querySelector('script[type="module"]')?.getAttribute('src') ?? '';
  const reply = await fetch(location.href, { cache: 'no-store' }).catch(() => undefined);
  if (reply?.ok !== true || (await reply.text()).includes(own)) return;
  isOld = true;
  for (const listener of listeners) listener();
}
