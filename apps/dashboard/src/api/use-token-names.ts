import { useRead } from './use-call.ts';

/** Names a token by its id, as `USDC on Base`. */
export function useTokenNames(): (tokenId: string) => string {
  const tokens = useRead('GET /token/list', {});
  return (tokenId) => {
    const token = tokens.data?.tokens.find((each) => each.tokenId === tokenId);
    return token === undefined ? tokenId : `${token.symbol} on ${token.network}`;
  };
}

/** Why no new orders are taken in a token, as a sentence begins: “USDC on Base is …”. Undefined where they are taken. */
export function useTokenClosure(): (tokenId: string) => string | undefined {
  const tokens = useRead('GET /token/list', {});
  return (tokenId) => {
    const reason = tokens.data?.tokens.find((each) => each.tokenId === tokenId)?.closedReason ?? '';
    if (reason === '') return undefined;
    return reason === 'token_stopped' ? 'stopped by the operator' : 'paused by its issuer';
  };
}
