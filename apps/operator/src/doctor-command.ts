import { type CommandResult, type Options, optional, UsageError } from '@florin/cli';
import { checkServer, type Database, openDatabase, pendingMigrations } from '@florin/pg';
import {
  addressOfKey,
  type Clock,
  type Config,
  readConfig,
  schema,
  smtpSettingsOf,
} from '@florin/server/operator';
import { type CommandContext, type Commands, serviceClockOf } from './command.ts';
import { newestReceivers } from './doctor.sql.ts';
import { examineChain } from './doctor-chain.ts';
import { examineState } from './doctor-database.ts';
import { bad, type DoctorFinding, good } from './doctor-finding.ts';
import {
  examineBackups,
  examineCertificate,
  examineDisk,
  examineMail,
  examinePorts,
  examineProxies,
  examineReceivers,
} from './doctor-outside.ts';

export const doctorCommands: Commands = {
  doctor: {
    does: 'checks configuration, ports, database, chains, roles, balances, books, certificate, mail server, receivers of webhooks and backups, and reports problems',
    examples: ['doctor', 'doctor --backups /backups --max-backup-hours 24'],
    options: [
      optional('--backups <folder>', 'the folder of the backups, to check their age'),
      optional('--max-backup-hours <hours>', 'how old the newest backup may be (default: 24)'),
    ],
    async run(options, outside) {
      const config = readConfig(outside.environment);
      const backups = backupsOf(options);
      const clock = serviceClockOf(outside, config);
      const opened = await openCurrent(config);
      try {
        const [state, things, receivers, ...chains] = await Promise.all([
          opened.db === undefined
            ? []
            : examineState(opened.db, config, { machine: outside.clock, service: clock }),
          examineOutside(config, outside, backups),
          opened.db
            ?.query(newestReceivers)
            .then((rows) => examineReceivers(rows.map((row) => row.webhook_url))) ?? [],
          ...examineChains(config, clock, opened.db),
        ]);
        const findings = [
          good('configuration', 'is complete'),
          opened.finding,
          ...state,
          ...things,
          ...receivers,
        ];
        return outcomeOf([...findings, ...chains.flat()]);
      } finally {
        await opened.db?.close();
      }
    },
  },
};

interface Backups {
  readonly folder: string;
  readonly maxHours: number;
}

function backupsOf(options: Options): Backups | undefined {
  const hours = options.optional('max-backup-hours') ?? '24';
  if (!/^[1-9]\d{0,3}$/.test(hours))
    throw new UsageError(`--max-backup-hours is ${hours}: give a number of hours`);
  const folder = options.optional('backups');
  if (folder !== undefined) return { folder, maxHours: Number(hours) };
  if (options.optional('max-backup-hours') === undefined) return undefined;
  throw new UsageError('--max-backup-hours needs --backups');
}

function examineChains(config: Config, clock: Clock, db: Database | undefined): Promise<DoctorFinding[]>[] {
  const wallets = {
    orderSigner: addressOfKey(config.orderKey),
    settler: addressOfKey(config.settlerKey),
    otherSettlers: config.otherSettlerKeys.map(addressOfKey),
  };
  const isOrderSignerRelaying = config.gasless?.relayer === 'orderSigner';
  const paysOutAcrossChains = config.chains.all.length > 1;
  const deposits = config.gasless?.deposits;
  const given = {
    ...{ clock, chains: config.chains, wallets, isOrderSignerRelaying, paysOutAcrossChains },
    isLocal: config.environment === 'local',
    ...(deposits === undefined ? {} : { deposits }),
    ...(db === undefined ? {} : { db }),
  };
  return config.chains.all.map((chain) => examineChain(chain, given));
}

/** Checks outside database and chains. */
async function examineOutside(
  config: Config,
  { clock }: CommandContext,
  backups: Backups | undefined,
): Promise<DoctorFinding[]> {
  const {
    origin,
    smtp,
    images: { store },
  } = config;
  return [
    await examinePorts(config),
    ...(await examineCertificate(origin, { clock })),
    ...examineProxies(config),
    ...(smtp === undefined ? [] : [await examineMail(smtpSettingsOf(smtp))]),
    ...(store?.kind === 'folder' ? [await examineDisk('images', store.folder)] : []),
    ...(backups === undefined ? [] : [await examineBackups(backups.folder, { clock, ...backups })]),
  ];
}

function outcomeOf(findings: readonly DoctorFinding[]): CommandResult {
  const wrong = findings.filter((finding) => !finding.isGood).length;
  const lines = findings.map(
    ({ what, isGood, detail }) => `${isGood ? 'ok   ' : 'WRONG'} ${what}: ${detail}`,
  );
  const verdict = wrong === 0 ? 'no problems found' : `${wrong} of ${findings.length} checks found a problem`;
  return {
    text: [...lines, verdict].join('\n'),
    json: { isGood: wrong === 0, findings },
    isBad: wrong > 0,
  };
}

/** Opens the database if it has this program's schema; returns the findings in any case. */
async function openCurrent(
  config: Config,
): Promise<{ readonly db?: Database; readonly finding: DoctorFinding }> {
  const url = config.databaseUrl.reveal();
  try {
    await checkServer(url, schema);
    const pending = await pendingMigrations(url, schema);
    if (pending.length > 0)
      return { finding: bad('database', `its schema lacks ${pending.join(', ')}: run florin migrate`) };
  } catch (error) {
    return { finding: bad('database', describeDatabaseError(error)) };
  }
  const finding = good('database', 'answers, and its schema is current');
  return { db: openDatabase({ schema, url, connections: 2 }), finding };
}

/** A database error for people; an unreachable database has only codes in its parts. */
export function describeDatabaseError(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const message = first instanceof Error ? first.message : String(first);
  return `the database cannot be used: ${message}`;
}
