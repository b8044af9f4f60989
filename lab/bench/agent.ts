import { join } from 'node:path';
import type { LinkView } from '@florin/protocol/agent-view.ts';
import type { Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { writeCreations, writeVerifications } from './agent-bodies.ts';
import type { BenchEnvironment } from './environment.ts';
import { type Contender, compare, type LoadProfile } from './measure.ts';
import { callProduct, type RunningProduct, startProduct } from './product.ts';
import { type BenchResult, ratioOf } from './report.ts';

const names = { create: 'AI session create', verify: 'x402 facilitator, verify' } as const;

/** More than any run reaches, so that no request repeats. */
const mostPerSecond = { create: 6_000, verify: 800 };

/** The number of requests in all runs and the warm-up. */
function requestsOf({ rounds, seconds, warmUpSeconds }: LoadProfile, perSecond: number): number {
  return perSecond * (rounds * seconds + warmUpSeconds);
}

async function createLink({
  server,
  apiKey,
  accountId,
  productId,
  settlementToken,
}: RunningProduct): Promise<string> {
  const { linkId } = (await callProduct(server, apiKey, '/payment/link/create', {
    body: {
      linkType: 'fixed',
      linkName: 'Tea',
      accountId,
      settlementToken,
      feeModel: 2,
      lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 10_000_000 }],
    },
  })) as { linkId: string };
  return linkId;
}

async function viewOf({ server }: RunningProduct, linkId: string): Promise<LinkView> {
  const response = await fetch(`${server.origin}/aipay/api/v1/payment/link/${linkId}`);
  return ((await response.json()) as { data: LinkView }).data;
}

async function facilitatorOf(
  environment: BenchEnvironment,
  { config, payers }: RunningProduct,
): Promise<Contender> {
  const [chain] = config.chains;
  const [token] = chain?.tokens ?? [];
  const [rpcUrl] = chain?.rpcUrls ?? [];
  if (chain === undefined || token === undefined || rpcUrl === undefined) throw new Error('no chain');
  const server = await environment.startLimit(names.verify, 'x402-facilitator.ts', {
    LIMIT_RPC_URL: rpcUrl,
    LIMIT_PRIVATE_KEY: generatePrivateKey(),
  });
  const supply = await writeVerifications(join(environment.folder, 'verifications'), {
    token: token.address as Hex,
    payTo: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    payers,
    count: requestsOf(environment.effort, mostPerSecond.verify),
  });
  const question = {
    method: 'POST',
    paths: ['/verify'],
    headers: { 'content-type': 'application/json' },
    supply,
    successStart: '{"isValid":true',
  } as const;
  return { name: names.verify, server, question };
}

/** Creation of AI sessions over HTTP, end to end, and verification by an x402 facilitator over HTTP. */
export async function measureAgents(environment: BenchEnvironment): Promise<BenchResult> {
  const { effort, log, folder, profileFolder } = environment;
  const product = await startProduct({
    folder,
    databaseUrl: await environment.createDatabase('bench_product'),
    onEnd: environment.onEnd,
    // The limits are on, because their cost counts, but higher than the bench's load.
    rateLimits: { signedRequestsPerMinute: 1_000_000, createsPerLinkPerMinute: 1_000_000 },
    ...(profileFolder === undefined ? {} : { profileFolder }),
  });
  const view = await viewOf(product, await createLink(product));
  const supply = writeCreations(join(folder, 'creations'), {
    view,
    serviceDomain: product.config.serviceDomain,
    count: requestsOf(effort, mostPerSecond.create),
  });
  const create: Contender = {
    name: names.create,
    server: product.server,
    question: {
      method: 'POST',
      paths: ['/aipay/api/v1/payment/session/create'],
      headers: { 'content-type': 'application/json' },
      supply,
    },
  };
  const measured = await compare([create, await facilitatorOf(environment, product)], effort, log);
  return {
    subject: 'agent',
    title: 'AI sessions: create, compared with the verify of x402',
    effort,
    measured,
    ratios: [ratioOf(measured, { product: names.create, limit: names.verify, wanted: 5 })],
    halfLoads: [],
    notes: [
      'Both ask one anvil about the payer for every request, and verify one EIP-712 signature; requests are signed before the runs, and no two are alike. A create also commits the session, the reservation of its nonce, its event and its counts. The facilitator stores nothing.',
      'The facilitator is @x402/core and @x402/evm 2.27.0 as in their basic example, without the hooks that print every payment. It reads the code, the balance and the domain of the payer and token, and simulates the transfer.',
      'Limits by address, link and payer are on, and above the load of the benchmark. Every payer opens ten sessions.',
      'Neither figure includes the processor time of anvil.',
    ],
  };
}
