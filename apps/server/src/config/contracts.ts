import { microUsd } from '@florin/protocol/money.ts';
import { getAddress } from 'viem';
import type { CctpContracts, Chain } from '#chains/chain.ts';
import { ConfigError } from './setting.ts';
import type { Settings } from './settings.ts';

type ChainSettings = Settings['chains'][number];

/** The contracts of a chain. */
export function contractsFrom({
  gateway,
  vault,
  previousGateways,
  cctp,
}: Pick<ChainSettings, 'gateway' | 'vault' | 'previousGateways' | 'cctp'>): Pick<
  Chain,
  'gateway' | 'vault' | 'previousContracts' | 'cctp'
> {
  return {
    gateway: getAddress(gateway),
    vault: getAddress(vault),
    previousContracts: previousGateways?.map((previous) => ({
      gateway: getAddress(previous.gateway),
      vault: getAddress(previous.vault),
      cctpRoute: previous.cctpRoute === undefined ? undefined : getAddress(previous.cctpRoute),
    })),
    cctp: cctp && cctpOf(cctp),
  };
}

const microUsdPerUsd = 1_000_000n;

/** An amount in whole US dollars. */
export function microUsdOfDollars(dollars: number) {
  return microUsd(BigInt(dollars) * microUsdPerUsd);
}

function cctpOf({ maxPerOrderUsd, ...cctp }: NonNullable<ChainSettings['cctp']>): CctpContracts {
  return {
    ...cctp,
    transmitter: getAddress(cctp.transmitter),
    messenger: getAddress(cctp.messenger),
    route: getAddress(cctp.route),
    maxPerOrder: microUsdOfDollars(maxPerOrderUsd),
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
export function attestationUrlOf(url: string | undefined, chains: readonly Chain[]): string | undefined {
  if (url === undefined && chains.some(({ cctp }) => cctp !== undefined))
    throw new ConfigError(
      'attestationUrl is missing: give the address of the attestation service, such as https://iris-api.circle.com',
    );
  return url;
}
