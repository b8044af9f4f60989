import { deprecationText } from '@florin/protocol/deprecation.ts';
import { exampleOrigin, type OperationExample, operationExamples } from '@florin/protocol/example.ts';
import { successBody, tagDescriptions } from '@florin/protocol/openapi.ts';
import { errorsOf, needsKey, takesIdempotencyKey } from '@florin/protocol/openapi-errors.ts';
import { namedSchemas } from '@florin/protocol/openapi-schema.ts';
import { type Route, type RouteTable, rateClassOf } from '@florin/protocol/route.ts';
import { anchorOf } from '../markdown.ts';
import { errorTable } from './error-table.ts';
import { interfaces } from './interfaces.ts';
import { code, type DocsPage, heading, json, linkTo, table } from './page.ts';
import { fieldRows, ignoredFields, objectsPath, schemaPart, typeText } from './schema-rows.ts';
import { sdkCall } from './sdk-call.ts';

const fieldHead = ['Field', 'Type', 'Required', 'Meaning'];
const replyHead = ['Field', 'Type', 'Always there', 'Meaning'];

/** The page that describes the operations of a heading. */
export function operationsPath(tag: string): string {
  return `/docs/api/${anchorOf(tag)}`;
}

/** One page for each heading of the route tables. */
export function operationPages(): DocsPage[] {
  const operations = interfaces.flatMap((table) =>
    Object.entries(table.routes).map(([id, route]) => ({ table, id, route })),
  );
  const examples = operationExamples(exampleOrigin);
  return [...Map.groupBy(operations, ({ route }) => route.tag)].map(([tag, members]) => ({
    path: operationsPath(tag),
    title: tag,
    summary: tagDescriptions[tag] ?? `Operations about ${tag}.`,
    blocks: [
      table(
        ['Operation', 'Method and path'],
        members.map(({ table: { basePath }, route }) => [
          linkTo(route.summary, operationsPath(tag), route.summary),
          `\`${route.method} ${basePath}${route.path}\``,
        ]),
      ),
      ...members.flatMap((member) => operationBlocks({ ...member, example: examples[member.id] })),
    ],
  }));
}

interface Operation {
  readonly table: RouteTable;
  readonly id: string;
  readonly route: Route;
  readonly example: OperationExample | undefined;
}

function operationBlocks(operation: Operation): string[] {
  const { table: interfaceTable, id, route } = operation;
  const key = needsKey(interfaceTable, route)
    ? `Permission: ${route.permissions.map((permission) => `\`${permission}\``).join(' or ')}.`
    : 'No API key is asked for.';
  const rate = interfaceTable.security === 'api_key' ? ` Counts as a ${rateClassOf(route)}.` : '';
  return [
    heading(route.summary),
    ...(route.deprecation === undefined ? [] : [`**${deprecationText(route.deprecation)}**`]),
    code('http', `${route.method} ${interfaceTable.basePath}${route.path}`),
    `${route.description ?? `${route.summary}.`} ${key}${rate} Operation id: \`${id}\`.`,
    ...requestBlocks(operation),
    ...replyBlocks(operation),
    heading(`Errors: ${route.summary.toLowerCase()}`, 3),
    errorTable(errorsOf(interfaceTable, route), interfaceTable),
  ];
}

function requestBlocks(operation: Operation): string[] {
  const { route, table: interfaceTable } = operation;
  const rows = [
    ...fieldRows(schemaPart(route.params ?? {})).map((row) => ['path', ...row]),
    ...fieldRows(schemaPart(route.query ?? {})).map((row) => ['query', ...row]),
    ...fieldRows(schemaPart(route.headers ?? {})).map((row) => ['header', ...row]),
    ...(takesIdempotencyKey(interfaceTable, route)
      ? [['header', '`Idempotency-Key`', 'string', 'no', 'Makes retries safe. At most 255 characters']]
      : []),
    ...fieldRows(schemaPart(route.body ?? {})).map((row) => ['body', ...row]),
  ];
  const request = exampleRequest(operation);
  const ignored = ignoredFields(schemaPart(route.body ?? {}));
  return [
    ...(rows.length === 0 ? [] : [table(['In', ...fieldHead], rows)]),
    ...(ignored.length === 0
      ? []
      : [
          `Taken and ignored, so that what a read returned can be changed and sent back: ${ignored
            .map((name) => `\`${name}\``)
            .join(', ')}.`,
        ]),
    code('sh', curlOf(request)),
    ...sdkBlocks(operation),
    code('js', fetchOf(request)),
    code('py', pythonOf(request)),
  ];
}

function replyBlocks({ route, table: interfaceTable, example }: Operation): string[] {
  const reply = schemaPart(route.reply);
  const rows = fieldRows(reply);
  const isNamed = typeText(reply).startsWith('[');
  const where = interfaceTable.shape === 'envelope' ? '`data`' : '`data`, and the answer itself,';
  return [
    `${where} holds ${isNamed || rows.length === 0 ? typeText(reply) : 'these fields'}.`,
    ...(isNamed || rows.length === 0 ? [] : [table(replyHead, rows)]),
    ...(example === undefined ? [] : [json(shownAnswer(interfaceTable, example.data))]),
    ...stepBlocks(route),
  ];
}

/** Other statuses that are not errors. */
function stepBlocks({ steps = {} }: Route): string[] {
  return Object.entries(steps).flatMap(([status, step]) => {
    const headers = Object.entries(step.headers).map(([name, meaning]) => `\`${name}\`: ${meaning}.`);
    const rows = step.body === undefined ? [] : fieldRows(schemaPart(step.body));
    return [
      `**HTTP ${status}.** ${step.description} ${headers.join(' ')}`,
      ...(rows.length === 0 ? [] : [table(replyHead, rows)]),
    ];
  });
}

