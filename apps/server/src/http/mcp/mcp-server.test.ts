import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type CallApi, mcpServer } from '@florin/mcp';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { errorAdvice } from '@florin/protocol/error-advice.ts';
import { exampleOrigin, failureExample, operationExamples } from '@florin/protocol/example.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { permissions as allPermissions, type MemberPermission } from '@florin/protocol/permission.ts';
import type { Client as McpClient } from '@modelcontextprotocol/client';
import '../../../test/harness/published-packages.ts';

const { Client, InMemoryTransport } = await import('@modelcontextprotocol/client');

const examples = operationExamples(exampleOrigin);
const page = `${exampleOrigin}/docs/guide/sdk.md`;
const documents: Readonly<Record<string, string>> = {
  '/llms.txt': `# Florin\n\n## Guides\n\n- [Use the SDK](${page}): Take a payment.\n- [Source](https://elsewhere.example/): No page.\n`,
  '/docs/guide/sdk.md': '# Use the SDK\n',
};

/** Answers as an installation does, with the example of each operation. */
async function answerExample({ method, path }: Parameters<CallApi>[0]): Promise<string> {
  const document = documents[path];
  if (document !== undefined) return document;
  for (const table of [merchantApi, agentApi])
    for (const [name, route] of Object.entries(table.routes)) {
      const pattern = new RegExp(`^${table.basePath}${route.path.replace(/:\w+/g, '[^/?]+')}(?:\\?.*)?$`);
      if (route.method === method && pattern.test(path))
        return JSON.stringify({ code: 0, message: 'OK', data: examples[name]?.data });
    }
  return assert.fail(`${method} ${path}`);
}

const clients: McpClient[] = [];
after(async () => {
  for (const client of clients) await client.close();
});

/** The official client, which compares each answer with the schema that its tool names. */
async function connect(permissions?: readonly MemberPermission[]): Promise<McpClient> {
  const [left, right] = InMemoryTransport.createLinkedPair();
  const given = permissions === undefined ? undefined : new Set(permissions);
  await mcpServer({ callApi: answerExample, hasKey: given !== undefined, permissions: given }).connect(left);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(right);
  clients.push(client);
  return client;
}

test('every tool answers in the shape that it names, and says what it may do', async () => {
  const client = await connect(allPermissions);
  const { tools } = await client.listTools();
  assert.ok(tools.length > 35);
  // Some 16,000 tokens before a model's first question.
  assert.ok(JSON.stringify(tools).length < 70_000);
  for (const { name, inputSchema, outputSchema, annotations } of tools) {
    assert.equal(outputSchema?.['type'], 'object', name);
    assert.deepEqual(
      Object.values(annotations ?? {}).map((hint) => typeof hint),
      ['boolean', 'boolean', 'boolean', 'boolean'],
      name,
    );
    const required = (inputSchema.required ?? []) as readonly string[];
    const input = Object.fromEntries(required.map((each) => [each, 'x1']));
    const { isError, structuredContent } = await client.callTool({ name, arguments: input });
    // The example of a session is not paid, so it has no receipt.
    assert.equal(isError, name === 'receipt', name);
    assert.equal(typeof structuredContent, isError === true ? 'undefined' : 'object', name);
  }
});

/** The JSON in the text of a result. */
function textJson({ content }: Awaited<ReturnType<McpClient['callTool']>>): Record<string, unknown> {
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  return JSON.parse(text.slice(text.indexOf('\n')));
}

test('a refusal names its error and what to do about it, as text alone', async () => {
  const [left, right] = InMemoryTransport.createLinkedPair();
  const slug = 'link_not_found';
  const callApi = async () => JSON.stringify(failureExample(exampleOrigin, slug));
  await mcpServer({ callApi, hasKey: false }).connect(left);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(right);
  clients.push(client);
  const refused = await client.callTool({ name: 'get_link', arguments: { linkId: 'x' } });
  assert.deepEqual([refused.isError, textJson(refused)], [true, failureExample(exampleOrigin, slug)]);
  const missing = await client.callTool({ name: 'get_link', arguments: {} });
  assert.equal(Object(textJson(missing)['error']).remedy, errorAdvice.field_invalid.remedy);
  // Some clients compare the data of refusals too with the schema of success.
  for (const result of [refused, missing]) assert.equal('structuredContent' in result, false);
});

