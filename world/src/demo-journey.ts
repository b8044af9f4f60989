import { setTimeout as sleep } from 'node:timers/promises';
import type { CreateSessionMessage, PreparePaymentMessage } from '@florin/protocol/agent-api.ts';
import type {
  AuthorizationRequirement,
  LinkView,
  PreparedView,
  SupportedPaymentToken,
} from '@florin/protocol/agent-view.ts';
import type { LinkDetail } from '@florin/protocol/link.ts';
import type { SessionView } from '@florin/protocol/session.ts';
import { formatUnits, parseUnits } from 'ethers';
import { type AgentApi, openAgentApi, openMerchantApi } from './demo-api.ts';
import { DemoChains, type DemoWallet } from './demo-wallet.ts';
import type { WorldManifest } from './world-config.ts';

/** The links of a world by the names in its manifest. */
export type DemoLink = keyof WorldManifest['linkIds'];

/** One step, and its duration. */
export interface JourneyStep {
  readonly step: string;
  readonly ms: number;
  readonly detail: string;
}

/** The whole journey, from the first request to the money in the merchant's wallet. */
export interface Journey {
  readonly link: DemoLink;
  readonly linkId: string;
  readonly sessionId: string;
  readonly payer: string;
  readonly merchantWallet: string;
  readonly paid: string;
  readonly received: string;
  readonly fee: string;
  readonly transactions: {
    readonly prerequisites: readonly string[];
    readonly pay: string;
    readonly settle: string;
  };
  /** The merchant wallet's balance of the settlement token. */
  readonly balance: { readonly before: string; readonly after: string; readonly symbol: string };
  readonly steps: readonly JourneyStep[];
  /** From the first request to the session's completion. */
  readonly totalMs: number;
}

/** The total that the payer of a custom link chooses, in dollars. */
const chosenAmount = '5';
const payerEmail = 'agent@example.com';
/** More often than the service recommends, because the demo shows the duration of each step. */
const pollMs = 250;

/** Records the time of each step and prints it at its end. */
class StepLog {
  readonly steps: JourneyStep[] = [];
  readonly #tell: (step: JourneyStep) => void;

  constructor(tell: (step: JourneyStep) => void) {
    this.#tell = tell;
  }

  async take<Result>(
    step: string,
    work: () => Promise<Result>,
    detail: (result: Result) => string,
  ): Promise<Result> {
    const begin = performance.now();
    const result = await work();
    this.add({ step, ms: Math.round(performance.now() - begin), detail: detail(result) });
    return result;
  }

  add(step: JourneyStep): void {
    this.steps.push(step);
    this.#tell(step);
  }
}

/** The requirement of a view that is ready for it. */
function requirementIn<Message>(
  requirement: AuthorizationRequirement | undefined,
  stage: string,
): { requirement: AuthorizationRequirement; template: Partial<Message> } {
  if (requirement?.messageTemplate === undefined)
    throw new Error(`There is nothing to sign at the stage ${stage}.`);
  return { requirement, template: requirement.messageTemplate as Partial<Message> };
}

/** The first offered token; for the cross-chain link the first on another chain than the merchant's. */
function chooseToken(link: DemoLink, view: LinkView, detail: LinkDetail): SupportedPaymentToken {
  const home = detail.settlementTokenInfo.chainId;
  const token = view.aiView.supportedPaymentTokens.find(
    ({ chainId }) => link !== 'crossChain' || chainId !== home,
  );
  if (token === undefined) throw new Error(`The link ${view.linkId} offers no token that this demo can pay.`);
  return token;
}

function amountOf(view: LinkView, token: SupportedPaymentToken): string {
  if (view.aiView.pricingModel.type === 'fixed') return token.amountInToken;
  return parseUnits(chosenAmount, token.decimals).toString();
}

