import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { SendPlan } from '@florin/evm';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { X402Payment, X402Requirements } from '@florin/protocol/x402.ts';
import { toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { findLink } from '#links/link-lookup.ts';
import { createLinkSession } from '#sessions/session.ts';
import { submissionOutcome } from '#submissions/submission.ts';
import type { X402Context } from '#x402/context.ts';
import { type OfferTerms, offerSeconds, type Resource, requirementsFor } from '#x402/offer.ts';
import { acceptPayment, type paymentBefore } from '#x402/payment.ts';
import { signedPayment } from '../life/x402-client.ts';
import { AgentWorld } from './agent-fixture.ts';
import { insertAttempt, insertSent } from './sent-transaction.ts';

let world: AgentWorld;
let linkId: string;

/** Opens the world of all attempts of a test file. */
export async function openX402World(): Promise<AgentWorld> {
  world = await AgentWorld.open();
  linkId = await world.addLink();
  return world;
}

/** A request with a payment, and everything that decides its result. */
interface Attempt {
  readonly context: X402Context;
  readonly resource: Resource;
  /** The offer that the client accepts. */
  readonly accepted: X402Requirements;
  /** All offers of the resource, for its tokens. */
  readonly offers: readonly X402Requirements[];
  readonly terms: OfferTerms;
  readonly payer: ReturnType<typeof privateKeyToAccount>;
  /** The account that signs: the payer. */
  readonly signer: ReturnType<typeof privateKeyToAccount>;
  /** Changes of the signed authorization. */
  readonly authorization: Partial<X402Payment['payload']['authorization']>;
}

export const gasless: X402Context['gasless'] = {
  signingOf: async ({ chainId, address }) => ({
    permits: new Set(['eip3009']),
    domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: address },
  }),
  minAmount: microUsd(0n),
  budgets: {
    ...{ perPayer: 1e9, perLink: 1e9, perNetwork: 1e9 },
    smartAccounts: { perPayment: 1e9, failuresPerMerchant: 1e9 },
  },
};

/** What the context has sent, by transaction, since a test emptied it. */
export const broadcast: bigint[] = [];

export const sender: X402Context['sender'] = {
  plan: async (chainId, { to, data }): Promise<SendPlan> => ({
    ...{ purpose: 'relay', chainId, to, data, wallet: `0x${'5e'.repeat(20)}` },
    ...{ gasLimit: 100_000n, maxFee: 1n, priorityFee: 1n, baseFee: 1n, nonceFloor: 0n },
  }),
  async record(transaction, plan) {
    const [row] = await transaction.query(insertSent, { chainId: plan.chainId, callData: plan.data });
    const transactionId = row?.transaction_id ?? 0n;
    const txHash: Hex = `0x${transactionId.toString(16).padStart(64, '0')}`;
    await transaction.query(insertAttempt, { txHash, transactionId });
    return { transactionId, txHash };
  },
  broadcast: async (transactionId) => {
    broadcast.push(transactionId);
  },
};

/** A chain with such balances and such code at each address. No block has a transfer. */
export function chainWith({
  balance = 0n,
  code = '0x',
  runs = true,
}: {
  balance?: bigint;
  code?: Hex;
  runs?: boolean;
}) {
  const accepted = `0x1626ba7e${'0'.repeat(56)}` as const;
  const payerChain: X402Context['payerChain'] = {
    codeAt: async () => code,
    async callAt(_chainId, { data, offer }) {
      if (offer !== undefined) return runs ? '0x' : undefined;
      return data.startsWith('0x1626ba7e') ? accepted : toHex(balance, { size: 32 });
    },
  };
  return payerChain;
}

export const planReverts: X402Context['sender'] = {
  ...sender,
  plan: async () => ({ reverted: true, data: '0x' }),
};
export const planIsWithheld: X402Context['sender'] = {
  ...sender,
  plan: async () => ({ reverted: true, data: '0x', isWithheld: true }),
};

