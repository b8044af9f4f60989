import { statement } from '@florin/pg';

// Locked, so that a concurrent refresh of a key is not overwritten.
export const sealedKeysAfter = statement({
  name: 'webhooks_sealed_keys_after',
  parameters: { afterWebhookId: 'text', limit: 'int8' },
  columns: { webhook_id: 'text', sealed_key: 'bytea', previous_sealed_key: 'bytea?' },
  text: `select webhook_id, sealed_key, previous_sealed_key from webhooks
   where webhook_id > :afterWebhookId order by webhook_id limit :limit for no key update`,
});

export const updateSealedKeys = statement({
  name: 'webhooks_update_sealed_keys',
  parameters: { webhookIds: 'text[]', sealedKeys: 'bytea[]', previousSealedKeys: 'bytea[]' },
  text: `update webhooks set sealed_key = sealed.sealed_key, previous_sealed_key = sealed.previous_sealed_key
   from unnest(:webhookIds::text[], :sealedKeys::bytea[], :previousSealedKeys::bytea[]) as sealed (webhook_id, sealed_key, previous_sealed_key)
   where webhooks.webhook_id = sealed.webhook_id`,
});
