import { getDomain } from 'tldts';

/**
 * The provider of a node, derived from its address: the registrable domain of its host. The private section of the
 * public suffix list is ignored, so that doubtful cases count as one provider. Names without such a domain and
 * addresses are their own providers. On this machine each port is its own provider, because it may be forwarded from
 * anywhere.
 */
export function providerOf(url: string): string {
  const { host, hostname } = new URL(url);
  return getDomain(hostname) ?? (isOwnMachine(hostname) ? host : hostname);
}

function isOwnMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}

/** The number of providers behind some addresses. */
export function countProviders(urls: readonly string[]): number {
  return new Set(urls.map(providerOf)).size;
}
