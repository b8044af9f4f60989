// Writes the types, the methods and the example events of packages/sdk from the route tables: the published SDK depends on
// nothing.
//   node scripts/generate-sdk.ts            writes
//   node scripts/generate-sdk.ts --check    exits 1 when a committed file differs from its source
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { plainLook } from '@florin/protocol/brand-look.ts';
import { branding } from '@florin/protocol/branding.ts';
import { type ErrorName, errorCatalogue } from '@florin/protocol/error.ts';
import { eventPatterns, events, eventTypes } from '@florin/protocol/event.ts';
import { event } from '@florin/protocol/event-api.ts';
import { eventDataSchema } from '@florin/protocol/event-data.ts';
import { eventFixture } from '@florin/protocol/event-fixture.ts';
import { linkDetail } from '@florin/protocol/link.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { errorsOf, serverErrors } from '@florin/protocol/openapi-errors.ts';
import { eventName } from '@florin/protocol/openapi-events.ts';
import { namedSchemas } from '@florin/protocol/openapi-schema.ts';
import { product } from '@florin/protocol/product.ts';
import type { Route } from '@florin/protocol/route.ts';
import { replacement } from '@florin/protocol/schema.ts';
import { webhook } from '@florin/protocol/webhook.ts';
import { listFilter, nameOf, ownNames, wanted } from './sdk-names.ts';
import { commentText, type Direction, declarationText, typeText, type WireSchema } from './sdk-types.ts';

const folder = 'packages/sdk/src';
const head = '// Written by scripts/generate-sdk.ts.\n';
const routes: Readonly<Record<string, Route>> = merchantApi.routes;

/** Every method of the SDK that sends one operation as it is, by the interface that has it. */
const methods = {
  Products: {
    create: 'createProduct',
    update: 'updateProduct',
    retrieve: 'listProductsByIds',
    list: 'listProducts',
    listByIds: 'listProductsByIds',
    archive: 'archiveProduct',
    unarchive: 'unarchiveProduct',
    remove: 'removeProduct',
  },
  Accounts: { retrieve: 'getAccount', list: 'listAccounts' },
  Links: {
    create: 'createLink',
    update: 'updateLink',
    retrieve: 'getLink',
    list: 'listLinks',
    disable: 'disableLink',
    enable: 'enableLink',
  },
  BrandingMethods: { retrieve: 'getBranding', update: 'updateBranding' },
  Exceptions: {
    list: 'listExceptions',
    accept: 'acceptException',
    refund: 'refundException',
    resolve: 'resolveException',
  },
  Reports: { create: 'createReport', retrieve: 'getReport' },
  WebhookMethods: {
    create: 'createWebhook',
    update: 'updateWebhook',
    retrieve: 'getWebhook',
    list: 'listWebhooks',
    disable: 'disableWebhook',
    enable: 'enableWebhook',
    refreshKey: 'refreshWebhookKey',
    remove: 'removeWebhook',
    test: 'testWebhook',
  },
  Deliveries: {
    list: 'listDeliveries',
    retrieve: 'getDelivery',
    resend: 'resendDelivery',
    resendAll: 'resendDeliveries',
  },
  CapabilityMethods: { retrieve: 'getCapabilities' },
  SessionMethods: { retrieve: 'getSession', search: 'searchSessions' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Operations that files beside the generated ones send: they add something to the wire. */
const byHand = [
  ...['createCheckoutSession', 'cancelCheckoutSession'],
  ...['listSessions', 'listInitializedSessions', 'listPaidSessions', 'listSettlingSessions'],
  ...[
    'listCompletedSessions',
    'listCancelledSessions',
    'listExpiredSessions',
    'listSettlementPendingSessions',
  ],
  ...['createRefund', 'cancelRefund', 'getRefund', 'listRefunds', 'getEvent', 'listEvents'],
];

function main(isCheck: boolean): void {
  const placed = [...byHand, ...Object.values(methods).flatMap((each) => Object.values<string>(each))];
  const missing = Object.keys(routes).filter((id) => !placed.includes(id));
  if (missing.length > 0) throw new Error(`the SDK has no method for ${missing.join(', ')}`);
  // The methods first: they want types that no operation names.
  const methodsText = methodsFile();
  const outputs = {
    'methods.gen.ts': methodsText,
    'wire.gen.ts': wireFile(),
    'fixtures.gen.ts': fixturesFile(),
  };
  const stale = Object.entries(outputs).filter(([name, text]) => readIfPresent(fileOf(name)) !== text);
  for (const [name, text] of stale) {
    if (isCheck) console.error(`out of date: ${folder}/${name}\nrun: npm run generate`);
    else writeFileSync(fileOf(name), text);
  }
  if (isCheck) process.exitCode = stale.length > 0 ? 1 : 0;
  else console.log(`the SDK's sources, ${stale.length} changed`);
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`../${folder}/${name}`, import.meta.url));
}

