import { type Deposit, findDeposits, parseDepositOrder } from './deposit.ts';
import {
  chainTime,
  findPayments,
  openPlace,
  type Payment,
  type Place,
  type Request,
  reclaimProblem,
  settleProblem,
} from './payment.ts';
import {
  checkReceipt,
  describeVerdict,
  parsePublished,
  parseReceipt,
  type Receipt,
  type Verdict,
  verifyReceipt,
} from './receipt.ts';
import { encodeReclaim, encodeSettle, selectorOf, ZERO_ADDRESS } from './wire.ts';

/** The part of the browser's interface that the page uses. */
interface PageElement {
  value: string;
  textContent: string | null;
  disabled: boolean;
  readonly files?: ArrayLike<{ text(): Promise<string> }> | null;
  append(...children: (PageElement | string)[]): void;
  replaceChildren(...children: PageElement[]): void;
  addEventListener(event: string, listener: () => void): void;
}
interface PageDocument {
  getElementById(id: string): PageElement | null;
  createElement(name: string): PageElement;
}
declare const document: PageDocument;
declare const ethereum:
  | { request(call: { method: string; params: readonly unknown[] }): Promise<unknown> }
  | undefined;

const COIN_DECIMALS = 18;
/** The time limit for a node's answer: searching a long chain takes a while. */
const rpcTimeLimitMs = 60_000;

start();

function start(): void {
  element('find').addEventListener('click', () => attempt(showPayments));
  element('verify').addEventListener('click', () => attempt(showVerdict));
  element('look').addEventListener('click', () => attempt(showDeposits));
  element('use-wallet').addEventListener('click', () =>
    attempt(async () => {
      const [account] = (await wallet('eth_requestAccounts', [])) as string[];
      element('payer').value = account ?? '';
    }),
  );
}

async function showPayments(): Promise<void> {
  const place = await chosenPlace();
  const typed = (id: string) => {
    const text = element(id).value.trim();
    return text === '' ? {} : { [id]: text };
  };
  const search = { ...typed('payer'), ...typed('channelId'), ...typed('recipient') };
  if (Object.keys(search).length !== 1) throw new Error('Fill in one of payer, channel and recipient.');
  const fromBlock = BigInt(element('from-block').value.trim() || '0');
  const [payments, now] = [await findPayments(place, { ...search, fromBlock }), await chainTime(place)];
  const tokens = new Map<string, string>();
  const rows = [];
  for (const payment of payments) rows.push(await rowOf(place, payment, now, tokens));
  element('payments').replaceChildren(...rows);
  tell(payments.length === 0 ? 'There are no such payments on this chain.' : `${payments.length} payments.`);
}

async function showDeposits(): Promise<void> {
  const file = element('order').files?.[0];
  if (file === undefined) throw new Error('Choose an order first.');
  const order = parseDepositOrder(await file.text());
  const place = await chosenPlace();
  const token = element('token').value.trim();
  if (token !== '' && !/^0x[0-9a-fA-F]{40}$/.test(token)) throw new Error(`${token} is not an address.`);
  const deposits = await findDeposits(place, order, token === '' ? [] : [token], await chainTime(place));
  const rows = [];
  for (const deposit of deposits) rows.push(await depositRowOf(place, deposit));
  element('deposits').replaceChildren(...rows);
  tell(
    deposits.length === 0 ? 'The deposit address holds nothing of these.' : `${deposits.length} deposits.`,
  );
}

async function depositRowOf(place: Place, deposit: Deposit): Promise<PageElement> {
  const { receiver, token, amount, refundAddress, data, problem } = deposit;
  const isCoin = token === ZERO_ADDRESS;
  const decimals = isCoin ? String(COIN_DECIMALS) : await readDecimals(place, token);
  const holds = `${inWhole(amount, Number(decimals))} of ${isCoin ? "the chain's coin" : token}`;
  const button = make('button', 'Rescue');
  button.disabled = problem !== undefined;
  if (problem === undefined)
    button.addEventListener('click', () => attempt(() => send(place, data, 'Rescue')));
  const actions = make('td');
  actions.append(button, problem === undefined ? '' : ` ${problem}`);
  const row = make('tr');
  row.append(...[receiver, holds, refundAddress].map((cell) => make('td', cell)), actions);
  return row;
}

async function showVerdict(): Promise<void> {
  const file = element('receipt').files?.[0];
  if (file === undefined) throw new Error('Choose a receipt first.');
  const receipt = parseReceipt(await file.text());
  const verdict = await verdictOf(receipt);
  element('verdict').replaceChildren(...describeVerdict(verdict).map((line) => make('li', line)));
  const { isValid, status } = verdict;
  if (!isValid) tell('The receipt is not valid.');
  else if (status !== undefined) tell(`The receipt is valid: ${status}.`);
  else tell('The receipt is consistent. Only its chain can show whether it was paid: fill in the gateway.');
}

