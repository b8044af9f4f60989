import { createContext, useContext } from 'react';
import type { ReplyTo } from '../api/call.ts';

export type Me = ReplyTo<'GET /me'>;

/** The merchant of the address, and what the person may do there. */
export interface CurrentMerchant {
  readonly merchantId: string;
  readonly merchantName: string;
  readonly role: string;
  /** By the operator; unknown to the operator's staff. */
  readonly isSuspended?: boolean;
}

export const MerchantContext = createContext<CurrentMerchant | undefined>(undefined);

/** The id of the merchant in the address; undefined outside a merchant's screens. */
export function useMerchantId(): string | undefined {
  return useContext(MerchantContext)?.merchantId;
}

/** The merchant in the address. Only for screens of a merchant. */
export function useMerchant(): CurrentMerchant {
  const merchant = useContext(MerchantContext);
  if (merchant === undefined) throw new Error('this is no screen of a merchant');
  return merchant;
}

const key = 'florin.merchant';

/** Remembers the merchant for the next visit. */
export function rememberMerchant(merchantId: string): void {
  localStorage.setItem(key, merchantId);
}

/** The merchant of the last visit, if the person still acts for it, else the first one. */
export function firstMerchant({ merchants }: Me): string | undefined {
  const last = localStorage.getItem(key);
  return (merchants.find(({ merchantId }) => merchantId === last) ?? merchants[0])?.merchantId;
}
