import { findCursor, findDroppedEvents } from '@florin/server/src/chains/watcher/cursor.ts';
import { type Config, readConfig } from '@florin/server/src/config/config.ts';
import { addressOfKey } from '@florin/server/src/config/signer.ts';
import { type Database, openDatabase } from '@florin/server/src/db/database.ts';
import { pendingMigrations } from '@florin/server/src/db/migrate.ts';
import { findScopeProblems } from '@florin/server/src/db/scope-check.ts';
import type { Command, Outcome, Outside } from './command.ts';
import { databaseTime } from './doctor.sql.ts';
import { bad, examineChain, type Finding, good } from './doctor-chain.ts';

const maxClockSkewMs = 2_000;

export const doctorCommand: Command = {
  usage: '',
  does: 'looks at configuration, database, chains, roles and balances, and tells what is wrong',
  options: [],
  async run(_options, outside) {
    const config = readConfig(outside.environment);
    const wallets = {
      orderSigner: addressOfKey(config.orderKey),
      settler: addressOfKey(config.settlerKey),
      otherSettlers: config.otherSettlerKeys.map(addressOfKey),
    };
    const isOrderSignerRelaying = config.gasless?.relayer === 'orderSigner';
    const paysOutAcrossChains = config.chains.all.length > 1;
    const deposits = config.gasless?.deposits;
    const given = {
      ...{ clock: outside.clock, wallets, isOrderSignerRelaying, paysOutAcrossChains },
      ...(deposits === undefined ? {} : { deposits }),
    };
    const [database, ...chains] = await Promise.all([
      examineDatabase(config, outside),
      ...config.chains.all.map((chain) => examineChain(chain, given)),
    ]);
    return outcomeOf([good('configuration', 'is complete'), ...database, ...chains.flat()]);
  },
};

function outcomeOf(findings: readonly Finding[]): Outcome {
  const wrong = findings.filter((finding) => !finding.isGood).length;
  const lines = findings.map(
    ({ what, isGood, detail }) => `${isGood ? 'ok   ' : 'WRONG'} ${what}: ${detail}`,
  );
  const verdict = wrong === 0 ? 'all is well' : `${wrong} of ${findings.length} findings are wrong`;
  return {
    text: [...lines, verdict].join('\n'),
    json: { isGood: wrong === 0, findings },
    isBad: wrong > 0,
  };
}

async function examineDatabase(config: Config, outside: Outside): Promise<Finding[]> {
  const url = config.databaseUrl.reveal();
  let pending: string[];
  try {
    pending = await pendingMigrations(url);
  } catch (error) {
    return [bad('database', describeDatabaseError(error))];
  }
  if (pending.length > 0) {
    return [bad('database', `its schema lacks ${pending.join(', ')}: run florin migrate`)];
  }
  const db = openDatabase({ url, connections: 1 });
  try {
    const findings = [
      good('database', 'answers, and its schema is current'),
      ...(await examineScope(db)),
      await examineClock(db, outside),
    ];
    for (const chain of config.chains.all) findings.push(await examineWatcher(db, chain));
    return findings;
  } finally {
    await db.close();
  }
}

/** An error of the database's for people; an unreachable one has only codes in its parts. */
export function describeDatabaseError(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const message = first instanceof Error ? first.message : String(first);
  return `the database cannot be used: ${message}`;
}

async function examineScope(db: Database): Promise<Finding[]> {
  const what = 'row-level security';
  const problems = await findScopeProblems(db);
  if (problems.length === 0) return [good(what, 'holds merchants apart')];
  return problems.map((problem) => bad(what, problem));
}

async function examineClock(db: Database, { clock }: Outside): Promise<Finding> {
  const before = clock.now().getTime();
  const [row] = await db.query(databaseTime);
  const after = clock.now().getTime();
  if (row === undefined) return bad('clock', 'the database does not tell its time');
  // The database answered at some moment between the two: only what lies outside is skew.
  const time = row.time.getTime();
  const skewMs = Math.max(0, before - time, time - after);
  const detail = `differs from the database's by ${skewMs} ms`;
  return skewMs <= maxClockSkewMs ? good('clock', detail) : bad('clock', `${detail}: let both follow NTP`);
}

async function examineWatcher(
  db: Database,
  chain: { readonly name: string; readonly chainId: number },
): Promise<Finding> {
  const what = `${chain.name} watcher`;
  const cursor = await findCursor(db, chain.chainId);
  if (cursor === undefined) return good(what, 'has not begun: it does when the service starts');
  if (cursor.haltedReason !== '') {
    const remedy = `look at the chain, then florin chain resume --chain ${chain.name}`;
    return bad(what, `halted: ${cursor.haltedReason}: ${remedy}`);
  }
  const missing = (await findDroppedEvents(db, chain.chainId, 1)).filter(
    (event) => event.returnedAt === undefined,
  );
  if (missing.length > 0) {
    return bad(
      what,
      `final events are gone and have not come back: florin chain dropped --chain ${chain.name}`,
    );
  }
  const backfill = cursor.backfillNext === undefined ? '' : `, reading block ${cursor.backfillNext} again`;
  return good(what, `at block ${cursor.headNumber}, final up to ${cursor.finalNumber}${backfill}`);
}