function readIfPresent(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function typeOf(schema: unknown, direction: Direction, indent = ''): string {
  return typeText(schema as WireSchema, direction, nameOf, indent);
}

/** Types of everything on the wire: objects, events, operations and errors. */
function wireFile(): string {
  const operations = operationsText();
  const eventsText = eventTypesText();
  wanted.delete('Event');
  for (const name of ['RefundFilter', 'SessionFilter']) wanted.set(name, ownNames[name] as WireSchema);
  const declared = new Map<string, string>();
  for (;;) {
    const [name] = [...wanted.keys()].filter((each) => !declared.has(each));
    if (name === undefined) break;
    const schema = (ownNames[name] ?? namedSchemas[name]) as WireSchema;
    declared.set(
      name,
      declarationText(name, schema, /Request$|Filter$/.test(name) ? 'request' : 'reply', nameOf),
    );
  }
  const declarations = [...declared]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, text]) => text);
  const imports =
    "import type { Usd } from './amount.ts';\nimport type { GivenMetadata, SessionMetadata } from './metadata.ts';\n";
  const constants = [errorsText(), brandingText(), routesText()];
  return [head + imports, ...declarations, eventsText, operations, ...constants].join('\n');
}

function eventTypesText(): string {
  const { id, apiVersion, timestamp, sequence, truncated, fixture } = event.properties;
  const common = { type: 'object', properties: { id, apiVersion, timestamp, sequence, truncated, fixture } };
  const required = ['id', 'apiVersion', 'timestamp', 'sequence'];
  const types = eventTypes.map((type) => {
    return `${commentText(events[type].when, '')}export interface ${eventName(type)} extends EventCommon {\n  type: '${type}';\n  data: ${typeOf(eventDataSchema(type), 'reply', '  ')};\n}\n`;
  });
  return [
    declarationText('EventCommon', { ...common, required } as WireSchema, 'reply', nameOf),
    ...types,
    `/** An event of a type that is newer than this version of the SDK. */\nexport interface UnknownEvent extends EventCommon {\n  type: 'unknown';\n  /** The type as it was sent. */\n  unknownType: string;\n  data: unknown;\n}\n`,
    `/** What a webhook receives. \`type\` tells what \`data\` is. */\nexport type FlorinEvent =\n${[...eventTypes.map(eventName), 'UnknownEvent'].map((name) => `  | ${name}`).join('\n')};\n`,
    `/** Every type of event that this version of the SDK knows. */\nexport const eventTypes = [\n${eventTypes.map((type) => `  '${type}',\n`).join('')}] as const;\nexport type EventType = (typeof eventTypes)[number];\n\n/** What \`subscribedEvents\` may have. */\nexport type EventSubscription = EventType | ${eventPatterns.map((pattern) => `'${pattern}'`).join(' | ')};\n`,
  ].join('\n');
}

/** What each operation takes and answers. */
function operationsText(): string {
  const lines = Object.entries(routes).map(([id, { params, query, body, reply }]) => {
    const part = (schema: unknown) =>
      schema === undefined ? 'undefined' : typeOf(schema, 'request', '    ');
    return `  ${id}: {\n    params: ${part(params)};\n    query: ${part(query)};\n    body: ${part(body)};\n    reply: ${typeOf(reply, 'reply', '    ')};\n  };\n`;
  });
  return `/** Every operation of the merchant API: what it takes and what it answers. */\nexport interface Operations {\n${lines.join('')}}\n`;
}

