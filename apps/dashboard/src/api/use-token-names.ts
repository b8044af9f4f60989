import { useRead } from './use-call.ts';

/** Names a token by its id, as `USDC on Base`. */
export function useTokenNames(): (tokenId: string) => string {
  const tokens = useRead('GET /token/list', {});
  return (tokenId) => {
    const token = tokens.data?.tokens.find((each) => each.tokenId === tokenId);
    return token === undefined ? tokenId : `${token.symbol} on ${token.network}`;
  };
}
