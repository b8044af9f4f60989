import type { PayerAccount } from './account.ts';
import { AgentError } from './error.ts';
import { bytesOf, chainIdOf, type Hex, integerOf, member, textOf } from './json.ts';
import type { Offer } from './policy.ts';
import type { OpenRecord } from './record.ts';
import { type Reply, refusalOf, type ServiceClient } from './service.ts';
import { signed } from './transaction.ts';
import { type AgentMessage, agentTypedData, creationTypes } from './typed-data.ts';
import type { LinkView, Signing } from './view.ts';

/** A session that pays for a purchase. */
export interface OpenedSession {
  readonly sessionId: string;
  readonly chainId: number;
  readonly token: string;
  readonly amount: bigint;
  /** Whether an earlier call created it. */
  readonly isRepeat: boolean;
}

/** One purchase of a link. Every call for it has the same nonce, for which the service creates only one session. */
export interface Purchase {
  readonly service: ServiceClient;
  readonly account: PayerAccount;
  readonly record: OpenRecord;
  readonly nonce: Hex;
}

const nonceUsed = 100_604;

/**
 * The longest life of a signature, whose expiry is a multiple of it, so that a later call can rebuild the same message.
 * The service accepts at most 3,900 s; its own templates use 900 s.
 */
const slotSeconds = 2_400n;
/** One day of slots. An account that asks its owner for each signature tries only a few. */
const slotsBack = { silent: 36, asking: 2 } as const;

/** The nonce of one purchase: the same link, payer and key give the same 32 bytes on any machine. */
export async function nonceOf(purchase: { linkId: string; payer: Hex; key: string }): Promise<Hex> {
  const text = JSON.stringify([
    'florin-agent-1',
    purchase.linkId,
    purchase.payer.toLowerCase(),
    purchase.key,
  ]);
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const digits = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0'));
  return `0x${digits.join('')}`;
}

/** The session of an earlier call's record; undefined when that call created none. */
export async function storedSession({ service, record }: Purchase): Promise<OpenedSession | undefined> {
  const { creation } = record.value;
  if (creation === undefined) return undefined;
  const reply = await service.ask('/payment/session/create', creation);
  if (reply.code === 0) return openedBy(reply, creation.message);
  // The service checks the nonce first: any other refusal means that it is still unused.
  if (reply.code !== nonceUsed) return undefined;
  throw new AgentError(
    'earlier_unknown',
    'this idempotencyKey was used with a message that is not in the store',
  );
}

/**
 * Creates the session of a purchase, or finds the one of an earlier call. `offers` are those that the policy permits,
 * the preferred one first.
 */
export async function createSession(
  purchase: Purchase,
  link: LinkView,
  signing: Signing,
  offers: readonly [Offer, ...Offer[]],
): Promise<OpenedSession> {
  const { service, account, record, nonce } = purchase;
  const slot = (signing.templateExpiresAt + slotSeconds - 1n) / slotSeconds;
  const bodyOf = async (offer: Offer, expiresAt: bigint) => {
    const message: AgentMessage = {
      purpose: 'create_payment_session',
      linkId: link.linkId,
      linkVersion: link.linkVersion,
      merchantId: link.merchantId,
      payer: account.address,
      paymentChainId: String(offer.chainId),
      paymentToken: offer.token,
      amount: String(offer.amount),
      authorizationNonce: nonce,
      authorizationExpiresAt: String(expiresAt),
    };
    const typedData = agentTypedData(signing.domainName, creationTypes, message);
    return { message, signature: await signed(() => account.signTypedData(typedData)) };
  };
  const [first] = offers;
  const body = await bodyOf(first, slot * slotSeconds);
  await record.update({ creation: body });
  const reply = await service.ask('/payment/session/create', body);
  if (reply.code === 0) return openedBy(reply, body.message);
  if (reply.code !== nonceUsed) throw refusalOf(reply.code, reply.message);
  const back = account.signTransaction === undefined ? slotsBack.asking : slotsBack.silent;
  for (let age = 0; age < back; age += 1) {
    for (const offer of offers) {
      const earlier = await bodyOf(offer, (slot - BigInt(age)) * slotSeconds);
      const answer = await service.ask('/payment/session/create', earlier);
      if (answer.code === 0) {
        await record.update({ creation: earlier });
        return openedBy(answer, earlier.message);
      }
      if (answer.code !== nonceUsed) throw refusalOf(answer.code, answer.message);
    }
  }
  throw new AgentError('earlier_unknown', 'this idempotencyKey was used for a payment with other details');
}

function openedBy(reply: Reply, message: AgentMessage): OpenedSession {
  return {
    sessionId: textOf(reply.data, 'sessionId'),
    chainId: chainIdOf(message, 'paymentChainId'),
    token: bytesOf(message, 'paymentToken'),
    amount: integerOf(message, 'amount'),
    isRepeat: member(reply.data, 'replayed') === true,
  };
}