/** A payer of the world with enough balance; in a much used world payers run dry one by one. */
async function choosePayer(
  manifest: WorldManifest,
  chains: DemoChains,
  token: SupportedPaymentToken,
  amount: string,
): Promise<DemoWallet> {
  for (const { privateKey } of manifest.payers) {
    const wallet = chains.wallet(privateKey);
    const place = { chainId: token.chainId, address: token.tokenAddress };
    if ((await chains.balanceOf(place, wallet.address)) >= BigInt(amount)) return wallet;
  }
  throw new Error(
    `No payer of this world has ${amount} units of ${token.symbol} on ${token.chainName} left.`,
  );
}

/** An agent checks its transactions: only the known gateway and token, and no native coins. */
function checkTransactions(manifest: WorldManifest, token: SupportedPaymentToken, view: PreparedView): void {
  const chain = manifest.chains.find(({ chainId }) => chainId === token.chainId);
  const { executionRequest, prerequisites } = view.aiView.paymentExecutionGuide;
  const isSafe =
    executionRequest.txRequest.to === chain?.gateway &&
    prerequisites.every(({ txRequest }) => txRequest.to === token.tokenAddress) &&
    [executionRequest, ...prerequisites].every(
      ({ txRequest }) => txRequest.value === '0' && txRequest.chainId === token.chainId,
    );
  if (!isSafe) throw new Error('The service asks for a transaction that does not go where it should.');
}

async function signAndCreate(
  log: StepLog,
  api: AgentApi,
  choice: { view: LinkView; token: SupportedPaymentToken; amount: string; wallet: DemoWallet },
): Promise<string> {
  const { view, token, amount, wallet } = choice;
  const { requirement, template } = requirementIn<CreateSessionMessage>(
    view.aiView.createPaymentSessionRequirement,
    view.aiView.workflow.stage,
  );
  const message = {
    ...template,
    payer: wallet.address,
    paymentChainId: token.chainId,
    paymentToken: token.tokenAddress,
    amount,
  } as CreateSessionMessage;
  const body = await log.take(
    'sign the creation',
    () => wallet.sign(requirement, message),
    () => `${formatUnits(amount, token.decimals)} ${token.symbol} on ${token.chainName} by ${wallet.address}`,
  );
  const created = await log.take(
    'create the session',
    () => api.createSession(body),
    ({ sessionId, aiView }) => `${sessionId}, ${aiView.workflow.stage}`,
  );
  return created.sessionId;
}

async function readAndPrepare(
  log: StepLog,
  api: AgentApi,
  sessionId: string,
  wallet: DemoWallet,
): Promise<PreparedView> {
  const view = await log.take(
    'read the session',
    () => api.readSession(sessionId),
    ({ status, amountInUSD }) => `${status}, ${amountInUSD} USD`,
  );
  const { requirement, template } = requirementIn<PreparePaymentMessage>(
    view.aiView.preparePaymentRequirement,
    view.aiView.workflow.stage,
  );
  const message = {
    ...template,
    payerEmail: view.payerEmailRequired ? payerEmail : '',
  } as PreparePaymentMessage;
  const body = await log.take(
    'sign the preparation',
    () => wallet.sign(requirement, message),
    () => requirement.authorizationSpec.typedData.primaryType,
  );
  return log.take(
    'prepare the payment',
    () => api.prepare(body),
    ({ aiView }) => aiView.paymentExecutionGuide.executionRequest.userReview.description,
  );
}

async function sendAll(log: StepLog, wallet: DemoWallet, view: PreparedView) {
  const { prerequisites, executionRequest } = view.aiView.paymentExecutionGuide;
  const sent: string[] = [];
  for (const { purpose, txRequest } of prerequisites) {
    sent.push(
      await log.take(
        purpose.replaceAll('_', ' '),
        () => wallet.send(txRequest),
        (hash) => hash,
      ),
    );
  }
  const pay = await log.take(
    'pay',
    () => wallet.send(executionRequest.txRequest),
    (hash) => hash,
  );
  return { prerequisites: sent, pay };
}

