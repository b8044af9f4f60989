import type { WholePlaces } from '@florin/protocol/checkout-api.ts';
import type { Claim } from '@florin/protocol/checkout-order.ts';
import { ask, Lost, Refused } from '../checkout/api.ts';
import { elementOf, show } from '../checkout/dom.ts';
import { fill } from '../checkout/format.ts';
import { ExplainedFailure } from '../checkout/page.ts';
import { isOfSecret, wordsOfStep } from '../checkout/problem.ts';
import {
  awaitOutcome,
  connect,
  isOn,
  outcomeOf,
  send,
  switchNetwork,
  watchWallets,
} from '../checkout/wallet.ts';
import { nextStepOf, type ToldStep } from '../checkout/wallet-answer.ts';
import type { Wallet } from '../checkout/wallet-type.ts';
import { type ClaimReader, claimView, otherToken } from './claim-view.ts';
import type { ClaimData, ClaimNetwork } from './data.ts';

type State = Omit<ClaimReader, 'wallets' | 'choose' | 'look' | 'send'> & {
  readonly wallets: readonly Wallet[];
  /** What was asked for: the token of an order, and why. */
  readonly wanted: Wanted | undefined;
};

interface Wanted {
  readonly orderId: string;
  readonly token: string;
  readonly purpose: 'rescue' | 'reclaim';
}

function openPage(given: ClaimData): void {
  let data = given;
  let clientCode = /^#([0-9A-Za-z]{1,64})$/.exec(location.hash)?.[1] ?? '';
  /** The failure in words. A page whose secret is wrong goes on without one. */
  const tell = (error: unknown) => {
    if (isOfSecret(error)) clientCode = '';
    return problemOf(data, error);
  };
  let state: State = {
    wallets: [],
    chosen: {},
    asked: '',
    claim: undefined,
    isBusy: false,
    isAsking: false,
    problem: '',
    readProblem: '',
    sentFor: '',
    wanted: undefined,
  };
  const change = (part: Partial<State>) => {
    state = { ...state, ...part };
    show(elementOf('claim'), claimView(data, undefined, { ...state, choose, look, send: sendBack }));
  };
  const choose = (orderId: string) =>
    change({
      chosen: { ...state.chosen, [orderId]: fieldValue(`token-${orderId}`) },
      asked: '',
      claim: undefined,
      problem: '',
    });
  const read = (wanted: Wanted) => {
    const body = { sessionId: data.sessionId, ...wanted };
    return ask<Claim>('/checkout/api/claim', { body, clientCode });
  };
  const look = async (orderId: string, choice: string, purpose: 'rescue' | 'reclaim') => {
    const asked = purpose === 'rescue' ? orderId : `reclaim ${orderId}`;
    const token = choice === otherToken ? fieldValue(`contract-${orderId}`) : choice;
    if (!/^0x[0-9a-fA-F]{40}$/.test(token))
      return change({ asked, claim: undefined, problem: data.texts.refundWrong });
    const wanted = { orderId, token, purpose };
    change({ asked, wanted, claim: undefined, problem: '', isBusy: true, sentFor: '' });
    try {
      change({ claim: await read(wanted), isBusy: false });
    } catch (error) {
      change({ isBusy: false, problem: tell(error) });
    }
  };
  /** Counts requests to wallets: what an earlier one fails with is no longer told. */
  let request = 0;
  const sendBack = async (walletId: string) => {
    const { wallets, claim, asked, wanted } = state;
    const wallet = wallets.find(({ id }) => id === walletId);
    const { txRequest } = claim ?? {};
    if (wanted === undefined || txRequest === undefined || wallet === undefined) return;
    request += 1;
    const own = request;
    change({ isAsking: true, problem: '' });
    try {
      const network = networkOf(data, wanted);
      const hash = await sendWith(data, { wallet, txRequest, network });
      change({ isAsking: false, isBusy: true, sentFor: asked });
      const outcome = await awaitOutcome(() => outcomeOf(wallet.provider, hash));
      if (outcome === 'failed') throw new ExplainedFailure(data.texts.reverted);
      if (outcome === 'unknown') {
        // Not every wallet reports its transactions, and some make up a hash: the service knows what is left.
        const left = await read(wanted);
        change({ claim: left });
        if (left.amount !== '0')
          throw new ExplainedFailure(fill(data.texts.unseen, { network: network.chainTitle }));
      }
      change({ isBusy: false });
    } catch (error) {
      if (own === request) change({ isAsking: false, isBusy: false, problem: tell(error), sentFor: '' });
    }
  };
  watchWallets(data.texts.browserWallet, (wallets) => change({ wallets }));
  if (clientCode === '') return;
  // The link back opens the session's page with the secret.
  elementOf('to-payment').setAttribute('href', `/checkout/${data.sessionId}#${clientCode}`);
  void readPlaces(data, clientCode).then(
    (places) => {
      data = { ...data, places };
      change({});
    },
    (error: unknown) => change({ readProblem: tell(error) }),
  );
}

