import { randomBytes } from 'node:crypto';
import { type EventType, eventTypes, type Florin, usd } from '@florin/sdk';
import type { TestWorld } from '@florin/sdk/testing';

/** What an event is made with in a local world. */
interface Stage {
  readonly florin: Florin;
  readonly world: TestWorld;
  readonly accountId: string;
  /** What is settled in. */
  readonly token: string;
  /** Tells a person what was done. */
  readonly tell: (sentence: string) => void;
  /** Waits for an event of the subject, and answers its id. */
  readonly waitFor: (type: EventType, subject: string) => Promise<string>;
}

/** The ids of what was made; the last one is the event’s subject. */
type Made = Readonly<Record<string, string>>;
type Recipe = (stage: Stage) => Promise<Made>;

const name = 'Flat white';
const price = usd('4.50');
const inDashboard = 'accounts change in the dashboard';

/** How events are made for real; a text says why one is not. */
const recipes: Readonly<Partial<Record<EventType, Recipe | string>>> = {
  'account.created': inDashboard,
  'account.updated': inDashboard,
  'account.removed': inDashboard,
  'account.change_planned': inDashboard,
  'account.change_cancelled': inDashboard,
  'product.created': createProduct,
  'product.updated': after(createProduct, ({ florin }, { productId = '' }) =>
    florin.products.update(productId, { name: 'Tea' }),
  ),
  'product.archived': archiveProduct,
  'product.unarchived': after(archiveProduct, ({ florin }, { productId = '' }) =>
    florin.products.unarchive(productId),
  ),
  'product.removed': after(archiveProduct, ({ florin }, { productId = '' }) =>
    florin.products.remove(productId),
  ),
  'payment.link.created': createLink,
  'payment.link.updated': after(createLink, (stage, { linkId = '' }) =>
    stage.florin.links.update(linkId, { linkName: 'Tea' }),
  ),
  'payment.link.disabled': disableLink,
  'payment.link.enabled': after(disableLink, ({ florin }, { linkId = '' }) => florin.links.enable(linkId)),
  'session.created': createSession,
  'session.payment_detected': paySession,
  'session.paid': paySession,
  'session.settling': paySession,
  'session.completed': paySession,
  'session.settlement_pending': delaySettlement,
  'session.expired': 'the time of the whole world would move: florin world late does that',
  'session.cancelled': after(createSession, ({ florin }, { sessionId = '' }) =>
    florin.checkout.sessions.cancel(sessionId),
  ),
  'session.exception': after(createSession, async ({ world, tell }, { sessionId = '' }) => {
    await world.act('overpay', { argument: sessionId });
    tell(`paid too much for ${sessionId}`);
  }),
  'refund.created': createRefund,
  'refund.completed': after(createRefund, async ({ world, tell }, { refundId = '' }) => {
    await world.act('sign-refund', { argument: refundId });
    tell(`signed ${refundId} with the merchant’s wallet`);
  }),
  'refund.failed': 'a refund fails only where the settlement comes first, by chance',
  'refund.cancelled': after(createRefund, ({ florin }, { refundId = '' }) => florin.refunds.cancel(refundId)),
  'refund.reopened':
    'it takes a reorganisation below finality: florin world reorg makes that of a completed refund',
  'webhook.test': 'it goes to one webhook: florin webhooks test wkid_…',
  'webhook.paused': 'it comes once a webhook has failed for days: florin world fail-webhooks begins that',
};

/** The types that a local world does not make. */
export const notMade: readonly EventType[] = eventTypes.filter((type) => typeof recipeOf(type) === 'string');

/** The same in few words: a pattern where a local world makes none of its types. */
export const notMadePatterns: readonly string[] = [
  ...new Set(
    notMade.map((type) => {
      const group = type.replace(/[^.]+$/, '');
      const isWhole = eventTypes.every((each) => !each.startsWith(group) || notMade.includes(each));
      return isWhole ? `${group}*` : type;
    }),
  ),
];

/** How a local world makes an event, or why it does not. */
export function recipeOf(type: EventType): Recipe | string {
  return recipes[type] ?? 'a local world has no way to it yet';
}

/** A recipe with one more step. */
function after(before: Recipe, step: (stage: Stage, made: Made) => Promise<unknown>): Recipe {
  return async (stage) => {
    const made = await before(stage);
    await step(stage, made);
    return made;
  };
}

async function createProduct({ florin }: Stage): Promise<Made> {
  const { productId } = await florin.products.create({ name, commonPrices: [price] });
  return { productId };
}

async function archiveProduct(stage: Stage): Promise<Made> {
  const made = await createProduct(stage);
  await stage.florin.products.archive(made['productId'] ?? '');
  return made;
}

function linkOf({ accountId, token }: Stage) {
  return {
    ...({ linkType: 'custom', linkName: 'Tip', feeModel: 1 } as const),
    ...{ accountId, settlementToken: token, lineItems: [{ itemType: 'user_priced' as const }] },
  };
}

async function createLink(stage: Stage): Promise<Made> {
  const { linkId } = await stage.florin.links.create(linkOf(stage));
  return { linkId };
}

async function disableLink(stage: Stage): Promise<Made> {
  const made = await createLink(stage);
  await stage.florin.links.disable(made['linkId'] ?? '');
  return made;
}

async function createSession({ florin, accountId, token, tell }: Stage): Promise<Made> {
  const { sessionId } = await florin.checkout.sessions.create({
    ...{ accountId, settlementToken: token, lineItems: [{ name, price }] },
    metadata: { order: `trigger-${randomBytes(4).toString('hex')}` },
  });
  tell(`created ${sessionId}`);
  return { sessionId };
}

async function paySession(stage: Stage): Promise<Made> {
  const made = await createSession(stage);
  const { sessionId = '' } = made;
  await stage.world.pay(sessionId, { until: false });
  stage.tell(`paid ${sessionId}`);
  return made;
}

/** A refund of settled money, which the merchant’s wallet signs. */
async function createRefund(stage: Stage): Promise<Made> {
  const { florin, waitFor, tell } = stage;
  const { sessionId = '' } = await paySession(stage);
  await waitFor('session.completed', sessionId);
  const { refundId } = await florin.refunds.create({ sessionId });
  tell(`settled ${sessionId}, and created ${refundId}`);
  return { sessionId, refundId };
}

/** The token refuses the merchant’s wallet until the delay was told. */
async function delaySettlement(stage: Stage): Promise<Made> {
  const { world, token, waitFor, tell } = stage;
  await world.act('blocklist', { argument: token });
  tell(`${token} refuses the merchant’s wallet for now`);
  try {
    const made = await paySession(stage);
    await waitFor('session.settlement_pending', made['sessionId'] ?? '');
    return made;
  } finally {
    await world.act('blocklist', { argument: token, undo: true });
  }
}
