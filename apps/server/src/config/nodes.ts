import { countProviders } from '@florin/evm';
import type { Chain } from '#chains/chain.ts';
import { ConfigError } from './setting.ts';
import type { Settings } from './settings.ts';

/** By default two providers must agree. Two URLs of one host or domain count as one provider. */
const usualQuorum = 2;

/** The settings of a chain's nodes, and of the trust in them. */
export function nodesOf(
  { rpcUrls, wsUrls, proofs, finality }: Settings['chains'][number],
  path: string,
): Pick<Chain, 'rpcUrls' | 'wsUrls' | 'finality' | 'proofs'> {
  for (const [name, urls] of Object.entries({ rpcUrls, wsUrls: wsUrls ?? [] })) {
    const wrong = urls.findIndex((url) => new URL(url).hash !== '');
    if (wrong >= 0) throw new ConfigError(`${path}.${name}[${wrong}] must have no #fragment`);
  }
  const providers = countProviders(rpcUrls);
  const quorum = finality.quorum ?? Math.min(usualQuorum, providers);
  if (quorum > providers) {
    throw new ConfigError(
      `${path}.finality.quorum is ${quorum}, but rpcUrls has a provider count of ${providers}: add nodes of other providers, on hosts of other domains`,
    );
  }
  const { tag, depth, expectedSeconds } = finality;
  return { rpcUrls, wsUrls, proofs, finality: { tag, depth, quorum, expectedSeconds } };
}
