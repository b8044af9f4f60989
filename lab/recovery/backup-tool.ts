import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a tool works with: the server's folder and port, and programs that run as the server's user. */
export interface ToolContext {
  /** Of the drill, also for the server's socket. */
  readonly folder: string;
  readonly data: string;
  readonly port: number;
  readonly run: (program: string, ...args: readonly string[]) => string;
  /** The same for what the clients of the drill must go on beside. */
  readonly runBeside: (program: string, ...args: readonly string[]) => Promise<void>;
}

/** A way to back up a PostgreSQL and its WAL. */
export interface BackupTool {
  readonly archiveCommand: string;
  /** Once the server runs. */
  prepare(): void;
  /** Makes a backup; returns its bytes in the repository. */
  backUp(kind: 'full' | 'incr'): Promise<number>;
  /** Puts the server's folder back. The server then recovers to the moment at its start. */
  restoreTo(moment: Date): void;
}

export const backupTools = { pgbackrest: pgBackRest, pg_basebackup: baseBackup } as const;

const targetOf = (moment: Date) => moment.toISOString().replace('T', ' ').replace('Z', '+00');

/** pgBackRest, for the versions of PostgreSQL that it knows: full and incremental backups. */
function pgBackRest({ folder, data, port, run, runBeside }: ToolContext): BackupTool {
  const config = join(folder, 'pgbackrest.conf');
  writeFileSync(config, repositoryOf(folder, data, port), { mode: 0o644 });
  const options = [`--config=${config}`, '--stanza=florin'];
  return {
    archiveCommand: `pgbackrest ${options.join(' ')} archive-push %p`,
    prepare: () => void run('pgbackrest', ...options, 'stanza-create'),
    async backUp(kind) {
      await runBeside('pgbackrest', ...options, `--type=${kind}`, 'backup');
      const [stanza] = JSON.parse(run('pgbackrest', ...options, 'info', '--output=json')) as [
        { backup: { info: { repository: { delta: number } } }[] },
      ];
      return stanza.backup.at(-1)?.info.repository.delta ?? 0;
    },
    restoreTo(moment) {
      const target = ['--type=time', `--target=${targetOf(moment)}`, '--target-action=promote'];
      run('pgbackrest', ...options, ...target, 'restore');
    },
  };
}

/** PostgreSQL's own pg_basebackup and a folder of WAL, for any version: each backup is full. */
function baseBackup({ folder, data, port, run, runBeside }: ToolContext): BackupTool {
  const wal = join(folder, 'wal');
  const backup = join(folder, 'base');
  run('mkdir', wal);
  return {
    // As the runbook has it: a segment that is there is never overwritten, and has its name only once it is whole.
    archiveCommand: `test ! -f ${wal}/%f && cp %p ${wal}/%f.part && mv ${wal}/%f.part ${wal}/%f`,
    prepare: () => {},
    async backUp() {
      rmSync(backup, { recursive: true, force: true });
      const server = ['--host', folder, '--port', String(port), '--username', 'postgres'];
      await runBeside('pg_basebackup', ...server, '--checkpoint=fast', '--pgdata', backup);
      run('pg_verifybackup', '--quiet', backup);
      return bytesIn(backup);
    },
    restoreTo(moment) {
      run('cp', '--archive', backup, data);
      run('rm', '-f', join(data, 'backup_manifest'));
      const settings = [
        `restore_command = 'cp ${wal}/%f %p'`,
        `recovery_target_time = '${targetOf(moment)}'`,
        `recovery_target_action = 'promote'`,
      ];
      writeFileSync(join(data, 'postgresql.auto.conf'), `${settings.join('\n')}\n`, { flag: 'a' });
      run('touch', join(data, 'recovery.signal'));
    },
  };
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** The settings of the runbook, with everything in one folder. */
function repositoryOf(folder: string, data: string, port: number): string {
  return [
    '[global]',
    `repo1-path=${join(folder, 'repository')}`,
    'repo1-retention-full=2',
    'start-fast=y',
    'log-level-console=warn',
    `log-path=${folder}`,
    `lock-path=${folder}`,
    `spool-path=${folder}`,
    '[florin]',
    `pg1-path=${data}`,
    `pg1-port=${port}`,
    `pg1-socket-path=${folder}`,
    'pg1-user=postgres',
    '',
  ].join('\n');
}