/** The places with their whole addresses, for the owner of the session's secret. */
async function readPlaces(
  { sessionId, places }: ClaimData,
  clientCode: string,
): Promise<ClaimData['places']> {
  const path = `/checkout/api/session/${sessionId}/places`;
  const whole = await ask<WholePlaces>(path, { clientCode });
  const byOrder = new Map(whole.places.map((each) => [each.orderId, each]));
  return places.map((place) => ({ ...place, ...byOrder.get(place.orderId) }));
}

/** The reader's choice or input. */
function fieldValue(id: string): string {
  const field = document.getElementById(id);
  return field instanceof HTMLInputElement || field instanceof HTMLSelectElement ? field.value.trim() : '';
}

/** The network that an order is on. */
function networkOf({ places, reclaimable }: ClaimData, { orderId, purpose }: Wanted): ClaimNetwork {
  const found = purpose === 'reclaim' ? reclaimable : places.find((place) => place.orderId === orderId);
  if (found === undefined) throw new Error(`nothing is known of ${orderId}`);
  return found;
}

/** Makes a wallet send the call, and returns its hash. Throws what the wallet refuses in the reader's words. */
async function sendWith(
  data: ClaimData,
  sending: {
    wallet: Wallet;
    txRequest: NonNullable<Claim['txRequest']>;
    network: ClaimNetwork;
  },
): Promise<string> {
  const { wallet, txRequest, network } = sending;
  const failure = (step: ToldStep, error?: unknown) =>
    new ExplainedFailure(wordsOfStep(wordsOfWallets(data), step, { network: network.chainTitle, error }));
  const ask = <Answer>(request: 'connect' | 'send', asked: Promise<Answer>) =>
    asked.catch((error: unknown) => {
      throw failure(nextStepOf(request, error), error);
    });
  const from = await ask('connect', connect(wallet.provider));
  if (!(await ask('connect', isOn(wallet.provider, network.chainId)))) {
    const step = await switchNetwork(wallet.provider, network);
    if (step !== 'done') throw failure(step);
  }
  return ask('send', send(wallet.provider, from, txRequest));
}

/** This page's own words for a wallet that fails or cannot send: nothing is paid here. */
const wordsOfWallets = ({ texts, words }: ClaimData) => ({ ...texts, ...words });

function problemOf(data: ClaimData, error: unknown): string {
  if (error instanceof ExplainedFailure) return error.message;
  if (isOfSecret(error)) return error.words ?? '';
  // The server's own words are English. The code is for the support.
  if (error instanceof Refused) return `${data.words.refused} (${error.code})`;
  if (error instanceof Lost) return data.words.refused;
  return wordsOfStep(wordsOfWallets(data), 'failed', { network: '', error });
}

openPage(JSON.parse(elementOf('data').textContent ?? '') as ClaimData);
