import type { Chains } from '#chains/chain.ts';

/** The configuration of a command line over a test's database. The chains have no nodes. */
export function commandConfig(databaseUrl: string, chains: Chains) {
  return {
    ...{ environment: 'local', origin: 'http://127.0.0.1:4000', serviceDomain: 'localhost' },
    databaseUrl,
    chains: chains.all.map(({ name, chainId, gateway, vault, tokens }) => ({
      ...{ name, chainId: String(chainId), gateway, vault, startBlock: '0', rpcUrls: ['http://127.0.0.1:1'] },
      tokens: tokens.map(({ tokenId, address, name: title, symbol, decimals }) => ({
        ...{ tokenId, address, name: title, symbol, decimals },
      })),
    })),
    signer: { orderKey: `0x${'11'.repeat(32)}`, settlerKey: `0x${'22'.repeat(32)}` },
    masterKey: '00'.repeat(32),
  };
}