function errorsText(): string {
  const ofRoutes = Object.values(routes).flatMap((route) => errorsOf(merchantApi, route));
  const slugs = new Set<ErrorName>([...ofRoutes, ...serverErrors]);
  const known = (Object.keys(errorCatalogue) as ErrorName[]).filter((slug) => slugs.has(slug));
  const members = known.map((slug) => `  ${slug}: ${errorCatalogue[slug].code},\n`);
  return `/** Every error of the merchant API by its slug. */\nexport const errorCodes = {\n${members.join('')}} as const;\n`;
}

function brandingText(): string {
  const members = Object.entries({ ...plainLook, embedOrigins: [] }).filter(([, value]) => value !== '');
  const text = JSON.stringify(Object.fromEntries(members));
  return `/** What a branding has before its first update. Its other members are empty. */\nexport const plainBranding: Readonly<Record<string, unknown>> = ${text};\n`;
}

function routesText(): string {
  const lines = Object.entries(routes).map(
    ([id, { method, path, effect }]) =>
      `  ${id}: { method: '${method}', path: '${path}', isChange: ${effect !== 'query'} },\n`,
  );
  return `/** Where each operation is, and whether a repetition needs an Idempotency-Key. */\nexport const routes = {\n${lines.join('')}} as const;\n`;
}

/** How one method calls its operation. */
interface Call {
  readonly parameters: readonly string[];
  readonly returns: string;
  readonly run: string;
}

function methodsFile(): string {
  const texts = Object.entries<Readonly<Record<string, string>>>(methods).map(([name, members]) => {
    const calls = Object.entries(members).map(([method, id]) => [method, id, callOf(method, id)] as const);
    const declared = calls.map(
      ([method, id, { parameters, returns }]) =>
        `${commentText(docOf(method, id), '  ')}  ${method}(${[...parameters, `options?: ${method === 'update' ? 'UpdateOptions' : 'CallOptions'}`].join(', ')}): ${returns};\n`,
    );
    const defined = calls.map(([method, , { parameters, run }]) => {
      const names = [...parameters.map((each) => each.replace(/\??:.*$/s, '')), 'options'];
      return `    ${method}: (${names.join(', ')}) => ${run},\n`;
    });
    const maker = `${name[0]?.toLowerCase()}${name.slice(1)}Of`;
    return `export interface ${name} {\n${declared.join('')}}\n\nexport function ${maker}(send: Send): ${name} {\n  return {\n${defined.join('')}  };\n}\n`;
  });
  const names = [...wanted.keys(), 'EventType'].sort();
  const imports = `import type { CallOptions, Send } from './client.ts';\nimport { type List, openList } from './list.ts';\nimport { retrieveProduct } from './product.ts';\nimport { type Changes, type UpdateOptions, update } from './update.ts';\nimport type { ${names.join(', ')} } from './wire.gen.ts';\n`;
  return [head + imports, ...texts].join('\n');
}

/** What an update of the SDK does beyond its operation, which replaces. */
const ofUpdate =
  'What you leave out stays as it is, and `null` resets a member. It reads first, and reads again when another change came between. Answers the result.';

