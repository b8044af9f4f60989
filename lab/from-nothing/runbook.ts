import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { environmentOf, type InstalledRelease, plain } from './release-process.ts';

const root = new URL('../../', import.meta.url);
const call = 'npm run florin -- ';

/** Commands that need what this installation lacks, or were run before: by what they are tested. */
const elsewhere: Readonly<Record<string, string>> = {
  'keystore create': 'lab/from-nothing/from-nothing.ts',
  deploy: 'lab/from-nothing/from-nothing.ts',
  verify: 'apps/operator/src/deploy-command.test.ts',
  handover: 'apps/operator/src/handover.test.ts',
  operator: 'apps/operator/src/operator-command.test.ts',
  'merchant brand': 'apps/operator/src/brand-command.test.ts',
  'member recover': 'apps/operator/src/member-command.test.ts',
  'member cancel-recovery': 'apps/operator/src/member-command.test.ts',
  'staff remove': 'apps/operator/src/staff-command.test.ts',
};
/** Exits with 1 when it finds something, such as the certificate of an origin that does not exist. */
const mayFind = 'doctor';

/** The commands of a page of the runbook, in order, each on one line. */
function commandsOf(page: string): string[] {
  const text = readFileSync(new URL(page, root), 'utf8');
  return [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .filter((line) => line.startsWith(call))
      .map((line) => line.slice(call.length)),
  );
}

/** Runs the commands of the page as printed, with this installation's ids. Returns how many ran. */
export async function runPage(
  { release, folder, ...installation }: InstalledRelease,
  page: string,
  ids: Readonly<Record<'mer_…' | 'acc_…', string>>,
): Promise<number> {
  const env = { ...plain, ...environmentOf({ release, folder, ...installation }) };
  let count = 0;
  for (const command of commandsOf(page)) {
    const tested = Object.keys(elsewhere).find((start) => command.startsWith(start));
    if (tested !== undefined) {
      if (!existsSync(new URL(elsewhere[tested] ?? '', root))) throw new Error(`nothing tests ${command}`);
      continue;
    }
    const own = Object.entries(ids).reduce((text, [name, id]) => text.replaceAll(name, id), command);
    // Of an account or a person: any valid address is right.
    const whole = own.replaceAll('0x…', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
    const line = `${join(release, 'bin/florin')} ${whole.replaceAll('/backups', folder)}`;
    await promisify(execFile)('/bin/sh', ['-c', line], { env, cwd: folder }).catch((error: unknown) => {
      const isFinding = command.startsWith(mayFind) && (error as { code?: number }).code === 1;
      if (!isFinding) throw new Error(`${command}: ${String(error)}`, { cause: error });
    });
    count += 1;
  }
  return count;
}
