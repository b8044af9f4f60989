import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { type ErrorName, errorCatalogue } from '@florin/protocol/error.ts';
import { exampleOrigin, type OperationExample, operationExamples } from '@florin/protocol/example.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { openApiDocument } from '@florin/protocol/openapi.ts';
import { errorsOf, statusOf } from '@florin/protocol/openapi-errors.ts';
import type { Route, RouteTable } from '@florin/protocol/route.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import { sampleBodies } from '../../../test/fuzz/sample-body.ts';
import { compileCheck } from '../schema-check.ts';

/** The pages as committed in the repository, not as they would be generated now. */
const reference = fileURLToPath(new URL('../../../../../docs/reference/', import.meta.url));
const tables: readonly RouteTable[] = [merchantApi, agentApi, x402Api];
const catalogue = Object.entries(errorCatalogue) as [ErrorName, (typeof errorCatalogue)[ErrorName]][];

function read(path: string): string {
  return readFileSync(`${reference}${path}`, 'utf8');
}

/** The rows of all tables in a text, without Markdown marks. */
function rowsOf(text: string): string[][] {
  return [...text.matchAll(/^\| (.*) \|$/gm)].map((match) =>
    (match[1] ?? '')
      .split(' | ')
      .map((cell) => cell.replace(/^`(.*)`$/, '$1').replace(/^\[(.*)\]\(.*\)$/, '$1')),
  );
}

function yesOrNo(isYes: boolean): string {
  return isYes ? 'yes' : 'no';
}

test('the list of errors has code, status, slug, text and retryability as in the catalogue', () => {
  const listed = rowsOf(read('errors.md')).filter(([code]) => /^\d+$/.test(code ?? ''));
  const expected = catalogue.map(([slug, { code, http, text, retryable }]) => [
    String(code),
    String(http),
    slug,
    text,
    yesOrNo(retryable),
  ]);
  assert.deepEqual(listed, expected);
});

test('the page of each error matches the catalogue, its example included', () => {
  for (const [slug, { code, http, text, retryable }] of catalogue) {
    const page = read(`errors/${code}.md`);
    assert.ok(page.startsWith(`# ${code}: ${text}\n`), slug);
    const [row] = rowsOf(page).filter(([first]) => first === String(code));
    assert.deepEqual(row, [String(code), slug, String(http), yesOrNo(retryable)]);
    const example = JSON.parse(/```json\n([\s\S]*?)\n```/.exec(page)?.[1] ?? '');
    assert.deepEqual(
      [example.code, example.message, example.data, example.error.slug, example.error.retryable],
      [code, text, null, slug, retryable],
    );
    assert.equal(example.error.docUrl, `${exampleOrigin}/docs/errors/${code}`);
  }
});

/** The section of an operation in its interface's reference. */
function sectionOf(route: Route): string {
  const page = read(`api/${route.tag.toLowerCase().replaceAll(' ', '-')}.md`);
  const start = page.indexOf(`\n## ${route.summary}\n`);
  assert.ok(start >= 0, route.summary);
  const end = page.indexOf('\n## ', start + 1);
  return page.slice(start, end < 0 ? undefined : end);
}

