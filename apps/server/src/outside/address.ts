import { BlockList, isIP } from 'node:net';

/** The network targets that an operator allows in merchants' URLs. */
export interface AddressPolicy {
  /** For the local world only: 127.0.0.0/8, ::1 and localhost. */
  readonly allowLoopback: boolean;
  /** For the local world only: plain http to the same hosts. */
  readonly allowPlainLoopback?: boolean;
}

/** The flaw of a URL text that WHATWG parsing would repair silently: `https:///a` means the host `a`. */
export function urlFlaw(text: string): string | undefined {
  if (/[\s\p{Cc}\ufeff]/u.test(text)) return 'must not hold white space or control characters';
  return /^https?:(?!\/\/[^/\\?#])/i.test(text) ? 'must name a host' : undefined;
}

/** IPv4 ranges that are not the public internet (IANA special-purpose registry, RFC 6890 and later). */
const specialV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/**
 * Exceptions within 2000::/3, the only IPv6 range in public use. Everything outside 2000::/3 is refused: unspecified,
 * loopback, IPv4-mapped and -compatible, NAT64 (64:ff9b::/96), discard, unique local, link-local, multicast.
 */
const specialV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const refusedV4 = blockList('ipv4', specialV4);
const globalV6 = blockList('ipv6', ['2000::/3']);
const refusedV6 = blockList('ipv6', specialV6);
const loopbackV4 = blockList('ipv4', ['127.0.0.0/8']);

function blockList(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix = ''] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

/** Whether an address may be connected to, in a resolver's or a parsed URL's spelling. Scoped addresses may not. */
export function isAddressAllowed(address: string, policy: AddressPolicy): boolean {
  if (policy.allowLoopback && isLoopback(address)) return true;
  const family = isIP(address);
  if (family === 4) return !refusedV4.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  return globalV6.check(address, 'ipv6') && !refusedV6.check(address, 'ipv6');
}

/**
 * Whether a parsed URL's host may be connected to, judged by its text. Literal addresses are checked in full. Names are
 * checked only by their ending, because their addresses are checked when connecting. WHATWG parsing has already turned
 * decimal, octal, hexadecimal, short and full-width forms of IPv4 into dotted decimals.
 */
export function isHostAllowed(hostname: string, policy: AddressPolicy): boolean {
  const host = hostname.toLowerCase().replace(/\.+$/, '');
  if (host === '') return false;
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(literal) !== 0 || host.startsWith('[')) return isAddressAllowed(literal, policy);
  if (host === 'localhost') return policy.allowLoopback;
  return !/(^|\.)(localhost|internal|local)$/.test(host);
}

/** Whether a resolved address may be connected to; only `localhost` may resolve to loopback. */
export function isResolvedAddressAllowed(hostname: string, address: string, policy: AddressPolicy): boolean {
  const mayBeLoopback = policy.allowLoopback && hostname.toLowerCase().replace(/\.+$/, '') === 'localhost';
  return isAddressAllowed(address, { allowLoopback: mayBeLoopback });
}

/** Whether this URL may use plain http: only to loopback, and where the policy allows it. */
export function isPlainHttpAllowed(url: Pick<URL, 'protocol' | 'hostname'>, policy: AddressPolicy): boolean {
  if (url.protocol !== 'http:' || policy.allowPlainLoopback !== true) return false;
  const host = url.hostname.replace(/\.+$/, '');
  return host === 'localhost' || isLoopback(host.startsWith('[') ? host.slice(1, -1) : host);
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && loopbackV4.check(address, 'ipv4'));
}
