import { getDomain } from 'tldts';

/**
 * Who runs a node, as far as its address says: the registrable domain of its host (the public suffix list without the parts that
 * companies have added to it, so that doubt makes one provider of two). Names without one and addresses stand for themselves;
 * on the own machine each port does, for what stands there may be forwarded from anywhere.
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
