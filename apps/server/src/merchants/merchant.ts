import type { Queryable, Row, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { newId } from '@florin/protocol/id.ts';
import { isVisibleLine, visibleLineRule } from '@florin/protocol/visible-text.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import { insertMerchant, merchantById, merchantList, updateMerchantName } from './merchant.sql.ts';

export interface Merchant {
  readonly merchantId: string;
  readonly merchantName: string;
  readonly createdAt: Date;
  /** Since when the operator has suspended it, if so. */
  readonly suspendedAt: Date | undefined;
}

/** Characters of a merchant's name. */
const maxNameLength = 100;

/** Creates a merchant. Refuses a name that is empty, hidden, not of one line or longer than 100 characters. */
export async function createMerchant(
  transaction: Transaction,
  deps: { clock: Clock; random: Random },
  request: { merchantName: string },
): Promise<Merchant> {
  const merchantName = checkedName(request.merchantName);
  const merchant = {
    merchantId: newId('merchant', deps.random.bytes),
    merchantName,
    createdAt: deps.clock.now(),
    suspendedAt: undefined,
  };
  await transaction.query(insertMerchant, {
    merchantId: merchant.merchantId,
    merchantName,
    createdAt: merchant.createdAt,
  });
  return merchant;
}

/**
 * Changes the name that payers see. Refuses a name that is empty, hidden, not of one line or longer than 100 characters, and a merchant who has
 * another name than `ifMerchantName` (100811).
 */
export async function renameMerchant(
  transaction: Transaction,
  {
    merchantId,
    merchantName,
    ifMerchantName,
  }: {
    readonly merchantId: string;
    readonly merchantName: string;
    readonly ifMerchantName?: string | undefined;
  },
): Promise<void> {
  const renamed = await transaction.query(updateMerchantName, {
    merchantId,
    merchantName: checkedName(merchantName),
    ifMerchantName: ifMerchantName ?? null,
  });
  if (renamed.length === 0) throw new Refusal('merchant_changed', 'it has another name meanwhile');
}

function checkedName(given: string): string {
  const name = given.trim();
  const length = [...name].length;
  if (!isVisibleLine(name)) throw fieldRefusal('merchantName', visibleLineRule);
  if (length === 0 || length > maxNameLength) {
    throw fieldRefusal('merchantName', `must have 1 to ${maxNameLength} characters`);
  }
  return name;
}

/** One merchant by id; undefined when there is none. */
export async function findMerchant(queryable: Queryable, merchantId: string): Promise<Merchant | undefined> {
  const rows = await queryable.query(merchantById, { merchantId });
  return rows[0] === undefined ? undefined : parseMerchant(rows[0]);
}

/** All merchants of this installation, oldest first. */
export async function listMerchants(queryable: Queryable): Promise<Merchant[]> {
  return (await queryable.query(merchantList)).map(parseMerchant);
}

function parseMerchant(row: Row<typeof merchantById>): Merchant {
  return {
    merchantId: row.merchant_id,
    merchantName: row.merchant_name,
    createdAt: row.created_at,
    suspendedAt: row.suspended_at ?? undefined,
  };
}
