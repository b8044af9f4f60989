import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Where documents begin their paths, besides their own folder: the root, the server's rooms, the parts of packages/evm. */
const starts = ['', 'apps/server/src', 'packages/evm/src'].map((folder) => join(root, folder));
/** Folders of the checkout that hold text of others, or nothing of ours. */
const isForeign = (path: string) => /(^|\/)(node_modules|dist|\..+)$/.test(path);
/** Files that an operator or a command makes: a checkout does not have them. */
const madeLater = /^(\.test|apps\/docs\/dist|contracts\/deployments)\//;
/** A path of this repository, and not one of a URL, of a machine or with a placeholder. */
const repositoryPath = /^(?:[\w-]+\/)+[\w.-]+\.(?:ts|sql|sol|md|json|cjs)$/;

test('every file of the repository that a document names in code exists', () => {
  const documents = globSync('**/*.md', { cwd: root, exclude: isForeign });
  const named = documents.flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/`([^`\n]+)`/g)]
      .flatMap(([, code = '']) => code.split(/\s+/))
      .filter((path) => repositoryPath.test(path) && !madeLater.test(path))
      .map((path) => ({ document, path })),
  );
  assert.ok(named.length > 300, `${named.length} paths`);
  assert.deepEqual(
    named.filter(
      ({ document, path }) =>
        ![...starts, join(root, dirname(document))].some((start) => existsSync(join(start, path))),
    ),
    [],
  );
});
