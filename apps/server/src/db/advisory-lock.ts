import { evmLocks } from '@florin/evm';
import { outboxLocks } from '@florin/outbox';
import { type AdvisoryLock, lockRegistry, statement } from '@florin/pg';

/**
 * Every advisory lock of the service. Two jobs with one key would block each other without reason, so equal keys are
 * refused. A test refuses locks taken outside this registry.
 */
export const advisoryLocks = {
  migrations: { key: 7_301_964, guards: 'the schema, while a process brings it up to its version' },
  ...outboxLocks,
  listCounts: { key: 7_301_966, guards: 'the totals of lists, to which one worker adds at a time' },
  sessionSearch: { key: 7_301_968, guards: 'the index of sessions, to which one worker adds at a time' },
  hourSums: { key: 7_301_970, guards: 'the sums of hours, to which one worker adds at a time' },
  payer: { key: 'authorization ', guards: "a payer's authorizations and quota of open sessions" },
  idempotencyKey: { key: 'idempotency ', guards: 'a request with an idempotency key, while it is answered' },
  link: { key: 'link ', guards: 'what a payment link sells, while it is changed' },
  branding: { key: 'branding ', guards: "a merchant's branding, while it is changed" },
  ...evmLocks,
  x402Offer: { key: 'x402 ', guards: 'the session of an x402 offer, while a payment for it is judged' },
  gasBudget: { key: 'gas of ', guards: "a budget of gas for payers' payments, while it is summed up" },
  depositGas: { key: 'deposit gas ', guards: 'a budget of gas for deposit addresses, while it is summed up' },
  gasTotal: { key: 'relayed gas ', guards: "what a chain's payers cost in all, while it is summed up" },
  keyMails: { key: 'webhook mails ', guards: 'e-mails on what keys change, while counted' },
  depositAdditions: { key: 'deposit additions', guards: 'what a day adds to short deposits' },
} as const satisfies Record<string, AdvisoryLock>;

export const { awaitLock, awaitLockOf, tryLock, tryLockOf, trySessionLock } = lockRegistry(advisoryLocks);

/** Waits for the lock of a family that `of` names, and holds it until the transaction ends. */
export function turnOf(family: Parameters<typeof awaitLockOf>[0]) {
  return statement({
    name: `turn_${family}`,
    parameters: { of: 'text' },
    columns: { locked: 'bool?' },
    text: `select true as locked from ${awaitLockOf(family, ':of::text')}`,
  });
}

/** Whether a lock was free: then the transaction holds it until it ends. */
export function soleTurn(lock: Parameters<typeof tryLock>[0]) {
  return statement({
    name: `sole_turn_${lock}`,
    columns: { is_mine: 'bool' },
    text: `select ${tryLock(lock)} as is_mine`,
  });
}
