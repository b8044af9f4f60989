import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { getAddress, isAddress } from 'viem';
import { assertLinksSettle, disableLinksOfAccount } from '#links/link-status.ts';
import { accountOf, removeAccount, updateAccount } from '#merchants/account.ts';
import {
  cancelAccountChange,
  listAccountChanges,
  planAccount,
  planAddress,
  walletProofText,
} from '#merchants/account-change.ts';
import { causedBy } from '#webhooks/outbox.ts';
import type { MerchantCaller, MerchantRoutes } from '../operations/once.ts';
import type { DashboardContext } from './context.ts';
import { memberOf } from './visitor.ts';

/** Wallets of a merchant: add or move them after a delay, cancel, change their terms at once, remove. */
export function addWalletRoutes(add: MerchantRoutes, deps: DashboardContext): void {
  add.read(routes.getWalletProofText, async ({ params, caller: { merchantId } }) => ({
    message: walletProofText(deps.origin, merchantId, checkedAddress(params.accountAddress)),
  }));

  // Who moves where money goes is named to those who are told.
  const told = (caller: MerchantCaller) => causedBy(deps, { doneBy: memberOf(caller).actor });

  const isProven = async (
    merchantId: string,
    { accountAddress, proof }: { accountAddress: string; proof?: { chainId: number; signature: string } },
  ): Promise<boolean> => {
    if (proof === undefined) return false;
    const address = checkedAddress(accountAddress);
    const message = walletProofText(deps.origin, merchantId, address);
    const isSigned = await deps.verifyWallet({
      chainId: proof.chainId,
      ...{ address, message, signature: proof.signature.toLowerCase() as `0x${string}` },
    });
    if (!isSigned) throw new Refusal('signature_invalid', 'the wallet did not sign the text of the proof');
    return true;
  };

  add.preparedChange(
    routes.addWalletAccount,
    ({ body, caller: { merchantId } }) => isProven(merchantId, body),
    ({ body, caller }, transaction, proven) => {
      const { merchantId, callerId: requestedBy } = caller;
      const { proof: _, settlementMode = '', ...request } = body;
      return planAccount(transaction, told(caller), {
        ...{ ...request, merchantId, requestedBy, isProven: proven },
        ...(settlementMode === '' ? {} : { settlementMode }),
      });
    },
  );

  add.preparedChange(
    routes.changeAccountAddress,
    ({ body, caller: { merchantId } }) => isProven(merchantId, body),
    ({ body: { proof: _, ...body }, caller }, transaction, proven) => {
      const { merchantId, callerId: requestedBy } = caller;
      return planAddress(transaction, told(caller), { ...body, merchantId, requestedBy, isProven: proven });
    },
  );

  add.read(routes.listAccountChanges, async ({ caller: { merchantId } }, db) => ({
    delaySeconds: deps.walletDelayMs / 1_000,
    settlementMode: deps.settlementMode ?? 'escrow',
    changes: await listAccountChanges(db, merchantId),
  }));

  add.action(routes.cancelAccountChange, async ({ body, caller }, transaction) => {
    await cancelAccountChange(transaction, told(caller), { ...body, merchantId: caller.merchantId });
  });

  add.change(routes.updateAccount, async ({ body, caller }, transaction) => {
    const account = await updateAccount(transaction, told(caller), {
      ...body,
      merchantId: caller.merchantId,
    });
    await assertLinksSettle(transaction, account);
    return accountOf(account);
  });

  add.change(routes.removeAccount, async ({ body, caller }, transaction) => {
    const request = { ...body, merchantId: caller.merchantId };
    await removeAccount(transaction, told(caller), request);
    return { disabledLinks: await disableLinksOfAccount(transaction, deps, request) };
  });
}

function checkedAddress(text: string): `0x${string}` {
  if (!isAddress(text)) throw fieldRefusal('accountAddress', 'must be an EVM address with its checksum');
  return getAddress(text);
}
