import type { Queryable, Row, Transaction } from '@florin/pg';
import { maxAccounts } from '@florin/protocol/account.ts';
import { type AccountChange, maxListedChanges } from '@florin/protocol/account-change.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { newId } from '@florin/protocol/id.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { causedBy, emit } from '#webhooks/outbox.ts';
import {
  type AccountRequest,
  accountRefusal,
  assertCreatable,
  assertFreeAddress,
  changeAddress,
  createAccount,
} from './account.ts';
import {
  accountChangesOfMerchant,
  cancelChange,
  everHadAccount,
  finishChange,
  insertAccountChange,
  lockDueChange,
  refuseChange,
  waitingChanges,
} from './account-change.sql.ts';
import type { MerchantContext } from './context.ts';

type ChangeContext = Omit<MerchantContext, 'secrets'>;

/** The text that a wallet signs (EIP-191) to prove that its owner wants the merchant's settlements. */
export function walletProofText(origin: string, merchantId: string, accountAddress: string): string {
  return `Settlements of the merchant ${merchantId} at ${origin} may go to this wallet, ${accountAddress}.`;
}

function changeOf(row: Row<typeof insertAccountChange>): AccountChange {
  return {
    changeId: row.change_id,
    kind: row.kind as AccountChange['kind'],
    status: row.status as AccountChange['status'],
    accountName: row.account_name,
    accountAddress: row.account_address,
    previousAddress: row.previous_address,
    settlementCurrencies: row.settlement_currencies,
    settlementMode: row.settlement_mode as AccountChange['settlementMode'],
    isProven: row.is_proven,
    accountId: row.account_id ?? '',
    effectiveAt: formatTimestamp(row.effective_at),
    createAt: formatTimestamp(row.created_at),
  };
}

type Planned = ChangeContext & { readonly walletDelayMs: number };

/** Who asks for a wallet, and whether it proved itself. */
interface Asked {
  readonly isProven: boolean;
  readonly requestedBy: string;
}

/**
 * Adds a wallet: a merchant's first at once, every other after the delay. The event is raised at once in both cases. Until
 * the delay is over there is no account, so no link and no session can name it. Refuses what `createAccount` refuses.
 */
export async function planAccount(
  transaction: Transaction,
  deps: Planned,
  request: AccountRequest & Asked,
): Promise<AccountChange> {
  const { merchantId, settlementMode = '' } = request;
  const { others, ...terms } = await assertCreatable(transaction, deps, request);
  const waiting = await assertNotWaiting(transaction, merchantId, terms.accountAddress);
  if (others + waiting.filter(({ kind }) => kind === 'add').length >= maxAccounts) {
    throw new Refusal('account_limit', `a merchant has at most ${maxAccounts}`);
  }
  const [history] = await transaction.query(everHadAccount, { merchantId });
  const delayMs = history?.ever_had === true ? deps.walletDelayMs : 0;
  const made = delayMs === 0 ? await createAccount(transaction, deps, request) : undefined;
  const accountId = made?.accountId;
  const change = {
    ...request,
    ...terms,
    settlementMode,
    kind: 'add',
    previousAddress: '',
    accountId,
  } as const;
  return plan(transaction, deps, change, delayMs);
}

/**
 * Gives an account another address after the delay, even if it is the merchant's only one. Until then the account has the old
 * one. Refuses what `changeAddress` refuses, one that changed since `ifUpdateAt` (100403), and an account whose address is changing already (400101).
 */
export async function planAddress(
  transaction: Transaction,
  deps: Planned,
  request: Asked & {
    readonly merchantId: string;
    readonly accountId: string;
    readonly accountAddress: string;
    readonly ifUpdateAt?: string;
  },
): Promise<AccountChange> {
  const { merchantId, accountId, ifUpdateAt } = request;
  const { accountAddress, accounts } = await assertFreeAddress(transaction, deps, request);
  const account = accounts.find((each) => each.accountId === accountId);
  const isStale =
    ifUpdateAt !== undefined && account !== undefined && formatTimestamp(account.updatedAt) !== ifUpdateAt;
  if (account === undefined || isStale) throw await accountRefusal(transaction, request);
  const waiting = await assertNotWaiting(transaction, merchantId, accountAddress);
  if (waiting.some((change) => change.account_id === accountId)) {
    throw fieldRefusal('accountId', 'is getting another address already: cancel that change first');
  }
  const { accountAddress: previousAddress } = account;
  const change = { ...account, ...request, accountAddress, previousAddress, kind: 'address' } as const;
  if (deps.walletDelayMs === 0) await changeAddress(transaction, causedBy(deps, { previousAddress }), change);
  return plan(transaction, deps, change, deps.walletDelayMs);
}