test('the reference, OpenAPI and the route tables list the same errors for each operation', () => {
  const document = JSON.parse(JSON.stringify(openApiDocument({ origin: exampleOrigin, tables })));
  let compared = 0;
  for (const table of tables) {
    for (const [id, route] of Object.entries<Route>(table.routes)) {
      const expected = errorsOf(table, route).map((slug) => {
        const { code, text, retryable } = errorCatalogue[slug];
        return [String(code), String(statusOf(table, slug)), slug, text, yesOrNo(retryable)];
      });
      const rows = rowsOf(sectionOf(route)).filter(([code]) => /^\d{6}$/.test(code ?? ''));
      assert.deepEqual(rows, expected, id);
      const path = `${table.basePath}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
      const responses: Record<string, { description: string }> =
        document.paths[path][route.method.toLowerCase()].responses;
      const described = Object.entries(responses).flatMap(([status, { description }]) =>
        [...description.matchAll(/(\d{6}) ([^;.]+)/g)].map(([, code, text]) => [code, status, text]),
      );
      assert.deepEqual(
        described.sort(),
        expected.map(([code, http, , text]) => [code, http, text]).sort(),
        id,
      );
      compared += expected.length;
    }
  }
  assert.ok(compared > 400);
});

/** Valid bodies by operation id, for operations without fuller ones in the fuzz suite. */
function exampleBodies(): ReadonlyMap<string, unknown> {
  const examples = operationExamples(exampleOrigin);
  return new Map(Object.entries<OperationExample>(examples).map(([id, { body }]) => [id, body]));
}

/** The limits in a table cell: a number of characters or entries, or a range of numbers. */
interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly unit: 'characters' | 'entries' | 'number';
}

function boundsOf(text: string): Bounds {
  const match = /^(?:At most|([\d,]+) to) ([\d,]+)(?: (characters|entries))?/.exec(text);
  const [, least = '0', most = '', unit = 'number'] = match ?? [];
  assert.ok(match !== null, text);
  const numberOf = (digits: string) => Number(digits.replaceAll(',', ''));
  return { least: numberOf(least), most: numberOf(most), unit: unit as Bounds['unit'] };
}

/** A value of a given size, derived from the one in a valid body. */
function sized(field: string, sample: unknown, unit: Bounds['unit'], size: number): unknown {
  if (unit === 'number') return size;
  if (unit === 'entries')
    return Array<unknown>(size).fill((sample as unknown[] | undefined)?.[0] ?? 'session.paid');
  const start = field.endsWith('Url') ? 'https://shop.example.com/' : '';
  return size < start.length ? '' : `${start}${'x'.repeat(size - start.length)}`;
}

/** A copy of a body with another value at a path such as `lineItems[].unitPrice`, in the last item that has it. */
function placed(body: unknown, path: readonly string[], make: (sample: unknown) => unknown): unknown {
  const [step = '', ...rest] = path;
  if (step === '') return make(body);
  if (step === '[]') {
    const items = [...(body as unknown[])];
    const last = items.pop();
    return [...items, placed(last, rest, make)];
  }
  const members = (body ?? {}) as Record<string, unknown>;
  return { ...members, [step]: placed(members[step], rest, make) };
}

test('each limit in the reference is enforced, on both sides', () => {
  const routes = new Map(
    Object.entries<Route>(merchantApi.routes).map(([id, route]) => [
      `${route.method} ${merchantApi.basePath}${route.path}`,
      { id, route },
    ]),
  );
  const examples = exampleBodies();
  let checked = 0;
  for (const [operation = '', field = '', limit = ''] of rowsOf(read('limits.md'))) {
    const found = routes.get(operation);
    if (found === undefined) continue;
    const { id, route } = found;
    const sample = sampleBodies[id] ?? examples.get(id);
    assert.ok(route.body !== undefined && sample !== undefined, operation);
    const check = compileCheck(route.body, 'body');
    const { least, most, unit } = boundsOf(limit);
    const path = field.replaceAll('[]', '.[]').split('.');
    const refusalFor = (size: number) => {
      const refusal = check(placed(sample, path, (value) => sized(field, value, unit, size)));
      const param = refusal?.details.param?.replaceAll(/\[\d+\]/g, '[]') ?? '';
      return param === field ? refusal : undefined;
    };
    assert.equal(refusalFor(most), undefined, `${operation} ${field} at ${most}`);
    assert.ok(refusalFor(most + 1) !== undefined, `${operation} ${field} beyond ${most}`);
    if (least > 0) assert.ok(refusalFor(least - 1) !== undefined, `${operation} ${field} below ${least}`);
    checked += 1;
  }
  assert.ok(checked > 50, `${checked}`);
});
