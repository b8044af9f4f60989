import { findCursor } from '@florin/evm';
import type { Database } from '@florin/pg';
import { formatIsoTime } from '@florin/protocol/timestamp.ts';
import {
  type Clock,
  type Config,
  type DepositBudgets,
  findAccountsAt,
  findDroppedEvents,
  findExhaustedBudgets,
  findScopeProblems,
  listOpenLegs,
  ownContracts,
  readStatus,
} from '@florin/server/operator';
import { databaseTime } from './doctor.sql.ts';
import { bad, type DoctorFinding, good } from './doctor-finding.ts';
import { examineReplication } from './doctor-replication.ts';

/** Checks the service's state in the database: merchants' scopes, clocks, chains, books and open human decisions. */
export async function examineState(
  db: Database,
  config: Config,
  clocks: { readonly machine: Clock; readonly service: Clock },
): Promise<DoctorFinding[]> {
  const findings = [
    ...(await examineReplication(db, clocks.machine)),
    ...(await examineScope(db)),
    await examineClock(db, clocks.machine),
  ];
  for (const chain of config.chains.all) findings.push(await examineWatcher(db, chain));
  findings.push(...(await examineBooks(db, config, clocks.service)), await examineSettlements(db));
  const budgets = config.gasless?.depositBudgets;
  findings.push(await examineAccounts(db, config));
  if (budgets !== undefined) findings.push(await examineDepositGas(db, clocks.service, budgets));
  return findings;
}

async function examineScope(db: Database): Promise<DoctorFinding[]> {
  const what = 'row-level security';
  const problems = await findScopeProblems(db);
  if (problems.length === 0) return [good(what, 'separates the rows of merchants')];
  return problems.map((problem) => bad(what, problem));
}

const maxClockSkewMs = 2_000;

async function examineClock(db: Database, clock: Clock): Promise<DoctorFinding> {
  const before = clock.now().getTime();
  const [row] = await db.query(databaseTime);
  const after = clock.now().getTime();
  if (row === undefined) return bad('clock', 'the database does not report its time');
  // The database answered at some moment between the two: only the time outside is skew.
  const time = row.time.getTime();
  const skewMs = Math.max(0, before - time, time - after);
  const detail = `differs from the database's by ${skewMs} ms`;
  return skewMs <= maxClockSkewMs
    ? good('clock', detail)
    : bad('clock', `${detail}: synchronize both with NTP`);
}

async function examineWatcher(
  db: Database,
  chain: { readonly name: string; readonly chainId: number },
): Promise<DoctorFinding> {
  const what = `${chain.name} watcher`;
  const cursor = await findCursor(db, chain.chainId);
  if (cursor === undefined) return good(what, 'has not started: it starts with the service');
  if (cursor.isResyncDue) {
    const detail = 'continues once enough nodes agree on the last block that the chain still has';
    return bad(what, `was halted: ${cursor.haltedReason}: ${detail}`);
  }
  if (cursor.haltedReason !== '') {
    const remedy = `check the chain, then run florin chain resume --chain ${chain.name}`;
    return bad(what, `halted: ${cursor.haltedReason}: ${remedy}`);
  }
  const missing = (await findDroppedEvents(db, chain.chainId, 1)).filter(
    (event) => event.returnedAt === undefined,
  );
  if (missing.length > 0) {
    return bad(
      what,
      `final events were reverted and have not returned: florin chain dropped --chain ${chain.name}`,
    );
  }
  const backfill = cursor.backfillNext === undefined ? '' : `, reading block ${cursor.backfillNext} again`;
  const time = formatIsoTime(cursor.headTime);
  return good(what, `at block ${cursor.headNumber} of ${time}, final up to ${cursor.finalNumber}${backfill}`);
}

/** Books and chain are compared each minute. */
const maxLookAgeMs = 600_000;

async function examineBooks(db: Database, { chains }: Config, clock: Clock): Promise<DoctorFinding[]> {
  const status = await readStatus(db, chains);
  return status.chains.map(({ chain, settlement, reason, reconciledBlock, lookedAt, balances }) => {
    const what = `${chain} books`;
    if (settlement === 'stopped')
      return bad(
        what,
        `settlement is stopped (${reason}): florin reconcile status, then docs/runbook/restore.md`,
      );
    const different = balances.filter(({ difference }) => difference !== '0');
    if (different.length > 0)
      return bad(what, `${different.length} balances differ from the chain: florin reconcile status`);
    if (lookedAt === null)
      return good(what, 'have not been compared yet: a worker compares them while the service runs');
    const ageMs = clock.now().getTime() - new Date(lookedAt).getTime();
    const detail = `compared ${Math.max(0, Math.round(ageMs / 60_000))} minutes ago, last agreed at block ${reconciledBlock ?? '-'}`;
    if (ageMs <= maxLookAgeMs) return good(what, detail);
    return bad(what, `${detail}: is a process with the role worker running?`);
  });
}

/** Delayed settlements that are checked; the oldest matter most. */
const legsLookedAt = 1_000;

async function examineSettlements(db: Database): Promise<DoctorFinding> {
  const legs = await listOpenLegs(db, legsLookedAt);
  const held = legs.filter(({ retryAt }) => retryAt === undefined).length;
  const detail = `${legs.length} delayed, ${held} held until you release them`;
  if (held > 0) return bad('settlements', `${detail}: florin settlement list`);
  return good('settlements', legs.length === 0 ? 'none is delayed' : detail);
}

/** Budgets that are listed of each kind. */
const shownBudgets = 5;

/** Accounts that are listed. */
const shownAccounts = 5;

/** Accounts from before such addresses were refused. Payments to them stay in the installation. */
async function examineAccounts(db: Database, { chains }: Config): Promise<DoctorFinding> {
  const what = 'accounts';
  const own = ownContracts(chains.all);
  const accounts = await findAccountsAt(db, [...own.keys()], shownAccounts);
  if (accounts.length === 0) return good(what, 'none is a contract of this installation');
  const shown = accounts.map(({ accountId, merchantId, accountAddress }) => {
    const remedy = `florin account remove --merchant ${merchantId} --account ${accountId}`;
    return `${accountId} pays into ${own.get(accountAddress.toLowerCase())}: have the merchant provide its own wallet, create an account for it, then ${remedy}`;
  });
  return bad(what, shown.join('; '));
}

/** Payment links whose deposits may have to wait. */
export async function examineDepositGas(
  db: Database,
  clock: Clock,
  budgets: DepositBudgets,
): Promise<DoctorFinding> {
  const what = 'gas of deposits';
  const usedUp = await findExhaustedBudgets(db, { clock, budgets, limit: shownBudgets });
  if (usedUp.length === 0) return good(what, 'no link has exhausted its daily budgets');
  const shown = usedUp.map(({ owner, name, spent, budget }) => `${name} of ${owner} (${spent} of ${budget})`);
  return bad(
    what,
    `nearly or fully used, further moves wait: ${shown.join(', ')}: docs/runbook/exceptions.md`,
  );
}
