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
export async function playAgent(actor: Actors): Promise<void> {
  const { world, name } = actor;
  const [model] = world.models;
  if (model === undefined) return;
  const payer = actor.address('payer 0');
  const [token] = model.chain.tokens;
  if (token === undefined) return;
  const creation = await actor.ask(async (service) => creationMessage(service, actor, payer));
  if (creation === undefined) return;
  const create = (service: ServiceModel) => createSession(service, creation);
  const ids = await Promise.all([actor.ask(create), actor.ask(create)]);
  const sessionId = sameOf(actor, ids);
  if (sessionId === undefined) return;
  world.options.scheduler.note(`${name} is ${actor.character}: ${sessionId}`);
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
  const orders = await Promise.all([actor.ask(prepare), actor.ask(prepare)]);
  const [order] = orders.filter((each) => each !== undefined);
  sameOf(
    actor,
    orders.map((each) => each?.orderId),
  );
  if (order !== undefined) await actor.payOrder(model, payer, order);
}

/** The answer that both requests have in common. Different answers are a violation. */
function sameOf({ world, name }: Actors, answers: readonly (string | undefined)[]): string | undefined {
  const given = new Set(answers.filter((answer) => answer !== undefined));
  // After a restore, the service no longer knows the nonce.
  if (given.size > 1 && world.options.story.restore === undefined)
    world.violate(`${name}: one nonce gave ${[...given].join(' and ')}`);
  return [...given][0];
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
  const link = await findLink(db, world.linkId);
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
