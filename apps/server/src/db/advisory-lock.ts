/**
 * Every advisory lock of the service. Two jobs under one key would wait for each other for nothing, so a test refuses
 * equal keys, and keys that are written anywhere else.
 *
 * All of them are in PostgreSQL's space of single 64-bit keys: texts are hashed to 64 bits, where two never meet by
 * chance. The space of two 32-bit keys stays empty: among some ten thousand payers, two would share a hash.
 */
interface AdvisoryLock {
  /** A number, or the beginning of the texts that are hashed: `link ` for the locks `link plink_…`. */
  readonly key: number | string;
  readonly guards: string;
}

export const advisoryLocks = {
  migrations: { key: 7_301_964, guards: 'the schema, while a process brings it up to its version' },
  deliveries: { key: 7_301_965, guards: "webhooks' deliveries while they change their place in line" },
  listCounts: { key: 7_301_966, guards: 'the segments of list counts, which one worker adds up at a time' },
  payer: { key: 'authorization ', guards: "a payer's authorizations and quota of open sessions" },
  idempotencyKey: { key: 'idempotency ', guards: 'a request with an idempotency key, while it is answered' },
  link: { key: 'link ', guards: 'what a payment link sells, while it is changed' },
  nonces: { key: 'nonces ', guards: 'the nonces of a wallet on a chain, given out in the order of asking' },
  x402Offer: { key: 'x402 ', guards: 'the session of an x402 offer, while a payment for it is judged' },
  gasBudget: { key: 'gas of ', guards: "a budget of gas for payers' payments, while it is summed up" },
  depositGas: { key: 'deposit gas ', guards: 'a budget of gas for deposit addresses, while it is summed up' },
  gasTotal: { key: 'relayed gas ', guards: "what a chain's payers cost in all, while it is summed up" },
  depositAdditions: { key: 'deposit additions', guards: 'what a day adds to short deposits' },
} as const satisfies Record<string, AdvisoryLock>;

type Locks = typeof advisoryLocks;
export type LockName = keyof Locks;
/** Locks of which there is one for each text. */
export type FamilyName = {
  [Name in LockName]: Locks[Name]['key'] extends `${string} ` ? Name : never;
}[LockName];

/** The lock's key in SQL. `text` is the expression for which of a family it is. */
function keySql(name: LockName, text?: string): string {
  const { key } = advisoryLocks[name];
  if (typeof key === 'number') return `${key}::int8`;
  return `hashtextextended('${key}'${text === undefined ? '' : ` || ${text}`}, 0)`;
}

/** Waits for a lock that there is once; held until the transaction ends. */
export function awaitLock(name: Exclude<LockName, FamilyName>): string {
  return `pg_advisory_xact_lock(${keySql(name)})`;
}

/** True when nobody else has the lock, and then holds it until the transaction ends. */
export function tryLock(name: Exclude<LockName, FamilyName>): string {
  return `pg_try_advisory_xact_lock(${keySql(name)})`;
}

/** Waits for the one of these locks that `text` names, an expression of SQL; held until the transaction ends. */
export function awaitLockOf(name: FamilyName, text: string): string {
  return `pg_advisory_xact_lock(${keySql(name, text)})`;
}

/** True when nobody else has the one of these locks that `text` names; held until the transaction ends. */
export function tryLockOf(name: FamilyName, text: string): string {
  return `pg_try_advisory_xact_lock(${keySql(name, text)})`;
}

/** Waits for a lock that outlives transactions; the connection's end frees it. */
export function awaitSessionLock(name: Exclude<LockName, FamilyName>): string {
  return `pg_advisory_lock(${keySql(name)})`;
}