function docOf(method: string, id: string): string {
  if (isRetrievedProduct(method, id)) return 'Read a product. Refused with `product_not_found`.';
  const { summary, description = '', errors } = routeOf(id);
  const refusals =
    errors.length === 0 ? '' : ` Refused with ${errors.map((slug) => `\`${slug}\``).join(', ')}.`;
  // The methods read pages by themselves.
  const about = description.replace(/(?:^| )[^.]*`page` and `size`[^.]*\./, '').trim();
  if (method !== 'update') return `${summary}. ${about}${refusals}`.trim();
  const rest = about.replace(replacement, '').replace(/^Fields left out stay as they are\./, '');
  return `${summary.replace('Replace', 'Change')}. ${ofUpdate}${rest}${refusals}`;
}

/** The API reads one product by a list of ids. */
function isRetrievedProduct(method: string, id: string): boolean {
  return method === 'retrieve' && id === 'listProductsByIds';
}

function routeOf(id: string): Route {
  const route = routes[id];
  if (route === undefined) throw new Error(`there is no operation ${id}`);
  return route;
}

function callOf(method: string, id: string): Call {
  const { params, query, body, reply } = routeOf(id);
  const places = Object.keys(params?.properties ?? {}).filter((name) => name !== 'page' && name !== 'size');
  const ids = places.map((name) => `${name}: string`);
  if (isRetrievedProduct(method, id))
    return {
      parameters: ['productId: string'],
      returns: `Promise<${typeOf(product, 'reply')}>`,
      run: 'retrieveProduct(send, productId, options)',
    };
  if (method === 'update') return updateCall(id);
  if (method === 'list' || method === 'search') {
    const { properties = {}, items } = reply as WireSchema;
    const [member = ''] = Object.keys(properties).filter((name) => properties[name]?.items !== undefined);
    const item = typeOf(items ?? properties[member]?.items, 'reply', '  ');
    const filter = body ?? (query === undefined ? undefined : listFilter);
    return {
      parameters: [...ids, ...(filter === undefined ? [] : [`filter?: ${typeOf(filter, 'request', '  ')}`])],
      returns: `List<${item}>`,
      run: `openList(send, '${id}', ${listText({ member, places, hasBody: body !== undefined, hasFilter: filter !== undefined })}, options)`,
    };
  }
  const returns = `Promise<${typeOf(reply, 'reply', '  ')}>`;
  if (body === undefined)
    return {
      parameters: ids,
      returns,
      run: `send('${id}', ${places.length === 0 ? '{}' : `{ params: { ${places.join(', ')} } }`}, options)`,
    };
  const { properties = {}, required = [] } = body as WireSchema;
  const [only = ''] = required;
  const isOfOneId = required.length === 1 && method !== 'create';
  if (!isOfOneId)
    return {
      parameters: [`body: ${typeOf(body, 'request', '  ')}`],
      returns,
      run: `send('${id}', { body }, options)`,
    };
  const { [only]: first, ...rest } = properties;
  if (Object.keys(rest).length === 0)
    return {
      parameters: [`${only}: ${typeOf(first, 'request', '  ')}`],
      returns,
      run: `send('${id}', { body: { ${only} } }, options)`,
    };
  const more = typeOf({ ...body, properties: rest, required: [] }, 'request', '  ');
  return {
    parameters: [`${only}: string`, `more?: ${more}`],
    returns,
    run: `send('${id}', { body: { ...more, ${only} } }, options)`,
  };
}

/** What an update of the SDK answers. */
const updatedThings: Readonly<Record<string, object>> = {
  updateProduct: product,
  updateLink: linkDetail,
  updateWebhook: webhook,
  updateBranding: branding,
};

/** An update of named members, of which the SDK makes the replacement that the API takes. */
function updateCall(id: string): Call {
  const { body } = routeOf(id);
  const [idName] = (body as WireSchema).required ?? [];
  return {
    parameters: [
      ...(idName === undefined ? [] : [`${idName}: string`]),
      `changes: Changes<${typeOf(body, 'request')}>`,
    ],
    returns: `Promise<${typeOf(updatedThings[id], 'reply')}>`,
    run: `update(send, '${id}', ${idName ?? "''"}, changes, options)`,
  };
}

function listText(list: {
  readonly member: string;
  readonly places: readonly string[];
  readonly hasBody: boolean;
  readonly hasFilter: boolean;
}): string {
  const { member, places, hasBody, hasFilter } = list;
  const parts = [
    `items: '${member}'`,
    ...(places.length === 0 ? [] : [`params: { ${places.join(', ')} }`]),
    ...(hasFilter ? [hasBody ? 'body: filter' : 'filter'] : []),
  ];
  return `{ ${parts.join(', ')} }`;
}

/** Where the examples' pages are. */
const exampleOrigin = 'https://pay.example.com';

function fixturesFile(): string {
  const entries = eventTypes.map(
    (type) =>
      `  '${type}': ${JSON.stringify(eventFixture(type, exampleOrigin), undefined, 2).replaceAll('\n', '\n  ')},\n`,
  );
  const type = '{ readonly [Type in EventType]: Record<string, object | string> }';
  return `${head}import type { EventType } from './wire.gen.ts';\n\n/** \`data\` of an example of each type of event. Their ids exist in no installation. */\nexport const fixtureData: ${type} = {\n${entries.join('')}};\n`;
}

main(process.argv.includes('--check'));