/** None for operations of agents and payers: `@florin/sdk` is a merchant's. */
function sdkBlocks({ table: interfaceTable, id, example }: Operation): string[] {
  const call = interfaceTable.security === 'api_key' ? sdkCall(id, example) : undefined;
  return call === undefined ? [] : [code('ts', call)];
}

/** The superset is shown as its envelope, because the same members repeat beside it. */
function shownAnswer(interfaceTable: RouteTable, data: OperationExample['data']): unknown {
  const body = successBody('envelope', data);
  return interfaceTable.shape === 'envelope' ? body : { ...body, '…': 'the members of data again' };
}

/** The operation's example as a request. */
interface ExampleRequest {
  readonly method: string;
  readonly url: string;
  readonly needsKey: boolean;
  /** JSON; absent for operations without a body. */
  readonly body: string | undefined;
}

function exampleRequest({ table: interfaceTable, route, example }: Operation): ExampleRequest {
  const path = route.path.replaceAll(/:([A-Za-z]+)/g, (_whole, name: string) =>
    encodeURIComponent(String(example?.params?.[name] ?? '')),
  );
  const query = Object.entries(example?.query ?? {}).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  return {
    method: route.method,
    url: `${exampleOrigin}${interfaceTable.basePath}${path}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    needsKey: needsKey(interfaceTable, route),
    body: route.body === undefined ? undefined : JSON.stringify(example?.body ?? {}, undefined, 2),
  };
}

function curlOf({ url, needsKey, body }: ExampleRequest): string {
  return [
    `curl -s '${url}'`,
    ...(needsKey ? [`-H "Authorization: Bearer $FLORIN_KEY"`] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${body.replaceAll("'", "'\\''")}'`]),
  ].join(' \\\n  ');
}

function fetchOf({ method, url, needsKey, body }: ExampleRequest): string {
  const headers = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the reader's program fills it in.
    ...(needsKey ? ['Authorization: `Bearer ${process.env.FLORIN_KEY}`'] : []),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${body.replaceAll('\n', '\n  ')})`]),
  ];
  const given = options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`;
  return `const response = await fetch('${url}'${given});\nconsole.log(await response.json());`;
}

function pythonOf({ method, url, needsKey, body }: ExampleRequest): string {
  const given = [
    `'${url}'`,
    ...(needsKey ? [`headers={'Authorization': f"Bearer {os.environ['FLORIN_KEY']}"}`] : []),
    ...(body === undefined ? [] : [`json=${pythonLiteral(body)}`]),
  ];
  return [
    ...(needsKey ? ['import os'] : []),
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(${given.join(', ')})`,
    'print(response.json())',
  ].join('\n');
}

/** JSON in the words of Python. */
function pythonLiteral(json: string): string {
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
  return json.replaceAll(
    /^(\s*(?:"(?:[^"\\]|\\.)*": )?)(true|false|null)(,?)$/gm,
    (_whole, before, word, comma) => [before, words[word], comma].join(''),
  );
}

/** One page with every object that answers reference by name. */
export function objectsPage(): DocsPage {
  return {
    path: objectsPath,
    title: 'Objects',
    summary:
      'Every object that operations take and return. Timestamps are `YYYY-MM-DD HH:MM:SS` in UTC, amounts integers in Micro-USD.',
    blocks: Object.entries(namedSchemas).flatMap(([name, schema]) => [
      heading(name),
      table(replyHead, fieldRows(schemaPart(schema))),
    ]),
  };
}
