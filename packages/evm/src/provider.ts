import { getDomain } from 'tldts';

/**
 * The provider of a node, as far as its address tells: the registrable domain of its host. The parts that companies added
 * to the public suffix list are left out, so that doubt makes one provider of two. Names without such a domain and
 * addresses stand for themselves. On this machine each port does: it may be forwarded from anywhere.
 */
export function providerOf(url: string): string {
  const { host, hostname } = new URL(url);
  return getDomain(hostname) ?? (isOwnMachine(hostname) ? host : hostname);
}

function isOwnMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}

/** How many providers there are behind some addresses. */
export function countProviders(urls: readonly string[]): number {
  return new Set(urls.map(providerOf)).size;
}
