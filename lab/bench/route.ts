import type { Server } from './child.ts';
import type { BenchEnvironment } from './environment.ts';
import { type Contender, compare } from './measure.ts';
import { callProduct, startProduct } from './product.ts';
import { type BenchResult, ratioOf } from './report.ts';

const names = { limit: 'limit constant (bare fastify)', product: 'capabilities' } as const;

/** A public route without a database, compared with a bare fastify that answers the same object. */
export async function measureRoute(environment: BenchEnvironment): Promise<BenchResult> {
  const { effort, log, folder, profileFolder } = environment;
  const databaseUrl = await environment.createDatabase('bench_product');
  const product = await startProduct({
    folder,
    databaseUrl,
    ...(profileFolder === undefined ? {} : { profileFolder }),
    onEnd: environment.onEnd,
  });
  const data = await callProduct(product.server, product.apiKey, '/capabilities/all');
  const limit = await environment.startLimit(names.limit, 'constant.ts', {
    LIMIT_API_KEY: product.apiKey,
    LIMIT_REPLY_DATA: JSON.stringify(data),
  });
  const ask = (name: string, server: Server, path: string): Contender => ({
    ...{ name, server },
    question: { method: 'GET', paths: [path], headers: {} },
  });
  const measured = await compare(
    [
      ask(names.limit, limit, '/capabilities/all'),
      ask(names.product, product.server, '/payment/v1/capabilities/all'),
    ],
    effort,
    log,
  );
  return {
    subject: 'route',
    title: 'A route without a database',
    effort,
    measured,
    ratios: [ratioOf(measured, { product: names.product, limit: names.limit, wanted: 0.8 })],
    halfLoads: [],
    notes: [
      'The limit stringifies the object for every request, the product when something else is known of the chains; it adds its request id, security headers and log line.',
    ],
  };
}
