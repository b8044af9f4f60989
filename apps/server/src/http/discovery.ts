import { agentApi } from '@florin/protocol/agent-api.ts';
import { type Discovery, untrustedTextNotice } from '@florin/protocol/discovery.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Route } from '@florin/protocol/route.ts';
import { agentDomainName, domainVersion } from '@florin/protocol/typed-data.ts';
import type { Chains } from '#chains/chain.ts';
import { publicDocument } from './openapi.ts';
import type { Door } from './server.ts';

export interface DiscoveryOptions {
  readonly origin: string;
  readonly serviceDomain: string;
  readonly chains: Pick<Chains, 'all'>;
  /** Whether links and sessions are x402 resources as well. */
  readonly hasX402: boolean;
}

/**
 * GET /.well-known/ai-pay.json, and the same below /aipay. Built from the configuration alone, never from the Host
 * header.
 */
export function discoveryDoor(options: DiscoveryOptions): Door {
  return publicDocument('/.well-known/ai-pay.json', discoveryDocument(options));
}

/** The document of an installation (packages/protocol/src/discovery.ts). */
export function discoveryDocument({ origin, serviceDomain, chains, hasX402 }: DiscoveryOptions): Discovery {
  const baseUrl = `${origin}${agentApi.basePath}`;
  const endpoints = Object.entries<Route>(agentApi.routes).map(([name, { method, path }]) => {
    return [name, { method, url: baseUrl + path.replace(/:(\w+)/g, '{$1}') }] as const;
  });
  const x402 = {
    version: 2,
    link: `${origin}/aipay/x402/link/{linkId}`,
    session: `${origin}/aipay/x402/session/{sessionId}`,
  } as const;
  return {
    version: '1',
    serviceDomain,
    origin,
    aiProtocol: {
      baseUrl,
      domain: { name: agentDomainName(serviceDomain), version: domainVersion },
      endpoints: Object.fromEntries(endpoints),
    },
    merchantApi: { baseUrl: `${origin}${merchantApi.basePath}` },
    mcp: { streamableHttp: `${origin}/mcp` },
    ...(hasX402 ? { x402 } : {}),
    chains: chains.all.map(({ name, chainId, gateway, tokens }) => ({
      name,
      chainId: chainId.toString(),
      gateway,
      tokens: tokens.map((token) => ({
        tokenId: token.tokenId,
        address: token.address,
        symbol: token.symbol,
        name: token.name,
        decimals: token.decimals,
      })),
    })),
    documents: {
      openapi: `${origin}/openapi.json`,
      documentation: `${origin}/docs`,
      llms: `${origin}/llms.txt`,
      llmsFull: `${origin}/llms-full.txt`,
    },
    untrustedText: untrustedTextNotice,
  };
}
