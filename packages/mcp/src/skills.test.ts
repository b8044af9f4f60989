import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { privateKeyToAccount } from 'viem/accounts';
import { merchantTools } from './merchant-tools.ts';
import { payTool } from './pay-tool.ts';
import { payerTools } from './payer-tools.ts';
import type { Tool } from './tool.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = join(root, 'packages/agent/skills');
const skills = readdirSync(folder);
/** The sources that have the commands, each under its name. */
const commandSources = globSync('apps/{cli,operator}/src/*.ts', { cwd: root })
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .join('\n');
const neverAsked = () => assert.fail('nothing is asked here');
const account = privateKeyToAccount(`0x${'01'.repeat(32)}`);
const tools = new Map<string, Tool>(
  [payTool({ account, maxAmount: 1n }), ...payerTools(neverAsked), ...merchantTools(neverAsked)].map(
    (tool) => [tool.name, tool],
  ),
);

test('there are two skills', () => assert.deepEqual(skills, ['accept-payments', 'pay-a-link']));

for (const skill of skills) {
  const text = readFileSync(join(folder, skill, 'SKILL.md'), 'utf8');
  const [, head = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  const fields = new Map(
    head.split('\n').map((line) => [line.split(': ')[0], line.split(': ').slice(1).join(': ')]),
  );

  test(`the head of ${skill} follows the format of agent skills`, () => {
    assert.equal(fields.get('name'), skill);
    const description = fields.get('description') ?? '';
    assert.ok(description.length > 40 && description.length <= 1024);
    assert.match(description, /Use when/);
    assert.ok((fields.get('compatibility') ?? '').length <= 500);
    assert.ok(body.split('\n').length < 500);
  });

  test(`the tools and arguments that ${skill} names exist`, () => {
    const named = [
      ...body.matchAll(/`(merchant_\w+|get_link|create_session|prepare|submit|status|receipt|pay)`/g),
    ];
    assert.ok(named.length > 3);
    for (const [, name = ''] of named) assert.ok(tools.has(name), name);
  });

  test(`the pages and commands that ${skill} names exist`, () => {
    const pages = [...body.matchAll(/`\/docs\/guide\/([\w-]+\.md)`/g)].map(([, page = '']) => page);
    for (const page of pages) assert.ok(existsSync(join(root, 'docs/guide', page)), page);
    const commands = [...body.matchAll(/(?:florin --|@florin\/cli\/dist\/main.js) (\w+)/g)].map(
      ([, command = '']) => command,
    );
    for (const command of commands)
      assert.match(commandSources, new RegExp(`^ +'?${command}\\b[^:,(]*:`, 'm'));
    assert.ok(pages.length + commands.length > 0);
    // A skill is copied elsewhere: a link into the repository would break.
    assert.doesNotMatch(body, /\]\(/);
  });
}

test('the arguments that accept-payments names are those of its tools', () => {
  const named: Readonly<Record<string, readonly string[]>> = {
    merchant_create_product: ['name', 'commonPrices', 'idempotencyKey'],
    merchant_create_link: ['linkType', 'linkName', 'accountId', 'settlementToken', 'feeModel', 'lineItems'],
    merchant_create_checkout_session: ['accountId', 'settlementToken', 'lineItems', 'expirationTime'],
    merchant_create_refund: ['sessionId'],
  };
  for (const [name, names] of Object.entries(named)) {
    const properties = Object.keys(tools.get(name)?.inputSchema['properties'] ?? {});
    for (const each of names) assert.ok(properties.includes(each), `${name} ${each}`);
  }
});

test('the agents’ guide names every tool of merchants, and no other', () => {
  const guide = readFileSync(join(root, 'docs/guide/let-an-agent-pay.md'), 'utf8');
  const named = [...guide.matchAll(/`(merchant_\w+)`/g)].map(([, name]) => name);
  const offered = [...tools.keys()].filter((name) => name.startsWith('merchant_'));
  assert.deepEqual(named.toSorted(), offered.toSorted());
});

test('every tool states its arguments in a schema that other programs understand', () => {
  for (const { name, inputSchema } of tools.values()) {
    assert.match(name, /^[a-z_]{2,64}$/);
    assert.equal(inputSchema['additionalProperties'], false, name);
    const formats = [...JSON.stringify(inputSchema).matchAll(/"format":"([^"]*)"/g)].map(
      ([, format]) => format,
    );
    assert.deepEqual(
      [...new Set(formats)].filter((format) => format !== 'uri'),
      [],
      name,
    );
  }
});
