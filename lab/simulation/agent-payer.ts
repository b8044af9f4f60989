import { agentDomainName } from '@florin/protocol/typed-data.ts';
import {
  type AgentMessage,
  checkPreparation,
  createAuthorizedSession,
  findLink,
  linkTerms,
  prepareAuthorizedOrder,
  quoteFor,
  routeFrom,
  type StoredOrder,
} from '@florin/server/parts';
import type { Actors } from './actors.ts';
import { modelHash } from './seeded-random.ts';
import type { ServiceModel } from './service-model.ts';
import { modelCryptography, signatureOf } from './signing-model.ts';

/** An agent of the AI protocol: signs each request once and sends it twice at the same time, to any process. */
export async function runAgent(actors: Actors): Promise<void> {
  const { world, name } = actors;
  const [model] = world.models;
  if (model === undefined) return;
  const payer = actors.address('payer 0');
  const [token] = model.chain.tokens;
  if (token === undefined) return;
  const creation = await actors.ask(async (service) => creationMessage(service, actors, payer));
  if (creation === undefined) return;
  const create = (service: ServiceModel) => createSession(service, creation);
  const ids = await Promise.all([actors.ask(create), actors.ask(create)]);
  const sessionId = commonAnswer(actors, ids);
  if (sessionId === undefined) return;
  world.options.scheduler.trace(`${name} is ${actors.behaviour}: ${sessionId}`);
  const preparation = signed(payer, {
    purpose: 'prepare_payment',
    message: {
      purpose: 'prepare_payment',
      sessionId,
      merchantId: world.merchantId,
      payer,
      payerEmail: '',
      paymentChainId: String(token.chainId),
      paymentToken: token.address,
      authorizationNonce: modelHash(`${name} prepares`),
      authorizationExpiresAt: String(world.seconds() + 600),
    },
  });
  const prepare = (service: ServiceModel) => prepareOrder(service, preparation);
  const orders = await Promise.all([actors.ask(prepare), actors.ask(prepare)]);
  const [order] = orders.filter((each) => each !== undefined);
  commonAnswer(
    actors,
    orders.map((each) => each?.orderId),
  );
  if (order !== undefined) await actors.payOrder(model, payer, order);
}

/** The answer that both requests have in common. Different answers are a violation. */
function commonAnswer({ world, name }: Actors, answers: readonly (string | undefined)[]): string | undefined {
  const distinct = new Set(answers.filter((answer) => answer !== undefined));
  // After a restore, the service no longer knows the nonce.
  if (distinct.size > 1 && world.options.scenario.restore === undefined)
    world.reportViolation(`${name}: one nonce gave ${[...distinct].join(' and ')}`);
  return [...distinct][0];
}

type Signed<M extends AgentMessage> = { readonly message: M['message']; readonly signature: string };

function signed<M extends AgentMessage>(payer: `0x${string}`, agentMessage: M): Signed<M> {
  const digest = modelCryptography.digest(agentDomainName('example.com'), agentMessage);
  return { message: agentMessage.message, signature: signatureOf(payer, digest) };
}

type Creation = Extract<AgentMessage, { purpose: 'create_payment_session' }>;
type Preparation = Extract<AgentMessage, { purpose: 'prepare_payment' }>;

async function creationMessage(
  { db, deps }: ServiceModel,
  { world, name }: Actors,
  payer: `0x${string}`,
): Promise<Signed<Creation> | undefined> {
  const link = await findLink(db, world.linkId, deps.clock.now());
  const token = deps.chains.all[0]?.tokens[0];
  if (link === undefined || token === undefined) return undefined;
  const ends = { paymentTokenId: token.tokenId, settlementTokenId: link.settlementToken };
  const route = routeFrom(deps.chains, deps.rates, ends);
  const quote = route === undefined ? undefined : quoteFor(route, linkTerms(link));
  return signed<Creation>(payer, {
    purpose: 'create_payment_session',
    message: {
      purpose: 'create_payment_session',
      linkId: link.linkId,
      linkVersion: link.versionCode,
      merchantId: link.merchantId,
      payer,
      paymentChainId: String(token.chainId),
      paymentToken: token.address,
      amount: String(quote?.amountInToken ?? 0n),
      authorizationNonce: modelHash(`${name} creates`),
      authorizationExpiresAt: String(world.seconds() + 600),
    },
  });
}

async function createSession({ deps, creation }: ServiceModel, body: Signed<Creation>): Promise<string> {
  return (await createAuthorizedSession(deps, creation, body)).session.sessionId;
}

async function prepareOrder({ db, deps }: ServiceModel, body: Signed<Preparation>): Promise<StoredOrder> {
  const checked = await checkPreparation(db, deps, body);
  if (checked.kind === 'earlier') return checked.authorized.order;
  const { order } = await db.transaction((transaction) => prepareAuthorizedOrder(transaction, deps, checked));
  return order;
}