/** The merchant's changes that wait. Refuses an address that is among them (400101). */
async function assertNotWaiting(transaction: Transaction, merchantId: string, accountAddress: string) {
  const waiting = await transaction.query(waitingChanges, { merchantId });
  if (waiting.some((change) => change.account_address === accountAddress)) {
    throw fieldRefusal('accountAddress', 'is being added already');
  }
  return waiting;
}

/** Stores a change: one that waits, with its event, or without a delay one that is done. */
async function plan(
  transaction: Transaction,
  deps: Planned,
  request: Asked & {
    readonly kind: AccountChange['kind'];
    readonly merchantId: string;
    readonly accountName: string;
    readonly accountAddress: string;
    readonly previousAddress: string;
    readonly settlementCurrencies: readonly string[];
    readonly settlementMode: AccountChange['settlementMode'];
    readonly accountId: string | undefined;
  },
  delayMs: number,
): Promise<AccountChange> {
  const { kind, merchantId, accountName, accountAddress, settlementMode, isProven, requestedBy } = request;
  const createdAt = deps.clock.now();
  const [row] = await transaction.query(insertAccountChange, {
    ...{ kind, merchantId, accountName, accountAddress, settlementMode, isProven, requestedBy, createdAt },
    settlementCurrencies: request.settlementCurrencies,
    previousAddress: request.previousAddress,
    changeId: newId('accountChange', deps.random.bytes),
    effectiveAt: new Date(createdAt.getTime() + delayMs),
    status: delayMs === 0 ? 'done' : 'waiting',
    accountId: request.accountId ?? null,
  });
  if (row === undefined) throw new Error('an insert of an account change returned no row');
  const change = changeOf(row);
  if (delayMs > 0) await emitChange(transaction, deps, 'account.change_planned', merchantId, change);
  return change;
}

/** The merchant's latest changes of wallets, newest first, with the e-mail addresses of the members who asked for them. */
export async function listAccountChanges(
  queryable: Queryable,
  merchantId: string,
): Promise<(AccountChange & { readonly requestedBy: string })[]> {
  const rows = await queryable.query(accountChangesOfMerchant, { merchantId, limit: maxListedChanges });
  return rows.map((row) => ({ ...changeOf(row), requestedBy: row.requested_email ?? '' }));
}

/** Cancels a change that waits. Refuses one that is unknown or waits no more (100807). */
export async function cancelAccountChange(
  transaction: Transaction,
  deps: Pick<ChangeContext, 'clock' | 'random' | 'notify'>,
  request: { readonly merchantId: string; readonly changeId: string },
): Promise<AccountChange> {
  const [row] = await transaction.query(cancelChange, request);
  if (row === undefined) throw new Refusal('account_change_not_found', request.changeId);
  const change = changeOf(row);
  await emitChange(transaction, deps, 'account.change_cancelled', request.merchantId, change);
  return change;
}

/** Gives effect to the change that is due longest. False when none is due. */
export async function takeEffect(transaction: Transaction, deps: ChangeContext): Promise<boolean> {
  const [row] = await transaction.query(lockDueChange, { now: deps.clock.now() });
  if (row === undefined) return false;
  const changeId = row.change_id;
  const { settlementMode, kind, previousAddress, ...change } = changeOf(row);
  const request = {
    ...change,
    merchantId: row.merchant_id,
    ...(settlementMode === '' ? {} : { settlementMode }),
  };
  try {
    const apply = kind === 'add' ? createAccount : changeAddress;
    const { accountId } = await apply(transaction, causedBy(deps, { changeId, previousAddress }), request);
    await transaction.query(finishChange, { changeId, accountId });
  } catch (error) {
    // Refused by a rule, before anything was written: the token or the address is out of use meanwhile.
    if (!(error instanceof Refusal)) throw error;
    await transaction.query(refuseChange, { changeId });
  }
  return true;
}

async function emitChange(
  transaction: Transaction,
  deps: Pick<ChangeContext, 'clock' | 'random' | 'notify'>,
  type: 'account.change_planned' | 'account.change_cancelled',
  merchantId: string,
  change: AccountChange,
): Promise<void> {
  await emit(transaction, deps, [
    {
      ownerId: merchantId,
      type,
      objectId: change.changeId,
      dataJson: JSON.stringify({ accountChange: change }),
      at: deps.clock.now(),
    },
  ]);
}