/** Without a gateway the receipt is checked alone, and no node is asked. */
async function verdictOf(receipt: Receipt): Promise<Verdict> {
  const published = parsePublished(element('via').value);
  if (element('gateway').value.trim() === '') return checkReceipt(receipt, published);
  const { request, gateway } = await chosenPlace();
  const fromBlock = BigInt(element('from-block').value.trim() || '0');
  return verifyReceipt(receipt, { request, gateway, fromBlock, published });
}

async function rowOf(
  place: Place,
  payment: Payment,
  now: bigint,
  tokens: Map<string, string>,
): Promise<PageElement> {
  const row = make('tr');
  const amount = await describeAmount(place, payment, tokens);
  const cells = [payment.orderId, payment.status, amount, payment.payer, payment.to, payment.way];
  row.append(...cells.map((cell) => make('td', cell)));
  const actions = make('td');
  const { order } = payment;
  const offers = [
    ['Reclaim', reclaimProblem(payment, now), encodeReclaim],
    ['Settle', settleProblem(payment, now), (single: NonNullable<typeof order>) => encodeSettle([single])],
  ] as const;
  for (const [name, problem, encode] of offers) {
    const button = make('button', name);
    button.disabled = problem !== undefined;
    if (order !== undefined && problem === undefined) {
      button.addEventListener('click', () => attempt(() => send(place, encode(order), name)));
    }
    actions.append(button, problem === undefined ? '' : ` ${problem}`);
  }
  row.append(actions);
  return row;
}

/** Sends with the wallet, which shows what it signs; without a wallet the page shows the transaction. */
async function send(place: Place, data: string, name: string): Promise<void> {
  const transaction = { to: place.gateway, data, value: '0x0' };
  if (typeof ethereum === 'undefined') {
    tell(
      `There is no wallet here. ${name} by sending this transaction on chain ${place.chainId}: ${JSON.stringify(transaction)}`,
    );
    return;
  }
  const [from] = (await wallet('eth_requestAccounts', [])) as string[];
  const served = BigInt(String(await wallet('eth_chainId', [])));
  if (served !== place.chainId)
    throw new Error(`The wallet is on chain ${served}: switch it to ${place.chainId}.`);
  tell(`Sent: ${String(await wallet('eth_sendTransaction', [{ from, ...transaction }]))}`);
}

/** Shows the token's symbol with its address: any contract can call itself USDC. */
async function describeAmount(place: Place, payment: Payment, tokens: Map<string, string>): Promise<string> {
  const known = tokens.get(payment.token);
  const decimals = known ?? (await readDecimals(place, payment.token));
  tokens.set(payment.token, decimals);
  return `${inWhole(payment.total, Number(decimals))} of ${payment.token}`;
}

function inWhole(amount: bigint, decimals: number): string {
  const units = amount.toString().padStart(decimals + 1, '0');
  const split = units.length - decimals;
  return `${units.slice(0, split)}.${units.slice(split)}`;
}

async function readDecimals({ request }: Place, token: string): Promise<string> {
  const answer = await request('eth_call', [{ to: token, data: selectorOf('decimals()') }, 'latest']);
  const decimals = BigInt(String(answer));
  return decimals <= 36n ? String(decimals) : '0';
}

async function chosenPlace(): Promise<Place> {
  const url = element('rpc').value.trim();
  if (url === '' && typeof ethereum === 'undefined')
    throw new Error('Fill in the RPC URL: there is no wallet here.');
  return openPlace(url === '' ? wallet : nodeAt(url), element('gateway').value.trim());
}

async function wallet(method: string, params: readonly unknown[]): Promise<unknown> {
  if (typeof ethereum === 'undefined') throw new Error('There is no wallet here.');
  return ethereum.request({ method, params });
}

function nodeAt(url: string): Request {
  return async (method, params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(rpcTimeLimitMs),
    });
    const answer = (await response.json()) as { result?: unknown; error?: { message?: string } };
    if (answer.error !== undefined) throw new Error(`The node says: ${answer.error.message ?? 'error'}`);
    return answer.result;
  };
}

function attempt(work: () => Promise<void>): void {
  tell('…');
  work().catch((error: unknown) => tell(error instanceof Error ? error.message : String(error)));
}

function tell(text: string): void {
  element('message').textContent = text;
}

function element(id: string): PageElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
}

/** Text stays text: nothing from the chain or a receipt is parsed as HTML. */
function make(name: string, text = ''): PageElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
