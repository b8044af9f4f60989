import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const own = '@florin';

/** A folder, a new one when absent, with the files of a clone and the installed dependencies. */
export function copyCheckout(checkout = mkdtempSync(join(tmpdir(), 'florin-checkout-'))): string {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const deleted = execFileSync('git', ['ls-files', '-z', '--deleted'], { cwd: root, encoding: 'utf8' });
  const gone = new Set(deleted.split('\0'));
  const files = listed.split('\0').filter((name) => name !== '' && !gone.has(name));
  for (const file of files) {
    mkdirSync(dirname(join(checkout, file)), { recursive: true });
    copyFileSync(join(root, file), join(checkout, file));
  }
  // With it, `npm start` need not build the documentation once more.
  const docs = 'apps/docs/dist';
  const isWhole = (path: string): boolean => !basename(path).startsWith('work-');
  if (existsSync(join(root, docs)))
    cpSync(join(root, docs), join(checkout, docs), { recursive: true, filter: isWhole });
  const modules = join(checkout, 'node_modules');
  mkdirSync(join(modules, own), { recursive: true });
  for (const file of files.filter((name) => name.endsWith('/package.json'))) {
    const { name } = JSON.parse(readFileSync(join(root, file), 'utf8')) as { name: string };
    if (name.startsWith(`${own}/`)) symlinkSync(join('..', '..', dirname(file)), join(modules, name));
    // A package that two workspaces need in different versions is installed inside one of them.
    const inside = join(dirname(file), 'node_modules');
    if (existsSync(join(root, inside))) symlinkSync(join(root, inside), join(checkout, inside));
  }
  const installed = readdirSync(join(root, 'node_modules')).filter(
    (name) => name !== own && !name.startsWith('.florin'),
  );
  for (const name of installed) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  const lock = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  writeFileSync(join(modules, '.florin-lock-hash'), `${lock.digest('hex')}\n`);
  return checkout;
}

/** The environment of a person's terminal, and compiled modules, without the test's own variables. */
export function plainEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', USER = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, HOME, USER, NODE_COMPILE_CACHE };
}