/** Reads the session until the merchant has the money; each stage on the way is a step. */
async function followToTheEnd(
  log: StepLog,
  api: AgentApi,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  const known = new Set<string>(['session_ready', 'payment_prepared']);
  let since = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const view = await api.readSession(sessionId);
    const { stage, nextAction } = view.aiView.workflow;
    if (!known.has(stage)) {
      known.add(stage);
      const now = performance.now();
      log.add({
        step: stage.replaceAll('_', ' '),
        ms: Math.round(now - since),
        detail: `${view.status}: ${nextAction.description}`,
      });
      since = now;
    }
    if (stage === 'settled') return;
    if (stage === 'session_expired' || stage === 'session_cancelled')
      throw new Error(`The session ${sessionId} ended as ${view.status} without a payment.`);
    await sleep(pollMs, undefined, { signal });
  }
}

const microUsdDecimals = 6;

function microToUnits(microUsd: number, decimals: number): bigint {
  return BigInt(microUsd) * 10n ** BigInt(decimals - microUsdDecimals);
}

function summaryOf(
  { session, transaction }: SessionView,
  detail: LinkDetail,
  balance: { before: bigint; after: bigint },
) {
  if (session.status !== 'completed' || transaction === undefined)
    throw new Error(`The merchant sees the session ${session.sessionId} as ${session.status}.`);
  const { decimals, symbol } = detail.settlementTokenInfo;
  const gained = balance.after - balance.before;
  const net = microToUnits(transaction.netValue, decimals);
  if (gained < net) {
    throw new Error(
      `The merchant's wallet gained ${formatUnits(gained, decimals)} ${symbol}, and ${formatUnits(net, decimals)} are due.`,
    );
  }
  const usd = (value: number) => `${formatUnits(BigInt(value), microUsdDecimals)} USD`;
  return {
    paid: usd(transaction.totalValue),
    received: usd(transaction.netValue),
    fee: usd(transaction.feeValue),
    settle: transaction.targetTx,
    balance: {
      before: formatUnits(balance.before, decimals),
      after: formatUnits(balance.after, decimals),
      symbol,
    },
  };
}

/**
 * Pays one link of a running world as an AI agent would, with only the AI protocol and a wallet. Then checks as the
 * merchant that the money arrived. Throws one sentence for any failure.
 */
export async function playJourney(
  manifest: WorldManifest,
  link: DemoLink,
  options: { tell: (step: JourneyStep) => void; signal: AbortSignal },
): Promise<Journey> {
  const log = new StepLog(options.tell);
  const agent = openAgentApi(manifest.aiApi);
  const merchant = openMerchantApi(manifest.merchantApi, manifest.secretKey);
  const chains = new DemoChains(manifest);
  const linkId = manifest.linkIds[link];
  try {
    const detail = await merchant.readLink(linkId);
    const { chainId, contractAddress } = detail.settlementTokenInfo;
    const readBalance = () => chains.balanceOf({ chainId, address: contractAddress }, detail.accountAddress);
    const before = await readBalance();
    const begin = performance.now();
    const view = await log.take(
      'read the payment link',
      () => agent.readLink(linkId),
      ({ linkName, aiView }) => `${linkName}: ${aiView.supportedPaymentTokens.length} tokens pay it`,
    );
    const token = chooseToken(link, view, detail);
    const amount = amountOf(view, token);
    const wallet = await choosePayer(manifest, chains, token, amount);
    const sessionId = await signAndCreate(log, agent, { view, token, amount, wallet });
    const prepared = await readAndPrepare(log, agent, sessionId, wallet);
    checkTransactions(manifest, token, prepared);
    const sent = await sendAll(log, wallet, prepared);
    await followToTheEnd(log, agent, sessionId, options.signal);
    const totalMs = Math.round(performance.now() - begin);
    const session = await merchant.readSession(sessionId);
    const { settle, ...summary } = summaryOf(session, detail, { before, after: await readBalance() });
    return {
      ...{ link, linkId, sessionId, payer: wallet.address, merchantWallet: detail.accountAddress },
      ...summary,
      transactions: { ...sent, settle },
      steps: log.steps,
      totalMs,
    };
  } finally {
    chains.close();
  }
}
