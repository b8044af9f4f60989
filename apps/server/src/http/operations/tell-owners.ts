import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { NamedActor, TellOwners } from '#members/context.ts';
import { listApiKeys } from '#merchants/api-key.ts';
import type { OperationContext } from './context.ts';
import type { Change, MerchantCaller } from './once.ts';

/** What telling needs of the process. */
export type TellContext = Pick<OperationContext, 'clock' | 'tellOwners'>;
type Told = Parameters<TellOwners>[1]['act'];
type Call = Pick<Change['call'], 'caller' | 'clientAddress'>;

/** Tells owners and admins of an act of which the audit log has no entry of its own, by a member or by an API key. */
export async function tellOfCaller(
  transaction: Transaction,
  { tellOwners, clock }: TellContext,
  { caller, clientAddress }: Call,
  act: Told,
): Promise<void> {
  if (tellOwners === undefined) return;
  const actor = caller.actor ?? (await namedKey(transaction, caller, clientAddress));
  await tellOwners(transaction, { merchantId: caller.merchantId, actor, act, at: clock.now() });
}

/** The record of the audit log tells of what members do. It has nothing of API keys, and a stolen one must not act silently. */
export async function tellOfKey(
  transaction: Transaction,
  deps: TellContext,
  call: Call,
  act: Told,
): Promise<void> {
  if (call.caller.kind !== 'member') await tellOfCaller(transaction, deps, call, act);
}

async function namedKey(
  transaction: Transaction,
  { merchantId, callerId, kind }: MerchantCaller,
  clientAddress: string,
): Promise<NamedActor> {
  const key = (await listApiKeys(transaction, merchantId)).find(({ keyId }) => keyId === callerId);
  const keyName = key === undefined || key.name === '' ? '' : `“${key.name}” `;
  const name = `API key ${keyName}${kind === 'secret' ? 'sk' : 'rk'}_live_…${key?.last4 ?? ''}`;
  return { kind: 'key', id: callerId, name, clientAddress, userAgent: '' };
}

/** Tells owners and admins of places to which a change newly leads payers, where there are any. */
export async function tellOfPlaces(
  transaction: Transaction,
  deps: TellContext,
  call: Call,
  {
    subject,
    ...after
  }: { readonly subject: string; readonly places: readonly string[]; readonly linkName?: string },
): Promise<void> {
  if (after.places.length === 0) return;
  const act = { action: 'sendPayers', subject, after: JSON.stringify(after) };
  await tellOfCaller(transaction, deps, call, act);
}

/** Refuses (200204) a member without a fresh proof who would show payers something new. An API key is its own proof. */
export function assertMayShow({ lacksProof }: MerchantCaller, shown: readonly string[]): void {
  if (lacksProof === true && shown.length > 0)
    throw new Refusal('fresh_proof_required', `new to payers: ${shown.join(', ')}`);
}
