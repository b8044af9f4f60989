import { ref } from 'vue';

/**
 * The reader's key, shared by the consoles of all pages. It is never stored: a reload forgets it. The local world's own page
 * links to these pages with a restricted key in the fragment, which no browser sends to a server. Elsewhere a link could bring
 * a stranger's key, and what the reader makes would be the stranger's.
 */
export const apiKey = ref(typeof location === 'undefined' ? '' : takeKey(location, history));

/** Takes the key out of the address, so that it is not copied with the address. */
function takeKey({ hash, hostname, pathname, search }: Location, { state }: History): string {
  const key = /^#consoleKey=(rk_live_\w+)$/.exec(hash)?.[1];
  if (key === undefined || !['127.0.0.1', 'localhost'].includes(hostname)) return '';
  history.replaceState(state, '', pathname + search);
  return key;
}
