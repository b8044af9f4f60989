import type { Transaction } from '@florin/pg';
import type { OutboxContext } from './context.ts';
import { sealedKeysAfter, updateSealedKeys } from './reseal.sql.ts';

/**
 * Encrypts the signing keys of up to `limit` webhooks after `after` with the current master key, those of removed webhooks
 * included. The signing keys stay the same. `last` is undefined when there are no more. Throws for a key whose master key is not
 * configured.
 */
export async function resealWebhookKeys(
  transaction: Transaction,
  { secrets, random }: Pick<OutboxContext, 'secrets' | 'random'>,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ resealed: number; last: string | undefined }> {
  const rows = await transaction.query(sealedKeysAfter, { afterWebhookId: after, limit });
  const renew = (sealed: Uint8Array, webhookId: string) =>
    secrets.isCurrent(sealed) ? sealed : secrets.seal(random, secrets.open(sealed, webhookId), webhookId);
  const old = rows.filter((row) =>
    [row.sealed_key, row.previous_sealed_key].some((sealed) => sealed !== null && !secrets.isCurrent(sealed)),
  );
  if (old.length > 0) {
    await transaction.query(updateSealedKeys, {
      webhookIds: old.map((row) => row.webhook_id),
      sealedKeys: old.map((row) => renew(row.sealed_key, row.webhook_id)),
      previousSealedKeys: old.map((row) =>
        row.previous_sealed_key === null ? null : renew(row.previous_sealed_key, row.webhook_id),
      ),
    });
  }
  return { resealed: old.length, last: rows.at(-1)?.webhook_id };
}