/** Records the failure of each transaction as soon as it is sent. */
export const sendsFail: X402Context['sender'] = {
  ...sender,
  async broadcast(transactionId) {
    const ended = { transactionId, chainId: 31337, txHash: '0x', blockTime: undefined } as const;
    await world.db.transaction((transaction) =>
      submissionOutcome(transaction, world.deps, { ...ended, purpose: 'relay', status: 'failed' }),
    );
  },
};

function contextOf(): X402Context {
  return {
    ...{ ...world.deps, db: world.db, gasless, sender, payerChain: chainWith({}), waitMs: 0 },
    ...{ offerKey: new Uint8Array(32).fill(1), readPayment: async () => undefined },
    rpcOf: () => ({
      request: async (method) => (method === 'eth_getLogs' ? [] : null),
      batch: async () => assert.fail('no batches here'),
    }),
  };
}

async function offered(resource: Resource, version: string): Promise<Attempt> {
  const context = contextOf();
  const payer = privateKeyToAccount(generatePrivateKey());
  const seed = resource.kind === 'link' ? randomBytes(32).toString('hex') : '';
  const issuedAt = world.clock.time / 1_000;
  const terms = { seed, issuedAt, version, refundAddress: payer.address };
  const offers = await requirementsFor(context, resource, terms);
  const [accepted] = offers;
  assert.ok(accepted !== undefined);
  const authorization = { validBefore: String(issuedAt + offerSeconds) };
  return { context, resource, accepted, offers, terms, payer, signer: payer, authorization };
}

export async function linkOffer(): Promise<
  Attempt & { readonly resource: Extract<Resource, { kind: 'link' }> }
> {
  const link = await findLink(world.db, linkId, world.clock.now());
  assert.ok(link !== undefined);
  const resource = { kind: 'link', link } as const;
  return { ...(await offered(resource, link.versionCode)), resource };
}

export async function sessionOffer(): Promise<
  Attempt & { readonly resource: Extract<Resource, { kind: 'session' }> }
> {
  const { resource } = await linkOffer();
  const session = await world.db.transaction((transaction) =>
    createLinkSession(transaction, world.deps, { link: resource.link, paymentValue: resource.link.amount }),
  );
  const own = { kind: 'session', session } as const;
  return { ...(await offered(own, '')), resource: own };
}

export async function signedFor({ signer, payer, accepted, authorization }: Attempt): Promise<X402Payment> {
  return signedPayment(signer, accepted, { from: payer.address, ...authorization });
}

export const network = '192.0.2.1';

/** The result in one text: seen, pending, the reason of a refused payment, or the name of the refusal. */
export async function resultOf(work: ReturnType<typeof paymentBefore>): Promise<string> {
  try {
    const result = await work;
    if (result === undefined) return 'unknown';
    return result.kind === 'refused' ? result.reason : result.isSeen ? 'seen' : 'pending';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.slug;
  }
}

export const pay = async (attempt: Attempt, payment?: X402Payment) =>
  resultOf(
    acceptPayment(attempt.context, attempt.resource, {
      payment: payment ?? (await signedFor(attempt)),
      network,
    }),
  );

const countRows = statement({
  name: 'x402_rules_test_rows',
  columns: { payments: 'int8', sessions: 'int8', sent: 'int8' },
  text: `select (select count(*) from x402_payments) as payments, (select count(*) from sessions) as sessions,
     (select count(*) from sent_transactions) as sent`,
});

export const rows = async () => (await world.db.query(countRows))[0];

export type Change = (given: Attempt) => Partial<Attempt> | Promise<Partial<Attempt>>;
export const inContext =
  (changed: Partial<X402Context>): Change =>
  ({ context }) => ({ context: { ...context, ...changed } });
export const authorizing =
  (changed: Attempt['authorization']): Change =>
  ({ authorization }) => ({ authorization: { ...authorization, ...changed } });
export const now = () => world.clock.time / 1_000;
export const later = (seconds: number) => ({
  ...world.clock,
  now: () => new Date(world.clock.time + seconds * 1_000),
});

export const reason = (words: string) => `invalid_exact_evm_payload_${words}`;
export const enough = 10n ** 30n;
