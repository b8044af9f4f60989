import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { microUsd } from '@florin/protocol/money.ts';
import { type Permission, permissionPresets, permissions } from '@florin/protocol/permission.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import type { MemberContext } from '#members/context.ts';
import { createApiKey, listApiKeys, renameApiKey, revokeApiKey } from '#merchants/api-key.ts';
import type { MerchantCaller, MerchantRoutes } from '../operations/once.ts';

/** API keys of a merchant. */
export function addKeyRoutes(add: MerchantRoutes, deps: MemberContext): void {
  add.read(routes.listApiKeys, async ({ caller: { merchantId } }, db) => {
    const keys = await listApiKeys(db, merchantId);
    const timeOf = (time: Date | undefined) => (time === undefined ? '' : formatTimestamp(time));
    return {
      keys: keys.map(({ keyId, kind, name, last4, createdBy, ...key }) => ({
        ...{ keyId, kind, name, last4, createdBy },
        permissions: [...key.permissions],
        ipAllowList: [...key.ipAllowList],
        origins: [...key.origins],
        maxSessionAmount: key.maxSessionAmount === undefined ? null : Number(key.maxSessionAmount),
        maxDayAmount: key.maxDayAmount === undefined ? null : Number(key.maxDayAmount),
        createAt: formatTimestamp(key.createdAt),
        expiresAt: timeOf(key.expiresAt),
        lastUsedAt: timeOf(key.lastUsedAt),
        revokedAt: timeOf(key.revokedAt),
      })),
    };
  });

  add.change(routes.createApiKey, async ({ body, caller }, transaction) => {
    const { maxSessionAmount, maxDayAmount, expiresAt, ...request } = body;
    if (body.kind === 'secret' && body.permissions !== undefined)
      throw fieldRefusal('permissions', 'must be absent for a secret key: it has every permission');
    const granted = body.kind === 'secret' ? permissions : (body.permissions ?? permissionPresets.read_only);
    assertHeld(caller, granted);
    return createApiKey(transaction, deps, {
      ...request,
      merchantId: caller.merchantId,
      createdBy: caller.callerId,
      permissions: granted,
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt * 1000) }),
      ...(maxSessionAmount === undefined ? {} : { maxSessionAmount: microUsd(BigInt(maxSessionAmount)) }),
      ...(maxDayAmount === undefined ? {} : { maxDayAmount: microUsd(BigInt(maxDayAmount)) }),
    });
  });

  add.action(routes.renameApiKey, async ({ body, caller: { merchantId } }, transaction) => {
    const isRenamed = await renameApiKey(transaction, { ...body, merchantId });
    if (!isRenamed) throw new Refusal('api_key_not_found', body.keyId);
  });

  add.action(routes.disableApiKey, async ({ body: { keyId } }, transaction) => {
    // In the scope of the merchant, so another merchant's key is not found.
    const revokedOf = await revokeApiKey(transaction, keyId, deps.clock.now());
    if (revokedOf === undefined) throw new Refusal('api_key_not_found', keyId);
  });
}

/** Refuses (200205) a key that could do more than the member who makes it. */
function assertHeld(caller: MerchantCaller, granted: readonly Permission[]): void {
  const lacking = granted.filter((permission) => !caller.permissions.has(permission));
  if (lacking.length > 0) {
    throw new Refusal('role_forbidden', `the key would have what the member lacks: ${lacking.join(', ')}`);
  }
}
