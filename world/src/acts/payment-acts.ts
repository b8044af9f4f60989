import { depositWayOf, type PreparedOrder } from '@florin/protocol/checkout-order.ts';
import type { CheckoutOption, CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import { formatUnits, type Hex } from 'viem';
import { ask } from '../demo-api.ts';
import type { KeyPair } from '../home.ts';
import {
  ActRefused,
  type ActRequest,
  type ActWorld,
  type PerformAct,
  type PlacedToken,
  tokenOf,
} from './act-world.ts';
import { type ChainCall, callOf, readView, sendAs } from './chain-call.ts';

/** The session that an act pays. */
interface OpenSession {
  readonly sessionId: string;
  readonly page: string;
  readonly state: CheckoutState;
  readonly option: CheckoutOption;
  readonly place: PlacedToken;
}

const PRICE_MICRO_USD = 25_000_000;
/** Sessions may ask for an address. */
const PAYER_EMAIL = 'payer@example.com';
const BALANCE_RESERVE = 10_000n;
/** Blocks behind the head that are final. */
const FINAL_BLOCKS = 8;

/** The payer of the acts: the first is for people, and the last pays on the hosted pages. */
const payerOf = ({ roles }: ActWorld, place = 1): KeyPair => {
  const payer = roles.payers[place];
  if (payer === undefined) throw new Error(`The world has no payer ${place}.`);
  return payer;
};

const createSession = ({ manifest }: ActWorld): Promise<{ sessionId: string; paymentUrl: string }> => {
  return ask<{ sessionId: string; paymentUrl: string }>({
    url: `${manifest.merchantApi}/session/checkout/create`,
    headers: { authorization: `Bearer ${manifest.secretKey}` },
    body: {
      accountId: manifest.accountId,
      settlementToken: 'base::usdc',
      lineItems: [
        { itemType: 'product', productId: manifest.productId, quantity: 1, unitPrice: PRICE_MICRO_USD },
      ],
    },
  });
};

/** The page of a session with its secret, where it is given or the session is the world's merchant's. */
const pageOf = async ({ manifest }: ActWorld, sessionId: string, given = ''): Promise<string> => {
  const plain = `${manifest.origin}/checkout/${sessionId}`;
  const secret = /#.+$/.exec(given)?.[0];
  if (secret !== undefined) return plain + secret;
  const url = `${manifest.merchantApi}/session/${sessionId}`;
  const headers = { authorization: `Bearer ${manifest.secretKey}` };
  const read = ask<{ session: { paymentUrl: string } }>({ url, headers });
  // Anyone may pay a session of another merchant, without its secret.
  return read.then(
    ({ session }) => session.paymentUrl,
    () => plain,
  );
};

/** The session of the request, or a new one, with the token that it is paid in. */
const openSession = async (world: ActWorld, { argument, token }: ActRequest): Promise<OpenSession> => {
  const { origin } = world.manifest;
  const given = argument === undefined ? undefined : /sess_[0-9A-Za-z]+/.exec(argument)?.[0];
  if (argument !== undefined && given === undefined)
    throw new ActRefused(`${argument} is not a session: give its id (sess_…) or the address of its page.`);
  const { sessionId, paymentUrl } =
    given === undefined
      ? await createSession(world)
      : { sessionId: given, paymentUrl: await pageOf(world, given, argument) };
  const { state, options } = await ask<{ state: CheckoutState; options: CheckoutOption[] }>({
    url: `${origin}/checkout/api/session/${sessionId}`,
  });
  const option = options.find(({ tokenId, status }) =>
    token === undefined ? status !== 'unavailable' : tokenId === token,
  );
  if (option === undefined)
    throw new ActRefused(
      options.length === 0
        ? `The session ${sessionId} is ${state.status} and cannot be paid.`
        : `The session ${sessionId} takes ${options.map(({ tokenId }) => tokenId).join(', ')}.`,
    );
  return { sessionId, page: paymentUrl, state, option, place: tokenOf(world, option.tokenId) };
};

/** As the page does: without its secret, another page would show the deposit, and no e-mail address would be taken. */
const prepare = (world: ActWorld, session: OpenSession, payer: KeyPair): Promise<PreparedOrder> =>
  ask<PreparedOrder>({
    url: `${world.manifest.origin}/checkout/api/prepare`,
    headers: { 'x-client-code': new URL(session.page).hash.slice(1) },
    body: {
      ...{ sessionId: session.sessionId, payer: payer.address, payerEmail: PAYER_EMAIL },
      tokenId: session.option.tokenId,
    },
  });

/** Gives a wallet, the payer's unless another is named, more of a token where its balance is too small. */
const fund = async (
  world: ActWorld,
  { chain, token }: PlacedToken,
  amount: bigint,
  { address }: KeyPair = payerOf(world),
): Promise<void> => {
  if (((await readView(chain, token.address, 'balanceOf', [address])) as bigint) >= amount) return;
  const more = amount + BALANCE_RESERVE * 10n ** BigInt(token.decimals);
  const { admin } = world.roles;
  // USDT mints only to its issuer.
  const calls =
    token.symbol === 'USDT'
      ? [callOf(token.address, 'issue', [more]), callOf(token.address, 'transfer', [address, more])]
      : [callOf(token.address, 'mint', [address, more])];
  for (const call of calls) await sendAs(chain, admin, call);
};

const transfer = async (
  world: ActWorld,
  place: PlacedToken,
  { to, amount }: { readonly to: string; readonly amount: bigint },
): Promise<Hex> => {
  await fund(world, place, amount);
  const call = callOf(place.token.address, 'transfer', [to, amount]);
  return sendAs(place.chain, payerOf(world), call);
};

const depositOf = (
  prepared: PreparedOrder,
  { sessionId }: OpenSession,
): { address: string; payUntil: string } => {
  const deposit = depositWayOf(prepared);
  if (deposit === undefined) throw new ActRefused(`The session ${sessionId} has no deposit address.`);
  return { address: deposit.address, payUntil: prepared.deadline };
};

const amountText = (amount: bigint, { token, chain }: PlacedToken): string =>
  `${formatUnits(amount, token.decimals)} ${token.symbol} on ${chain.name}`;

const factsOf = ({ manifest }: ActWorld, { sessionId, page }: OpenSession) => ({
  session: sessionId,
  page,
  api: `${manifest.merchantApi}/session/${sessionId}`,
});

export const pay: PerformAct = async (world, request) => {
  const session = await openSession(world, request);
  const prepared = await prepare(world, session, payerOf(world));
  const amount = BigInt(prepared.amountInToken);
  const { place } = session;
  await fund(world, place, amount);
  const calls = [...prepared.prerequisites.map(({ txRequest }) => txRequest), prepared.payment];
  let transaction = '';
  for (const { to, data } of calls)
    transaction = await sendAs(place.chain, payerOf(world), { to, data } as ChainCall);
  return {
    did: `Paid ${amountText(amount, place)} from the wallet ${payerOf(world).address}.`,
    facts: { ...factsOf(world, session), transaction },
  };
};

/** Sends a part of the price, in percent, to a deposit address. */
const depositPart =
  (percent: bigint): PerformAct =>
  async (world, request) => {
    const session = await openSession(world, request);
    const prepared = await prepare(world, session, payerOf(world));
    const { address } = depositOf(prepared, session);
    const total = BigInt(prepared.amountInToken);
    const amount = (total * percent) / 100n;
    const transaction = await transfer(world, session.place, { to: address, amount });
    return {
      did: `Sent ${amountText(amount, session.place)} of ${formatUnits(total, session.place.token.decimals)} to the deposit address ${address}.`,
      facts: { ...factsOf(world, session), deposit: address, transaction },
    };
  };

export const underpay = depositPart(60n);
export const overpay = depositPart(150n);

export const late: PerformAct = async (world, request) => {
  const session = await openSession(world, request);
  const prepared = await prepare(world, session, payerOf(world));
  const { address, payUntil } = depositOf(prepared, session);
  const amount = BigInt(prepared.amountInToken);
  const now = Math.floor(Date.now() / 1_000) + world.clockOffsetSeconds();
  const seconds = Math.max(0, Number(payUntil), session.state.expiresAt) - now + 1;
  if (seconds > 0) await world.advance(seconds);
  // A signed session expires once a final block is later than its end.
  await session.place.chain.rpc('anvil_mine', [`0x${FINAL_BLOCKS.toString(16)}`]);
  const transaction = await transfer(world, session.place, { to: address, amount });
  return {
    did: `Moved the world on by ${Math.ceil(seconds / 60)} minutes, and sent ${amountText(amount, session.place)} to the deposit address ${address} after the session’s end.`,
    facts: { ...factsOf(world, session), deposit: address, transaction },
  };
};

export const double: PerformAct = async (world, request) => {
  const session = await openSession(world, request);
  const deposits = [];
  for (const payer of [payerOf(world), payerOf(world, 0)]) {
    const prepared = await prepare(world, session, payer);
    deposits.push({ to: depositOf(prepared, session).address, amount: BigInt(prepared.amountInToken) });
  }
  const hashes: Hex[] = [];
  for (const deposit of deposits) hashes.push(await transfer(world, session.place, deposit));
  const [first, second] = deposits;
  return {
    did: `Sent ${amountText(first?.amount ?? 0n, session.place)} to each of two deposit addresses.`,
    facts: {
      ...factsOf(world, session),
      'first deposit': `${first?.to ?? ''} ${hashes[0] ?? ''}`,
      'second deposit': `${second?.to ?? ''} ${hashes[1] ?? ''}`,
    },
  };
};

export const wrongToken: PerformAct = async (world, request) => {
  const session = await openSession(world, request);
  const prepared = await prepare(world, session, payerOf(world));
  const { address } = depositOf(prepared, session);
  const { chain, token } = session.place;
  const tokens = world.manifest.chains.find(({ name }) => name === chain.name)?.tokens ?? [];
  const other = tokens.find(({ tokenId }) => tokenId !== token.tokenId);
  if (other === undefined) throw new ActRefused(`${chain.name} has no other token.`);
  const place = tokenOf(world, other.tokenId);
  const dollars = formatUnits(BigInt(prepared.amountInToken), token.decimals);
  const amount = BigInt(Math.ceil(Number(dollars))) * 10n ** BigInt(other.decimals);
  const transaction = await transfer(world, place, { to: address, amount });
  return {
    did: `Sent ${amountText(amount, place)} to a deposit address for ${token.symbol}.`,
    facts: { ...factsOf(world, session), deposit: address, transaction },
  };
};

/** The refunds among which the act looks for one that waits. */
const LISTED_REFUNDS = 50;

export const signRefund: PerformAct = async (world, { argument }) => {
  const { merchantApi, secretKey } = world.manifest;
  const headers = { authorization: `Bearer ${secretKey}` };
  const { refunds } = await ask<{ refunds: Refund[] }>({
    url: `${merchantApi}/refund/list/1/${LISTED_REFUNDS}`,
    headers,
  });
  const waiting = refunds.filter(({ status }) => status === 'requires_signature');
  const wanted =
    argument === undefined ? waiting[0] : waiting.find(({ refundId }) => argument.includes(refundId));
  if (wanted === undefined)
    throw new ActRefused(
      argument === undefined
        ? 'No refund waits for the merchant’s wallet: refund a settled payment first.'
        : `${argument} is no refund that waits for the merchant’s wallet.`,
    );
  // The list leaves out what the wallet sends.
  const {
    refundId,
    sessionId,
    requiredBalance,
    prerequisites = [],
    txRequest,
  } = await ask<Refund>({
    url: `${merchantApi}/refund/${wanted.refundId}`,
    headers,
  });
  if (requiredBalance === undefined || txRequest === undefined)
    throw new ActRefused(`The refund ${refundId} waits no more.`);
  const place = tokenOf(world, requiredBalance.tokenId);
  const { merchant } = world.roles;
  const amount = BigInt(requiredBalance.amountInToken);
  // What was settled may be in another token or on another chain.
  await fund(world, place, amount, merchant);
  let transaction = '';
  for (const { to, data } of [...prerequisites.map((each) => each.txRequest), txRequest])
    transaction = await sendAs(place.chain, merchant, { to, data } as ChainCall);
  return {
    did: `Signed the return of ${amountText(amount, place)} with the merchant’s wallet ${merchant.address}.`,
    facts: { refund: refundId, session: sessionId, transaction },
  };
};
