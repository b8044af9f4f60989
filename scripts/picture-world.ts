/**
 * A month of a small shop, for the pictures of the README: sessions of several products, paid in every token, two days apart.
 * It moves the time of the running local world.
 */

export interface PictureWorld {
  readonly merchantApi: string;
  readonly secretKey: string;
  readonly accountId: string;
  readonly console: string;
  readonly controlToken: string;
  readonly chains: readonly { readonly rpcUrl: string; readonly tokens: readonly { tokenId: string }[] }[];
}

const products = [
  ['Annual plan', 290_000_000],
  ['Flat white', 4_500_000],
  ['Conference ticket', 640_000_000],
  ['Florin mug', 25_000_000],
  ['Consulting, one day', 1_250_000_000],
  ['T-shirt', 32_000_000],
] as const;
const paymentsOfDay = [1, 2, 1, 3, 1, 2, 2] as const;
const steps = 15;
const minutesOfStep = 2_880;
/** Payments are final and settled after some fourteen blocks. */
const settlingMs = 18_000;

async function ask(
  url: string,
  { token, body }: { readonly token?: string; readonly body: unknown },
): Promise<Record<string, unknown>> {
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

const act = (world: PictureWorld, name: string, body: object) =>
  ask(`${world.console}/acts/${name}`, { token: world.controlToken, body });

async function createSession(world: PictureWorld, index: number): Promise<string> {
  const [productName, unitPrice] = products[index % products.length] ?? products[0];
  const { data } = await ask(`${world.merchantApi}/session/checkout/create`, {
    token: world.secretKey,
    body: {
      accountId: world.accountId,
      settlementToken: 'base::usdc',
      lineItems: [{ itemType: 'one_time', quantity: 1, unitPrice, productData: { productName } }],
      metadata: { order: `A-${1_000 + index}` },
    },
  });
  return (data as { readonly sessionId: string }).sessionId;
}

/** Pays and advances until the world has a month of payments behind it. */
export async function fillWorld(world: PictureWorld): Promise<void> {
  const tokenIds = world.chains.flatMap(({ tokens }) => tokens.map(({ tokenId }) => tokenId));
  let index = 0;
  for (let step = 0; step < steps; step += 1) {
    const payments = paymentsOfDay[step % paymentsOfDay.length] ?? 1;
    for (let count = 0; count < payments; count += 1) {
      const argument = await createSession(world, index);
      await act(world, 'pay', { argument, token: tokenIds[index % tokenIds.length] });
      index += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, settlingMs));
    // The last payments are of today.
    if (step < steps - 1) await act(world, 'advance', { argument: String(minutesOfStep) });
    console.log(`${step + 1} of ${steps} steps of the month`);
  }
}

/** The world's time, which its chains have: pages that show it live in it. */
export async function readWorldTime({ chains }: PictureWorld): Promise<Date> {
  const [chain] = chains;
  if (chain === undefined) throw new Error('the world has no chain');
  const { result } = await ask(chain.rpcUrl, {
    body: { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] },
  });
  return new Date(Number((result as { readonly timestamp: string }).timestamp) * 1_000);
}