test('an answer in another shape does not pass the client', async () => {
  const [left, right] = InMemoryTransport.createLinkedPair();
  const answer = async () => JSON.stringify({ code: 0, message: 'OK', data: { products: 'none' } });
  await mcpServer({ callApi: answer, hasKey: true }).connect(left);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(right);
  clients.push(client);
  await client.listTools();
  const call = { name: 'merchant_list_products', arguments: { page: 1, size: 1 } };
  await assert.rejects(client.callTool(call), /does not match the tool's output schema/i);
});

test('reading tools change nothing, and those that end something or move money are marked', async () => {
  const { tools } = await (await connect(allPermissions)).listTools();
  const named = (hint: 'readOnlyHint' | 'destructiveHint') =>
    tools.filter(({ annotations }) => annotations?.[hint] === true).map(({ name }) => name);
  const destructive = named('destructiveHint');
  assert.deepEqual(destructive.toSorted(), [
    'merchant_accept_exception',
    'merchant_archive_product',
    'merchant_cancel_refund',
    'merchant_cancel_session',
    'merchant_create_refund',
    'merchant_disable_link',
    'merchant_refund_exception',
    'merchant_resolve_exception',
    'submit',
  ]);
  const reading = named('readOnlyHint');
  assert.ok(reading.every((name) => !destructive.includes(name) && !/create|resend|test|enable/.test(name)));
  assert.ok(
    ['get_link', 'status', 'receipt', 'merchant_search_sessions'].every((name) => reading.includes(name)),
  );
});

test('the documentation is read as Markdown, and nothing else with it', async () => {
  const client = await connect();
  const { resources } = await client.listResources();
  assert.deepEqual(resources, [
    { uri: page, name: 'Use the SDK', description: 'Take a payment.', mimeType: 'text/markdown' },
  ]);
  assert.deepEqual((await client.readResource({ uri: page })).contents, [
    { uri: page, mimeType: 'text/markdown', text: '# Use the SDK\n' },
  ]);
  for (const uri of [`${exampleOrigin}/payment/v1/account/list`, `${page}?x`, 'file:///etc/passwd'])
    await assert.rejects(client.readResource({ uri }), /there is no resource/);
});

const payment = { payment: 'order A-1' };

test('prompts are offered to keys whose tools they need, and name only tools that exist', async () => {
  const all = await connect(allPermissions);
  const { prompts } = await all.listPrompts();
  const tools = (await all.listTools()).tools.map(({ name }) => name);
  const values = { ...payment, item: 'Tea', webhook: 'whk_1', link: 'lnk_1', maximum: '5' };
  for (const { name, arguments: listed = [] } of prompts) {
    const given = Object.fromEntries(
      Object.entries(values).filter(([each]) => listed.some((argument) => argument.name === each)),
    );
    const { messages } = await all.getPrompt({ name, arguments: given });
    const [message] = messages;
    const text = message?.content.type === 'text' ? message.content.text : '';
    for (const value of Object.values(given)) assert.ok(text.includes(value), `${name} ${value}`);
    const mentioned = [...text.matchAll(/merchant_\w+/g)].map(([each]) => each);
    assert.deepEqual(
      mentioned.filter((each) => !tools.includes(each)),
      [],
      name,
    );
  }
  const namesOf = async (given?: readonly MemberPermission[]) =>
    (await (await connect(given)).listPrompts()).prompts.map(({ name }) => name);
  assert.deepEqual(
    prompts.map(({ name }) => name),
    ['refund_payment', 'explain_unsettled_payment', 'set_up_link', 'check_webhook', 'pay_link'],
  );
  assert.deepEqual(await namesOf(), ['pay_link']);
  assert.deepEqual(await namesOf(['webhooks:read']), ['check_webhook', 'pay_link']);
  await assert.rejects(
    (await connect()).getPrompt({ name: 'refund_payment', arguments: payment }),
    /there is no prompt/,
  );
  await assert.rejects(all.getPrompt({ name: 'refund_payment' }), /refund_payment needs payment/);
});
