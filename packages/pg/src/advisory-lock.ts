/**
 * An advisory lock, or a family of locks with one lock per text.
 *
 * All locks use PostgreSQL's space of single 64-bit keys. Texts are hashed to 64 bits, where accidental collisions
 * are negligible. Two 32-bit keys would not do: among some ten thousand texts, two would share a hash.
 */
export interface AdvisoryLock {
  /** A number, or the prefix of the texts that are hashed: `link ` for the locks `link 17`, `link 18` and so on. */
  readonly key: number | string;
  readonly guards: string;
}

type Registry = Readonly<Record<string, AdvisoryLock>>;

/** Families of locks, with one lock per text: their key ends with a space. */
type FamilyOf<Locks extends Registry> = {
  [Name in keyof Locks]: Locks[Name]['key'] extends `${string} ` ? Name : never;
}[keyof Locks];

/** SQL expressions that take the locks of one registry. */
export interface AdvisoryLocks<Name, Family extends Name> {
  /** Waits for a lock that exists once; held until the transaction ends. */
  readonly awaitLock: (name: Exclude<Name, Family>) => string;
  /** Waits for a share of a lock: shares exclude only the whole lock; held until the transaction ends. */
  readonly awaitShare: (name: Exclude<Name, Family>) => string;
  /** True when the lock was free; held until the transaction ends. */
  readonly tryLock: (name: Exclude<Name, Family>) => string;
  /** Waits for the lock of a family that `text` names, an SQL expression; held until the transaction ends. */
  readonly awaitLockOf: (name: Family, text: string) => string;
  /** True when the lock of a family that `text` names was free; held until the transaction ends. */
  readonly tryLockOf: (name: Family, text: string) => string;
  /** True when a lock was free that outlives transactions; the end of the connection frees it. */
  readonly trySessionLock: (name: Exclude<Name, Family>) => string;
}

/** The locks of a product. Throws for two locks with one key, and where a text of one family could belong to another. */
export function lockRegistry<const Locks extends Registry>(
  locks: Locks,
): AdvisoryLocks<keyof Locks, FamilyOf<Locks>> {
  refuseEqualKeys(Object.values(locks).map(({ key }) => key));
  const keySql = (name: keyof Locks, text?: string): string => {
    const lock = locks[name];
    if (lock === undefined) throw new Error(`no lock has the name ${String(name)}`);
    if (typeof lock.key === 'number') return `${lock.key}::int8`;
    return `hashtextextended('${lock.key}'${text === undefined ? '' : ` || ${text}`}, 0)`;
  };
  return {
    awaitLock: (name) => `pg_advisory_xact_lock(${keySql(name)})`,
    awaitShare: (name) => `pg_advisory_xact_lock_shared(${keySql(name)})`,
    tryLock: (name) => `pg_try_advisory_xact_lock(${keySql(name)})`,
    awaitLockOf: (name, text) => `pg_advisory_xact_lock(${keySql(name, text)})`,
    tryLockOf: (name, text) => `pg_try_advisory_xact_lock(${keySql(name, text)})`,
    trySessionLock: (name) => `pg_try_advisory_lock(${keySql(name)})`,
  };
}

function refuseEqualKeys(keys: readonly (number | string)[]): void {
  for (const [place, key] of keys.entries())
    for (const [otherPlace, other] of keys.entries()) {
      if (place === otherPlace) continue;
      const isMixed = typeof key === 'string' && typeof other === 'string' && other.startsWith(key);
      if (key === other || isMixed) throw new Error(`the advisory locks '${key}' and '${other}' can be one`);
    }
}
