import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { type ErrorEntry, type ErrorName, errorCatalogue } from '@florin/protocol/error.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { permissions } from '@florin/protocol/permission.ts';
import type { Route } from '@florin/protocol/route.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';

const catalogue = Object.entries(errorCatalogue) as [ErrorName, ErrorEntry][];
const routes: Route[] = [merchantApi, agentApi, checkoutApi, x402Api].flatMap((table) =>
  Object.values<Route>(table.routes),
);

/** The sources that can throw refusals, without tests. */
async function sources(): Promise<string> {
  const texts = [];
  for (const folder of ['../../', '../../../../operator/src/', '../../../../../packages/outbox/src/']) {
    const url = new URL(folder, import.meta.url);
    for (const file of await readdir(url, { recursive: true })) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      texts.push((await readFile(new URL(file, url), 'utf8')).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''));
    }
  }
  return texts.join('\n');
}

test('a code is used or reserved', async () => {
  const text = await sources();
  const unused = catalogue.filter(([slug]) => !text.includes(`'${slug}'`)).map(([slug]) => slug);
  const reserved = catalogue.filter(([, entry]) => entry.reserved === true).map(([slug]) => slug);
  assert.deepEqual(unused, reserved);
});

test('no operation documents a reserved code', () => {
  const listed = routes.flatMap(({ errors }) => errors.filter((slug) => 'reserved' in errorCatalogue[slug]));
  assert.deepEqual(listed, []);
});

test('a permission opens an operation or a field', async () => {
  const opened = new Set<string>(routes.flatMap((route) => route.permissions));
  const text = await sources();
  const idle = permissions.filter((name) => !opened.has(name) && !text.includes(`'${name}'`));
  assert.deepEqual(idle, []);
});
