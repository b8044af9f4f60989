import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import type { SettlementMode } from '@florin/protocol/order.ts';
import { getAddress, isAddress } from 'viem';
import type { LinkContext } from '#links/context.ts';
import { assertLinksSettle, disableLinksOfAccount } from '#links/link-status.ts';
import type { VerifyWallet } from '#members/verify-wallet.ts';
import { accountOf, removeAccount, updateAccount } from '#merchants/account.ts';
import {
  cancelAccountChange,
  listAccountChanges,
  planAccount,
  planAddress,
  walletProofText,
} from '#merchants/account-change.ts';
import type { MerchantRoutes } from '../operations/once.ts';

interface AccountDeps extends Omit<LinkContext, 'isPayable'> {
  readonly verifyWallet: VerifyWallet;
  /** How long a wallet waits that is not the merchant's first, in milliseconds. */
  readonly walletDelayMs: number;
  readonly settlementMode?: SettlementMode | undefined;
}

/** Wallets of a merchant: add or move them after a delay, cancel, change their terms at once, remove. */
export function addWalletRoutes(add: MerchantRoutes, deps: AccountDeps): void {
  add.read(routes.getWalletProofText, async ({ params, caller: { merchantId } }) => ({
    message: walletProofText(deps.origin, merchantId, checkedAddress(params.accountAddress)),
  }));

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
    ({ body, caller: { merchantId, callerId: requestedBy } }, transaction, proven) => {
      const { proof: _, settlementMode = '', ...request } = body;
      return planAccount(transaction, deps, {
        ...{ ...request, merchantId, requestedBy, isProven: proven },
        ...(settlementMode === '' ? {} : { settlementMode }),
      });
    },
  );

  add.preparedChange(
    routes.changeAccountAddress,
    ({ body, caller: { merchantId } }) => isProven(merchantId, body),
    ({ body: { proof: _, ...body }, caller: { merchantId, callerId: requestedBy } }, transaction, proven) =>
      planAddress(transaction, deps, { ...body, merchantId, requestedBy, isProven: proven }),
  );

  add.read(routes.listAccountChanges, async ({ caller: { merchantId } }, db) => ({
    delaySeconds: deps.walletDelayMs / 1_000,
    settlementMode: deps.settlementMode ?? 'escrow',
    changes: await listAccountChanges(db, merchantId),
  }));

  add.action(routes.cancelAccountChange, async ({ body, caller: { merchantId } }, transaction) => {
    await cancelAccountChange(transaction, deps, { ...body, merchantId });
  });

  add.change(routes.updateAccount, async ({ body, caller: { merchantId } }, transaction) => {
    const account = await updateAccount(transaction, deps, { ...body, merchantId });
    await assertLinksSettle(transaction, account);
    return accountOf(account);
  });

  add.change(routes.removeAccount, async ({ body, caller: { merchantId } }, transaction) => {
    const request = { ...body, merchantId };
    await removeAccount(transaction, deps, request);
    return { disabledLinks: await disableLinksOfAccount(transaction, deps, request) };
  });
}

function checkedAddress(text: string): `0x${string}` {
  if (!isAddress(text)) throw fieldRefusal('accountAddress', 'must be an EVM address with its checksum');
  return getAddress(text);
}
