import type { Queryable, Transaction } from '@florin/pg';
import { type Account, maxAccounts } from '@florin/protocol/account.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { newId } from '@florin/protocol/id.ts';
import type { Hex, SettlementMode } from '@florin/protocol/order.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { isVisibleLine, visibleLineRule } from '@florin/protocol/visible-text.ts';
import { getAddress, isAddress } from 'viem';
import { emit } from '#webhooks/outbox.ts';
import type { AccountStatus } from './account.machine.ts';
import {
  type AccountRow,
  accountById,
  accountsAtAddresses,
  accountsByIds,
  accountsOfMerchant,
  changeAccount,
  insertAccount,
  lockMerchantForAccounts,
  removeAccountRow,
  setAddress,
} from './account.sql.ts';
import type { MerchantContext } from './context.ts';
import { findOwn } from './own-address.ts';

/** A collection account: the wallet that a merchant is paid into. */
export interface StoredAccount {
  readonly accountId: string;
  readonly merchantId: string;
  readonly accountName: string;
  /** Checksummed. */
  readonly accountAddress: Hex;
  /** Token ids that the account is settled in. */
  readonly settlementCurrencies: readonly string[];
  /** New at every creation, so that an account created again at the same address differs. */
  readonly version: string;
  readonly status: AccountStatus;
  /** How payments in a settlement token reach the wallet; empty: the configuration decides. */
  readonly settlementMode: SettlementMode | '';
  /** Whether the operator has suspended the merchant: the account takes no new sessions. */
  readonly isSuspended: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

function parseAccount(row: AccountRow): StoredAccount {
  return {
    accountId: row.account_id,
    merchantId: row.merchant_id,
    accountName: row.account_name,
    accountAddress: row.account_address as Hex,
    settlementCurrencies: row.settlement_currencies,
    version: row.version,
    status: row.status as StoredAccount['status'],
    settlementMode: row.settlement_mode as StoredAccount['settlementMode'],
    isSuspended: row.is_suspended,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The account as the merchant API shows it. */
export function accountOf(stored: StoredAccount): Account {
  return {
    accountId: stored.accountId,
    accountName: stored.accountName,
    accountAddress: stored.accountAddress,
    accountType: 'EVM::ADDR',
    settlementCurrencies: [...stored.settlementCurrencies],
    version: stored.version,
    status: 'normal',
    settlementMode: stored.settlementMode,
    createAt: formatTimestamp(stored.createdAt),
    updateAt: formatTimestamp(stored.updatedAt),
  };
}

/** One account of the merchant, even when removed; undefined when the merchant never had it. */
export async function findAccount(
  queryable: Queryable,
  merchantId: string,
  accountId: string,
): Promise<StoredAccount | undefined> {
  const rows = await queryable.query(accountById, { merchantId, accountId });
  return rows[0] === undefined ? undefined : parseAccount(rows[0]);
}

/** Many accounts in one query, in the order of the request; undefined where the merchant never had the account. */
export async function findAccounts(
  queryable: Queryable,
  refs: readonly { merchantId: string; accountId: string }[],
): Promise<(StoredAccount | undefined)[]> {
  const rows = await queryable.query(accountsByIds, {
    merchantIds: refs.map((ref) => ref.merchantId),
    accountIds: refs.map((ref) => ref.accountId),
  });
  const found = new Map(rows.map((row) => [`${row.merchant_id} ${row.account_id}`, parseAccount(row)]));
  return refs.map((ref) => found.get(`${ref.merchantId} ${ref.accountId}`));
}

/** The merchant's accounts in use, newest first. */
export async function listAccounts(queryable: Queryable, merchantId: string): Promise<StoredAccount[]> {
  return (await queryable.query(accountsOfMerchant, { merchantId })).map(parseAccount);
}

/** At most `limit` accounts in use at these addresses (lower case), of any merchant, oldest first. */
export async function findAccountsAt(
  queryable: Queryable,
  addresses: readonly string[],
  limit: number,
): Promise<StoredAccount[]> {
  return (await queryable.query(accountsAtAddresses, { addresses, limit })).map(parseAccount);
}

export interface AccountRequest {
  readonly merchantId: string;
  readonly accountName: string;
  readonly accountAddress: string;
  readonly settlementCurrencies: readonly string[];
  /** The configuration decides when absent. */
  readonly settlementMode?: SettlementMode;
}

/**
 * Creates a collection account. Refuses the twenty-first (100405), and tokens that are not configured (400201). The address
 * must be an EVM address with a valid checksum or in lower case. Refused are the zero address, contracts and deposit
 * addresses of the installation, and the address of another account.
 */
export async function createAccount(
  transaction: Transaction,
  deps: Omit<MerchantContext, 'secrets'>,
  request: AccountRequest,
): Promise<StoredAccount> {
  const { merchantId } = request;
  const terms = await assertCreatable(transaction, deps, request);
  const rows = await transaction.query(insertAccount, {
    accountId: newId('account', deps.random.bytes),
    merchantId,
    ...terms,
    version: newId('accountVersion', deps.random.bytes),
    settlementMode: request.settlementMode ?? '',
    createdAt: deps.clock.now(),
  });
  if (rows[0] === undefined) throw new Error('an insert of an account returned no row');
  const account = parseAccount(rows[0]);
  await emitAccount(transaction, deps, 'account.created', account);
  return account;
}

/**
 * The terms of an account that can be created, and how many accounts the merchant has besides. Others who create accounts
 * of the merchant wait until the transaction ends.
 */
export async function assertCreatable(
  transaction: Transaction,
  deps: Pick<MerchantContext, 'chains'>,
  request: AccountRequest,
): Promise<
  Pick<StoredAccount, 'accountName' | 'accountAddress' | 'settlementCurrencies'> & { readonly others: number }
> {
  const terms = {
    accountName: checkedName(request.accountName),
    settlementCurrencies: checkedCurrencies(deps, request.settlementCurrencies),
  };
  const { accountAddress, accounts } = await assertFreeAddress(transaction, deps, request);
  if (accounts.length >= maxAccounts)
    throw new Refusal('account_limit', `a merchant has at most ${maxAccounts}`);
  return { ...terms, accountAddress, others: accounts.length };
}

/**
 * The address with its checksum, if an account of the merchant may have it, and the merchant's accounts. Others who give
 * addresses to the merchant's accounts wait until the transaction ends.
 */
export async function assertFreeAddress(
  transaction: Transaction,
  deps: Pick<MerchantContext, 'chains'>,
  request: Pick<AccountRequest, 'merchantId' | 'accountAddress'> & { readonly accountId?: string },
): Promise<{ readonly accountAddress: Hex; readonly accounts: readonly StoredAccount[] }> {
  const { merchantId } = request;
  // An address in mixed case must have a valid checksum: that catches most typing errors.
  if (!isAddress(request.accountAddress))
    throw fieldRefusal('accountAddress', 'must be an EVM address with its checksum');
  const accountAddress = getAddress(request.accountAddress);
  const own = await findOwn(transaction, deps.chains, accountAddress);
  if (own !== undefined) throw fieldRefusal('accountAddress', `must not be ${own}`);
  const merchants = await transaction.query(lockMerchantForAccounts, { merchantId });
  if (merchants.length === 0) throw fieldRefusal('merchantId', `names no merchant: ${merchantId}`);
  const accounts = await listAccounts(transaction, merchantId);
  const holder = accounts.find((account) => account.accountAddress === accountAddress);
  if (holder !== undefined) {
    const isOwn = holder.accountId === request.accountId;
    throw fieldRefusal('accountAddress', isOwn ? 'is its address already' : 'is in use by another account');
  }
  return { accountAddress, accounts };
}

function checkedName(given: string): string {
  const accountName = given.trim();
  const length = [...accountName].length;
  if (!isVisibleLine(accountName)) throw fieldRefusal('accountName', visibleLineRule);
  if (length === 0 || length > 100) throw fieldRefusal('accountName', 'must have 1 to 100 characters');
  return accountName;
}

function checkedCurrencies(deps: Pick<MerchantContext, 'chains'>, tokenIds: readonly string[]): string[] {
  if (tokenIds.length === 0) throw fieldRefusal('settlementCurrencies', 'must name at least one token');
  for (const tokenId of tokenIds) {
    if (deps.chains.token(tokenId) === undefined) throw new Refusal('currency_unsupported', tokenId);
  }
  return [...new Set(tokenIds)];
}

/**
 * Changes what of an account can change at once; what is absent stays. The settlement mode (empty: the configuration decides)
 * applies to orders signed from now on, also in open sessions. Refuses an unknown account (100401), a removed one (100402), one
 * that changed since `ifUpdateAt` (100403) and tokens that are not configured (400201). The caller checks that no link settles in a token that goes.
 */
export async function updateAccount(
  transaction: Transaction,
  deps: Omit<MerchantContext, 'secrets'>,
  request: {
    readonly merchantId: string;
    readonly accountId: string;
    readonly accountName?: string | undefined;
    readonly settlementCurrencies?: readonly string[] | undefined;
    readonly settlementMode?: SettlementMode | '' | undefined;
    readonly ifUpdateAt?: string | undefined;
  },
): Promise<StoredAccount> {
  const { merchantId, accountId, accountName, settlementCurrencies, settlementMode } = request;
  const [row] = await transaction.query(changeAccount, {
    ...{ merchantId, accountId, settlementMode: settlementMode ?? null, updatedAt: deps.clock.now() },
    ifUpdateAt: request.ifUpdateAt ?? null,
    accountName: accountName === undefined ? null : checkedName(accountName),
    settlementCurrencies:
      settlementCurrencies === undefined ? null : checkedCurrencies(deps, settlementCurrencies),
  });
  if (row === undefined) throw await accountRefusal(transaction, request);
  const account = parseAccount(row);
  await emitAccount(transaction, deps, 'account.updated', account);
  return account;
}

/**
 * Gives an account another address, which makes a new version of it. Sessions from now on are settled there; earlier ones keep
 * the old address. Refuses an address that is in use (400101), an unknown account (100401) and a removed one (100402).
 */
export async function changeAddress(
  transaction: Transaction,
  deps: Omit<MerchantContext, 'secrets'>,
  request: Pick<AccountRequest, 'merchantId' | 'accountAddress'> & { readonly accountId: string },
): Promise<StoredAccount> {
  const { merchantId, accountId } = request;
  const { accountAddress } = await assertFreeAddress(transaction, deps, request);
  const version = newId('accountVersion', deps.random.bytes);
  const change = { merchantId, accountId, accountAddress, version, updatedAt: deps.clock.now() };
  const [row] = await transaction.query(setAddress, change);
  if (row === undefined) throw await accountRefusal(transaction, request);
  const account = parseAccount(row);
  await emitAccount(transaction, deps, 'account.updated', account);
  return account;
}

/** Why the account cannot change: it is unknown, removed, or not as it was read. */
export async function accountRefusal(
  queryable: Queryable,
  { merchantId, accountId }: { merchantId: string; accountId: string },
): Promise<Refusal> {
  const account = await findAccount(queryable, merchantId, accountId);
  if (account === undefined) return new Refusal('account_not_found', accountId);
  if (account.status === 'removed') return new Refusal('account_removed', accountId);
  return new Refusal('account_version_changed', `${accountId} has changed since it was read`);
}

/**
 * Removes an account from use. In the same transaction the caller disables its links (`disableLinksOfAccount`). Open
 * sessions keep their copy of the account and stay payable. Refuses an unknown account (100401), a removed one (100402) and one
 * that changed since `ifUpdateAt` (100403).
 */
export async function removeAccount(
  transaction: Transaction,
  deps: Pick<MerchantContext, 'clock' | 'random' | 'notify'>,
  request: { merchantId: string; accountId: string; ifUpdateAt?: string },
): Promise<StoredAccount> {
  const { merchantId, accountId, ifUpdateAt = null } = request;
  const [row] = await transaction.query(removeAccountRow, {
    ...{ merchantId, accountId, ifUpdateAt, updatedAt: deps.clock.now() },
  });
  if (row === undefined) throw await accountRefusal(transaction, request);
  const account = parseAccount(row);
  await emitAccount(transaction, deps, 'account.removed', account);
  return account;
}

async function emitAccount(
  transaction: Transaction,
  deps: Pick<MerchantContext, 'clock' | 'random' | 'notify'>,
  type: 'account.created' | 'account.updated' | 'account.removed',
  account: StoredAccount,
): Promise<void> {
  await emit(transaction, deps, [
    {
      ownerId: account.merchantId,
      type,
      objectId: account.accountId,
      dataJson: JSON.stringify({ account: accountOf(account) }),
      at: deps.clock.now(),
    },
  ]);
}
