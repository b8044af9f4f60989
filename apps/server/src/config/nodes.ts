import { countProviders } from '@florin/evm';
import type { Chain, FinalityPolicy } from '#chains/chain.ts';
import { ConfigError, type Fields } from './field.ts';

/** The settings of a chain's nodes, and of the trust in them. */
export type NodesConfig = Pick<Chain, 'rpcUrls' | 'wsUrls' | 'finality' | 'proofs'>;

/** Reads the node settings of one chain. */
export function nodesOf(fields: Fields): NodesConfig {
  const rpcUrls = urlsOf(fields, 'rpcUrls', 'http');
  return {
    rpcUrls,
    wsUrls: fields.optional('wsUrls', (name) => urlsOf(fields, name, 'ws')),
    finality: fields.section('finality', (finality) => finalityOf(finality, rpcUrls)),
    proofs: fields.choice('proofs', ['required', 'quorum'], 'required'),
  };
}

function urlsOf(fields: Fields, name: string, scheme: 'http' | 'ws'): string[] {
  const protocols = [`${scheme}:`, `${scheme}s:`];
  return fields.list(name).map((url, index) => {
    if (typeof url !== 'string' || !URL.canParse(url) || !protocols.includes(new URL(url).protocol)) {
      const which = scheme === 'http' ? 'an http or https' : 'a ws or wss';
      throw new ConfigError(`${fields.path(name)}[${index}] must be ${which} URL`);
    }
    if (new URL(url).hash !== '')
      throw new ConfigError(`${fields.path(name)}[${index}] must have no #fragment`);
    return url;
  });
}

/** By default two providers must agree. Two URLs of one host or domain count as one provider. */
const usualQuorum = 2;

function finalityOf(finality: Fields, rpcUrls: readonly string[]): FinalityPolicy {
  const providers = countProviders(rpcUrls);
  const quorum = finality.integer('quorum', {
    least: 1,
    most: 10,
    fallback: Math.min(usualQuorum, providers),
  });
  if (quorum > providers) {
    throw new ConfigError(
      `${finality.path('quorum')} is ${quorum}, but rpcUrls has a provider count of ${providers}: add nodes of other providers, on hosts of other domains`,
    );
  }
  return {
    tag: finality.choice('tag', ['finalized', 'safe', 'latest'], 'finalized'),
    depth: finality.integer('depth', { least: 0, most: 100_000, fallback: 0 }),
    quorum,
    expectedSeconds: finality.optional('expectedSeconds', (name) =>
      finality.integer(name, { least: 1, most: 86_400 }),
    ),
  };
}
