import type { BenchEnvironment } from './environment.ts';
import { benchProduct, limitSchema, type SessionBody } from './limits/session-row.ts';
import { counterDigits, counterMark } from './load-plan.ts';
import { type Contender, compare, type LoadProfile, loadOnce } from './measure.ts';
import { callProduct, type RunningProduct, startProduct } from './product.ts';
import { type BenchResult, type HalfLoad, ratioOf } from './report.ts';

/** Bytes of a create request. All measurements of the limits use this size. */
const requestBytes = 617;
/** Number of sessions that the reads use in turn. */
const readIds = 2_000;
const names = {
  batch: 'limit L1 (batched insert)',
  single: 'limit L1s (single insert)',
  create: 'session create',
  keyed: 'session create with an Idempotency-Key',
  get: 'limit GET',
  read: 'session read',
} as const;

/** A create request of exactly 617 bytes once its counter is filled in. */
export function composeBody(
  ids: Pick<RunningProduct, 'accountId' | 'productId' | 'settlementToken'>,
): string {
  const compose = (note: string) => {
    const body: SessionBody = {
      accountId: ids.accountId,
      settlementToken: ids.settlementToken,
      lineItems: [
        {
          itemType: 'product',
          productId: ids.productId,
          quantity: 2,
          unitPrice: benchProduct.commonPrices[0],
        },
      ],
      successUrl: 'https://shop.example.com/orders/thank-you?session={SESSION_ID}',
      payerEmailRequired: 0,
      feeModel: 1,
      metadata: {
        orderNumber: counterMark,
        customer: 'C-20417',
        channel: 'web',
        note,
      },
    };
    return JSON.stringify(body);
  };
  const missing = requestBytes - (compose('').length - counterMark.length + counterDigits);
  return compose('.'.repeat(Math.max(0, missing)));
}

async function startLimits(
  environment: BenchEnvironment,
  product: RunningProduct,
  body: string,
): Promise<Contender[]> {
  const databaseUrl = await environment.createDatabase('bench_limit', limitSchema);
  const headers = headersOf(product);
  const start = async (name: string, script: string, path: string | undefined): Promise<Contender> => {
    const server = await environment.startLimit(name, script, {
      LIMIT_DATABASE_URL: databaseUrl,
      LIMIT_API_KEY: product.apiKey,
    });
    const question =
      path === undefined
        ? createQuestion('/session/checkout/create', headers, body)
        : { method: 'GET' as const, paths: [path], headers };
    return { name, server, question };
  };
  return [
    await start(names.batch, 'insert-batch.ts', undefined),
    await start(names.single, 'insert-single.ts', undefined),
    await start(names.get, 'get.ts', '/session/none'),
  ];
}

function headersOf(product: RunningProduct) {
  return { authorization: `Bearer ${product.apiKey}` };
}

function createQuestion(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  isIdempotent = true,
) {
  return {
    method: 'POST' as const,
    paths: [path],
    headers: { ...headers, 'content-type': 'application/json' },
    body,
    isIdempotent,
  };
}

/** Creates some sessions for the reads. */
async function withIds(
  reader: Contender,
  creator: Contender,
  options: { effort: LoadProfile; prefix: string },
): Promise<Contender> {
  const { load } = await loadOnce(
    creator,
    { ...options.effort, seconds: options.effort.warmUpSeconds },
    { collectSessionIds: readIds },
  );
  const paths = load.sessionIds.map((sessionId) => `${options.prefix}/session/${sessionId}`);
  return { ...reader, question: { ...reader.question, paths } };
}

/** Whether the product answers a repeated Idempotency-Key with the original session. */
async function isIdempotent(product: RunningProduct, body: string): Promise<boolean> {
  const request = {
    body: JSON.parse(body.replace(counterMark, '0'.repeat(counterDigits))),
    headers: { 'idempotency-key': 'bench-once' },
  };
  const create = async () =>
    (await callProduct(product.server, product.apiKey, '/session/checkout/create', request)) as {
      sessionId: string;
    };
  const first = await create();
  const second = await create();
  return first.sessionId === second.sessionId;
}

async function halfLoadOf(contender: Contender, perSecond: number, effort: LoadProfile): Promise<HalfLoad> {
  const { figures } = await loadOnce(contender, effort, { perSecond: Math.floor(perSecond / 2) });
  return { name: contender.name, ...figures };
}

/** Creation of checkout sessions against L1 and L1s, and reads by id against a bare GET. */
export async function measureSessions(environment: BenchEnvironment): Promise<BenchResult> {
  const { effort, log } = environment;
  const databaseUrl = await environment.createDatabase('bench_product');
  const { folder, profileFolder } = environment;
  const product = await startProduct({
    folder,
    databaseUrl,
    ...(profileFolder === undefined ? {} : { profileFolder }),
    onEnd: environment.onEnd,
  });
  const body = composeBody(product);
  const idempotent = await isIdempotent(product, body);
  const headers = headersOf(product);
  const create: Contender = {
    name: names.create,
    server: product.server,
    question: createQuestion('/payment/v1/session/checkout/create', headers, body, false),
  };
  const keyed: Contender = {
    name: names.keyed,
    server: product.server,
    question: createQuestion('/payment/v1/session/checkout/create', headers, body),
  };
  const read: Contender = {
    name: names.read,
    server: product.server,
    question: { method: 'GET', paths: [], headers },
  };
  const [batch, single, get] = await startLimits(environment, product, body);
  if (batch === undefined || single === undefined || get === undefined)
    throw new Error('a limit did not start');
  const getWithIds = await withIds(get, batch, { effort, prefix: '' });
  const readWithIds = await withIds(read, create, { effort, prefix: '/payment/v1' });
  const measured = await compare([batch, create, keyed, single, getWithIds, readWithIds], effort, log);
  const find = (name: string) => measured.find((candidate) => candidate.name === name)?.median.perSecond ?? 0;
  return {
    subject: 'session',
    title: 'Checkout sessions: create and read by id',
    effort,
    measured,
    ratios: [
      ratioOf(measured, { product: names.create, limit: names.batch, wanted: 0.6 }),
      ratioOf(measured, { product: names.keyed, limit: names.batch, wanted: 0.55 }),
      ratioOf(measured, { product: names.create, limit: names.single, wanted: 0 }),
      ratioOf(measured, { product: names.read, limit: names.get, wanted: 1 }),
    ],
    halfLoads: [
      await halfLoadOf(create, find(names.create), effort),
      await halfLoadOf(keyed, find(names.keyed), effort),
      await halfLoadOf(readWithIds, find(names.read), effort),
    ],
    notes: [
      'A create of the product looks its API key up in the database, checks in the insert that the cached account and product are still current, and writes the session with its `session.created` event and the changes of its list counts. A limit writes a session and an idempotency row.',
      idempotent
        ? 'The limits store an idempotency row with every create; the product does so if a request has an Idempotency-Key. The row names the event that holds the answer.'
        : 'Every create has its own Idempotency-Key, which the limits store and the product does not.',
    ],
  };
}
