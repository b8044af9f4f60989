import { useRead } from '../api/use-call.ts';

const healthMs = 5_000;
/** Both ask nodes, so less often. */
const nodesMs = 10_000;
const fundsMs = 20_000;

/** What the service knows of itself; asked every five seconds. */
export function useHealth() {
  return useRead('GET /staff/health', {}, { everyMs: healthMs });
}

/** What each node answers; asked every ten seconds. */
export function useNodes() {
  return useRead('GET /staff/node/list', {}, { everyMs: nodesMs });
}

/** Gas and floats; asked every twenty seconds. */
export function useFunds() {
  return useRead('GET /staff/wallet/list', {}, { everyMs: fundsMs });
}

/** Configured tokens with their stops; asked every five seconds. */
export function useTokens() {
  return useRead('GET /staff/token/list', {}, { everyMs: healthMs });
}

/** The merchants' names by id; empty until they are known. */
export function useMerchantNames(): ReadonlyMap<string, string> {
  const { data } = useRead('GET /staff/merchant/list', {});
  return new Map(data?.merchants.map(({ merchantId, merchantName }) => [merchantId, merchantName]));
}
