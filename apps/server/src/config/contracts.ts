import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { getAddress, isAddress } from 'viem';
import type { CctpContracts, Chain, PreviousContracts } from '#chains/chain.ts';
import { ConfigError, type Fields } from './field.ts';

/** Reads an address and refuses one without its checksum. `remedy` says what to do where it is missing. */
export function addressOf(fields: Fields, name: string, remedy?: string): Hex {
  const text = fields.text(name, undefined, remedy);
  if (!isAddress(text))
    throw new ConfigError(`${fields.path(name)} must be an EVM address with its checksum`);
  return getAddress(text);
}

/** The contracts of a chain. */
export function contractsFrom(
  fields: Fields,
): Pick<Chain, 'gateway' | 'vault' | 'previousContracts' | 'cctp'> {
  return {
    gateway: addressOf(
      fields,
      'gateway',
      'make the contracts with florin deploy, then run florin init again',
    ),
    vault: addressOf(fields, 'vault'),
    previousContracts: fields.optional('previousGateways', (name) => fields.sections(name, previousOf)),
    cctp: fields.optional('cctp', (name) => fields.section(name, cctpOf)),
  };
}

function previousOf(fields: Fields): PreviousContracts {
  return {
    gateway: addressOf(fields, 'gateway'),
    vault: addressOf(fields, 'vault'),
    cctpRoute: fields.optional('cctpRoute', (name) => addressOf(fields, name)),
  };
}

const microUsdPerUsd = 1_000_000n;

function cctpOf(fields: Fields): CctpContracts {
  const maxUsd = fields.integer('maxPerOrderUsd', { least: 1, most: 10_000_000, fallback: 1_000_000 });
  return {
    domain: fields.integer('domain', { least: 0, most: 4_294_967_295 }),
    transmitter: addressOf(fields, 'transmitter'),
    messenger: addressOf(fields, 'messenger'),
    route: addressOf(fields, 'route'),
    tokenId: fields.text('tokenId'),
    maxPerOrder: microUsd(BigInt(maxUsd) * microUsdPerUsd),
  };
}

/** Refuses CCTP settings that are valid per chain but not together. */
export function assertCctpFits(chains: readonly Chain[]): void {
  const domains = new Set<number>();
  for (const { name, tokens, cctp } of chains) {
    if (cctp === undefined) continue;
    const token = tokens.find(({ tokenId }) => tokenId === cctp.tokenId);
    if (token === undefined)
      throw new ConfigError(
        `chain ${name}: cctp.tokenId is ${cctp.tokenId}, which is not a token of the chain`,
      );
    // CCTP moves units unchanged: a token with other decimals elsewhere would change its value.
    if (token.decimals !== 6)
      throw new ConfigError(`chain ${name}: cctp.tokenId is ${cctp.tokenId}, which must have 6 decimals`);
    if (domains.has(cctp.domain))
      throw new ConfigError(`chain ${name}: cctp.domain ${cctp.domain} is used twice`);
    domains.add(cctp.domain);
  }
}

/** Where burns are attested; undefined when no chain has CCTP. Without a trailing slash. */
export function attestationUrlOf(fields: Fields, chains: readonly Chain[]): string | undefined {
  const url = fields.optionalText('attestationUrl');
  const isNeeded = chains.some(({ cctp }) => cctp !== undefined);
  if (url === undefined) {
    if (!isNeeded) return undefined;
    throw new ConfigError(
      'attestationUrl is missing: give the address of the attestation service, such as https://iris-api.circle.com',
    );
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol) || url.endsWith('/'))
    throw new ConfigError(`attestationUrl is ${url}: give an http or https URL without a slash at its end`);
  return url;
}
