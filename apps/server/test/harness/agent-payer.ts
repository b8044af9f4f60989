import type { CreateSessionMessage, PreparePaymentMessage } from '@florin/protocol/agent-api.ts';
import type {
  AuthorizationRequirement,
  CreatedSessionView,
  LinkView,
  PreparedView,
} from '@florin/protocol/agent-view.ts';
import { hexlify, randomBytes, Wallet } from 'ethers';
import { type AgentReply, AgentWorld } from './agent-fixture.ts';

export interface SignedBody<M> {
  readonly message: M;
  readonly signature: string;
}

/** A new payer's wallet. */
export function newPayer(): Wallet {
  return new Wallet(hexlify(randomBytes(32)));
}

/** An unused nonce. */
export function newNonce(): string {
  return hexlify(randomBytes(32));
}

/** Signs a message as a client does: by the definitions that the service sent, on the chain of the message. */
export async function sign<M extends { readonly paymentChainId: string }>(
  payer: Wallet,
  { authorizationSpec }: AuthorizationRequirement,
  message: M,
): Promise<SignedBody<M>> {
  const domain = { ...authorizationSpec.domain, chainId: message.paymentChainId };
  return { message, signature: await payer.signTypedData(domain, authorizationSpec.types, message) };
}

/** Asserts that a part of a reply is present. */
export function present<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('the reply lacks what it must have');
  return value;
}

/** A signed request to create a session from the offers of the link's view, with some fields changed before signing. */
export async function creationBody(
  world: Pick<AgentWorld, 'get'>,
  payer: Wallet,
  linkId: string,
  changes: Partial<CreateSessionMessage> = {},
): Promise<SignedBody<CreateSessionMessage>> {
  const view = viewOf<LinkView>(await world.get(`/payment/link/${linkId}`));
  const requirement = present(view.aiView.createPaymentSessionRequirement);
  const template = present(requirement.messageTemplate) as unknown as CreateSessionMessage;
  return sign(payer, requirement, { ...template, payer: payer.address, ...changes });
}

/** A signed request to prepare from a requirement's template, with some fields changed before signing. */
export function preparationBody(
  payer: Wallet,
  requirement: AuthorizationRequirement | undefined,
  changes: Partial<PreparePaymentMessage> = {},
): Promise<SignedBody<PreparePaymentMessage>> {
  const found = present(requirement);
  const template = present(found.messageTemplate) as unknown as PreparePaymentMessage;
  return sign(payer, found, { ...template, ...changes });
}

/** `data` of a successful reply; throws with the whole text of any other. */
export function viewOf<T>(reply: AgentReply): T {
  if (reply.httpStatus !== 200 || reply.body['code'] !== 0) throw new Error(reply.text);
  return reply.body['data'] as T;
}

/** A session of a payer, with the request that created it. */
export interface CreatedSession {
  readonly payer: Wallet;
  readonly body: SignedBody<CreateSessionMessage>;
  readonly view: CreatedSessionView;
}

/** A world with one link, and the usual actions of its payers. */
export interface LinkWorld {
  readonly world: AgentWorld;
  readonly linkId: string;
  /** Makes a payer create a session: by default a new payer of the one link. */
  createSession(payer?: Wallet, linkId?: string): Promise<CreatedSession>;
  /** Makes the payer of a session prepare its payment. */
  prepare(
    created: CreatedSession,
  ): Promise<{ readonly body: SignedBody<PreparePaymentMessage>; readonly view: PreparedView }>;
}

/** Opens such a world; the caller closes it. */
export async function openLinkWorld(): Promise<LinkWorld> {
  const world = await AgentWorld.open();
  const linkId = await world.addLink();
  return {
    world,
    linkId,
    async createSession(payer = newPayer(), link = linkId) {
      const body = await creationBody(world, payer, link);
      const reply = await world.post('/payment/session/create', body);
      return { payer, body, view: viewOf<CreatedSessionView>(reply) };
    },
    async prepare({ payer, view }) {
      const body = await preparationBody(payer, view.aiView.preparePaymentRequirement);
      return { body, view: viewOf<PreparedView>(await world.post('/payment/prepare', body)) };
    },
  };
}
