import { statement } from '@florin/pg';

// Locked, so that a key that is refreshed meanwhile is not put back.
export const sealedKeysAfter = statement(
  'webhooks_sealed_keys_after',
  ['text', 'int8'],
  { webhook_id: 'text', sealed_key: 'bytea', previous_sealed_key: 'bytea?' },
  `select webhook_id, sealed_key, previous_sealed_key from webhooks
   where webhook_id > $1 order by webhook_id limit $2 for no key update`,
);

export const updateSealedKeys = statement(
  'webhooks_update_sealed_keys',
  ['text[]', 'bytea[]', 'bytea[]'],
  {},
  `update webhooks set sealed_key = sealed.sealed_key, previous_sealed_key = sealed.previous_sealed_key
   from unnest($1::text[], $2::bytea[], $3::bytea[]) as sealed (webhook_id, sealed_key, previous_sealed_key)
   where webhooks.webhook_id = sealed.webhook_id`,
);
