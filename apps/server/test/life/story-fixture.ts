import { statement } from '@florin/pg';
import type { Life } from './life.ts';

const storedHead = statement({
  name: 'story_stored_head',
  parameters: { chainId: 'int8' },
  columns: { head_number: 'int8' },
  text: 'select head_number from chain_cursors where chain_id = :chainId',
});

const storedFinal = statement({
  name: 'story_stored_final',
  parameters: { chainId: 'int8' },
  columns: { final_number: 'int8' },
  text: 'select final_number from chain_cursors where chain_id = :chainId',
});

const settlementHash = statement({
  name: 'story_settlement_hash',
  parameters: { sessionId: 'text' },
  columns: { tx_hash: 'text' },
  text: `select e.tx_hash from chain_events e join orders o on o.order_id = e.order_id
   where o.session_id = :sessionId and e.event_name = 'Settled'`,
});

/** A checkout session for one item; returns its id. */
export async function checkout(
  life: Life,
  unitPrice: number,
  settlementToken = 'ethereum::usdc',
  headers: Record<string, string> = {},
): Promise<string> {
  const productData = { productName: 'A thing for one story' };
  const lineItems = [{ itemType: 'one_time', quantity: 1, unitPrice, productData }];
  const body = { accountId: life.accountId, settlementToken, lineItems };
  const session = await life.post<{ sessionId: string }>('/session/checkout/create', body, headers);
  return session.sessionId;
}

/** The number of the last block that the watcher has stored. */
export async function storedHeadOf(life: Life, chainId: number): Promise<number> {
  const rows = await life.database.db.query(storedHead, { chainId });
  return Number(rows[0]?.head_number ?? 0n);
}

/** The number of the last block that the watcher has called final. */
export async function storedFinalOf(life: Life, chainId: number): Promise<number> {
  const rows = await life.database.db.query(storedFinal, { chainId });
  return Number(rows[0]?.final_number ?? 0n);
}

/** The transaction that settled the session, once it is in a canonical block; else empty. */
export async function settlementHashOf(life: Life, sessionId: string): Promise<string> {
  const rows = await life.database.db.query(settlementHash, { sessionId });
  return rows[0]?.tx_hash ?? '';
}

interface Capabilities {
  readonly paymentCapabilities: Record<string, { tokenId: string; status: string; statusReason: string }[]>;
}

/** Every pair of tokens that accepts no new payments now, with the reason. */
export async function closedRoutes(life: Life): Promise<string[]> {
  const { paymentCapabilities } = await life.get<Capabilities>('/capabilities/all');
  return Object.entries(paymentCapabilities).flatMap(([settled, routes]) =>
    routes
      .filter(({ status }) => status === 'unavailable')
      .map(({ tokenId, statusReason }) => `${tokenId} to ${settled}: ${statusReason}`),
  );
}
