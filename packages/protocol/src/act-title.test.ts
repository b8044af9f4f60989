import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { actTitle } from './act-title.ts';
import { ofMerchantRoutes } from './dashboard-api.ts';
import type { Route } from './route.ts';

/** Names of acts in the sources that record them: given as `action`, to the staff's changes, or noted of the own account. */
function namedInSources(): string[] {
  const root = new URL('../../../', import.meta.url);
  return globSync('apps/{server,operator}/src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && /http.dashboard|members|-command/.test(file))
    .flatMap((file) => {
      const text = readFileSync(new URL(file, root), 'utf8');
      const given = [...text.matchAll(/\baction(?::|\s=)[^;\n]*?((?:'\w+'[ :?]*)+)/g)];
      const changes = [...text.matchAll(/\b(?:change\(routes\.\w+,|note\(deps, call,)\s*'(\w+)'/g)];
      return [...given, ...changes].flatMap(([, names = '']) => names.match(/\b[a-z]+[A-Z]\w*/g) ?? []);
    });
}

test('every act that an audit log can have reads as words', () => {
  const ofMerchants = Object.entries<Route>(ofMerchantRoutes).flatMap(([name, { effect }]) =>
    // A report is a long read, and no log has it.
    effect === 'query' || name === 'createReport' ? [] : [name],
  );
  const named = namedInSources();
  for (const one of ['signInOnNewDevice', 'askRecovery', 'resumeChain', 'removeSecondFactor', 'inviteStaff'])
    assert.ok(named.includes(one), one);
  assert.deepEqual(
    [...ofMerchants, ...named].filter((action) => !actTitle(action).includes(' ')),
    [],
  );
});
