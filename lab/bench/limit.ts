import type { BenchEnvironment } from './environment.ts';
import { limitSchema } from './limits/session-row.ts';
import { type Contender, compare, loadOnce } from './measure.ts';
import type { BenchResult } from './report.ts';
import { composeBody } from './session.ts';

const apiKey = 'sk_live_0000000000000000000000000000000000000000000000000';
const scripts = {
  'echo, no database': 'echo.ts',
  'L1 (batched insert)': 'insert-batch.ts',
  'L1s (single insert)': 'insert-single.ts',
  GET: 'get.ts',
} as const;

/** The limits alone: the capacity of the machine and the libraries. */
export async function measureLimits(environment: BenchEnvironment): Promise<BenchResult> {
  const { effort, log } = environment;
  const databaseUrl = await environment.createDatabase('bench_limit', limitSchema);
  const body = composeBody({
    accountId: 'acc_0000000000000000000001',
    productId: 'prd_0000000000000000000001',
    settlementToken: 'ethereum::usdc',
  });
  const headers = { authorization: `Bearer ${apiKey}` };
  const contenders: Contender[] = [];
  for (const [name, script] of Object.entries(scripts)) {
    const server = await environment.startLimit(name, script, {
      LIMIT_DATABASE_URL: databaseUrl,
      LIMIT_API_KEY: apiKey,
    });
    const question: Contender['question'] =
      name === 'GET'
        ? { method: 'GET', paths: [], headers }
        : {
            method: 'POST',
            paths: ['/session/checkout/create'],
            headers: { ...headers, 'content-type': 'application/json' },
            body,
            isIdempotent: true,
          };
    contenders.push({ name, server, question });
  }
  const [echo, batch, single, get] = contenders;
  if (echo === undefined || batch === undefined || single === undefined || get === undefined)
    throw new Error('a limit is missing');
  const { load } = await loadOnce(batch, { ...effort, seconds: 1 }, { collectSessionIds: 2_000 });
  const paths = load.sessionIds.map((sessionId) => `/session/${sessionId}`);
  const getWithIds = { ...get, question: { ...get.question, paths } };
  return {
    subject: 'limit',
    title: 'The limits alone',
    effort,
    measured: await compare([echo, batch, single, getWithIds], effort, log),
    ratios: [],
    halfLoads: [],
    notes: [],
  };
}
