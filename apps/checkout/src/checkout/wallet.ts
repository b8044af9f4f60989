import { nextStepOf, noHash, type ToldStep } from './wallet-answer.ts';
import { isRemote } from './wallet-apps.ts';
import type { Provider, Wallet } from './wallet-type.ts';

interface Announcement {
  readonly info: {
    readonly uuid: string;
    readonly name: string;
    readonly icon: string;
    readonly rdns?: string;
  };
  readonly provider: Provider;
}

/** More announcements would only flood the page. */
const maxWallets = 20;

/**
 * Collects the wallets that announce themselves (EIP-6963), and calls back for each. An older wallet's injected
 * provider is offered only while this browser has none, because announcing wallets inject one, too.
 */
export function watchWallets(injectedName: string, onChange: (wallets: readonly Wallet[]) => void): void {
  const wallets = new Map<string, Wallet>();
  const injected = (globalThis as { ethereum?: Provider }).ethereum;
  const tell = () => {
    const announced = [...wallets.values()];
    const old = injected !== undefined && announced.every(isRemote);
    const own = { id: 'injected', rdns: 'injected', name: injectedName, icon: '' };
    onChange(old ? [{ ...own, provider: injected }, ...announced] : announced);
  };
  addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail;
    if (wallets.size >= maxWallets && !wallets.has(info.uuid)) return;
    // Only images inside the announcement itself: the page loads no external files.
    const icon = /^data:image\/(png|webp|svg\+xml|jpeg|gif)[;,]/.test(info.icon) ? info.icon : '';
    const [name, rdns] = [shown(info.name, 60) || injectedName, shown(info.rdns ?? '', 100)];
    wallets.set(info.uuid, { id: info.uuid, rdns, name, icon, provider });
    tell();
  });
  dispatchEvent(new Event('eip6963:requestProvider'));
  tell();
}

/** Announces the page's own wallet, as wallets do. */
export function announceWallet({ id, rdns, name, icon, provider }: Wallet): void {
  const detail: Announcement = { info: { uuid: id, rdns, name, icon }, provider };
  dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
}

/** A wallet's message, short enough to show. */
export function wordsOfError(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  return shown(message || error, 200);
}

/** A wallet's text as the page may show it: short, and without characters that turn or hide the text around them. */
const shown = (text: unknown, most: number) =>
  String(text)
    .replace(/[^\P{C}\s]/gu, '')
    .slice(0, most);

/** Sends one request to a wallet. */
const ask = (provider: Provider, method: string, ...params: readonly unknown[]) =>
  provider.request(params.length === 0 ? { method } : { method, params });

/** A text of the wallet's in the form that it must have, else an error with a code. */
function checked(given: unknown, form: RegExp, code: number): string {
  if (typeof given === 'string' && form.test(given)) return given;
  throw Object.assign(new Error(), { code });
}

export const toHex = (value: string | bigint) => `0x${BigInt(value).toString(16)}`;

export const addressPattern = /^0x[0-9a-fA-F]{40}$/;

/** The wallet's chosen address, checksummed or not; asks the payer for permission if needed. */
export async function connect(provider: Provider): Promise<string> {
  const accounts = await ask(provider, 'eth_requestAccounts');
  // Without one it is not connected (EIP-1193).
  return checked(Array.isArray(accounts) && accounts[0], addressPattern, 4100);
}

export interface Network {
  readonly chainId: string;
  readonly chainTitle: string;
  readonly network?:
    | {
        readonly rpcUrl: string;
        readonly explorer: string;
        readonly currency: { readonly name: string; readonly symbol: string; readonly decimals: number };
      }
    | undefined;
}

/** The id of the network that the wallet is on, as a decimal; empty when it says nothing. Opens no prompt. */
export async function chainOf(provider: Provider): Promise<string> {
  const current = await ask(provider, 'eth_chainId');
  return typeof current === 'string' ? String(BigInt(current)) : '';
}

/** Whether the wallet is on a network now. */
export const isOn = async (provider: Provider, chainId: string) => (await chainOf(provider)) === chainId;

/**
 * The accounts that the wallet shows to the page, in lower case; undefined when it does not answer. Opens no prompt.
 */
export async function accountsOf(provider: Provider): Promise<readonly string[] | undefined> {
  try {
    const accounts = (await ask(provider, 'eth_accounts')) as readonly unknown[];
    return accounts.map((account) => String(account).toLowerCase());
  } catch {
    // Only informative: each request names its account, and a wallet without it refuses.
    return undefined;
  }
}

/** Whether an account has nothing of the coin that pays its network's fees. False when the wallet does not say. */
export async function hasNoCoin(provider: Provider, account: string): Promise<boolean> {
  try {
    return BigInt((await ask(provider, 'eth_getBalance', account, 'latest')) as string) === 0n;
  } catch {
    // Only informative, as the accounts.
    return false;
  }
}

/** Switches the wallet to a network, and adds the network first if needed (EIP-3326, EIP-3085). */
export async function switchNetwork(provider: Provider, wanted: Network): Promise<'done' | ToldStep> {
  const chainId = toHex(wanted.chainId);
  const change = () => ask(provider, 'wallet_switchEthereumChain', { chainId });
  let request: 'switch' | 'add' = 'switch';
  try {
    try {
      await change();
    } catch (error) {
      if (nextStepOf('switch', error) !== 'add_network' || wanted.network === undefined) throw error;
      request = 'add';
      await ask(provider, 'wallet_addEthereumChain', factsOf(wanted, wanted.network));
      request = 'switch';
      if (!(await isOn(provider, wanted.chainId))) await change();
    }
  } catch (error) {
    const step = nextStepOf(request, error);
    return step === 'add_network' ? 'wrongNetwork' : step;
  }
  return (await isOn(provider, wanted.chainId)) ? 'done' : 'wrongNetwork';
}

function factsOf({ chainId, chainTitle }: Network, network: NonNullable<Network['network']>) {
  const { rpcUrl, explorer, currency } = network;
  return {
    chainId: toHex(chainId),
    chainName: chainTitle,
    nativeCurrency: currency,
    rpcUrls: [rpcUrl],
    ...(explorer === '' ? {} : { blockExplorerUrls: [explorer] }),
  };
}

interface Call {
  readonly to: string;
  readonly data: string;
  readonly value: string;
  readonly chainId: string;
}

/** Makes the wallet send a transaction on its own network only; returns its hash. */
export async function send(
  provider: Provider,
  from: string,
  { to, data, value, chainId }: Call,
): Promise<string> {
  const call = { from, to, data, value: toHex(value), chainId: toHex(chainId) };
  const hash = await ask(provider, 'eth_sendTransaction', call);
  return checked(hash, /^0x[0-9a-fA-F]{64}$/, noHash);
}

/** The wallet's view of a sent transaction; `unknown` where it cannot tell, or not yet. */
export type WalletOutcome = 'succeeded' | 'failed' | 'unknown';

/** The wallet node's present view of a transaction. Not every wallet answers. */
export async function outcomeOf(provider: Provider, hash: string): Promise<WalletOutcome> {
  try {
    const { status } = (await ask(provider, 'eth_getTransactionReceipt', hash)) as { status: string };
    return BigInt(status) === 1n ? 'succeeded' : 'failed';
  } catch {
    // There is no receipt yet. The outcome is on the chain, and the server reads it there.
    return 'unknown';
  }
}

const outcomePauseMs = 1_000;
/** Two minutes: by then the server has seen it, or the wallet cannot explain the problem. */
const maxOutcomeAsks = 120;

/** Polls the outcome of a sent payment until it is known, another source knows it, or the time is over. */
export async function awaitOutcome(
  ask: () => Promise<WalletOutcome>,
  isKnownElsewhere?: () => boolean,
): Promise<WalletOutcome> {
  for (let asked = 0; asked < maxOutcomeAsks && !isKnownElsewhere?.(); asked += 1) {
    const outcome = await ask();
    if (outcome !== 'unknown') return outcome;
    await pause(outcomePauseMs);
  }
  return 'unknown';
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Asks the payer to sign typed data (EIP-712). The service checks what the wallet gives. */
export async function signTyped(provider: Provider, from: string, typedData: unknown): Promise<string> {
  return String(await ask(provider, 'eth_signTypedData_v4', from, JSON.stringify(typedData)));
}

/** Whether the wallet executes several calls as one on a chain (EIP-5792). Wallets that do not answer count as no. */
export async function canBatch(provider: Provider, from: string, chainId: string): Promise<boolean> {
  try {
    const answer = await ask(provider, 'wallet_getCapabilities', from, [toHex(chainId)]);
    const chains = answer as Record<string, { atomic?: { status?: unknown } } | undefined> | null;
    const status = chains?.[toHex(chainId)]?.atomic?.status;
    return status === 'supported' || status === 'ready';
  } catch {
    // Most wallets do not know the method.
    return false;
  }
}

/** Makes the wallet execute calls as one; returns the id for querying their outcome. */
export async function sendCalls(
  provider: Provider,
  from: string,
  { chainId, calls }: { readonly chainId: string; readonly calls: readonly Omit<Call, 'chainId'>[] },
): Promise<string> {
  const request = {
    version: '2.0.0',
    from,
    chainId: toHex(chainId),
    atomicRequired: true,
    calls: calls.map(({ to, data, value }) => ({ to, data, value: toHex(value) })),
  };
  const answer = await ask(provider, 'wallet_sendCalls', request);
  // Wallets of the draft standard answer with the bare id. Without an id, the calls are sent all the same.
  return typeof answer === 'string' ? answer : String((answer as { id?: unknown } | null)?.id ?? '');
}

/** The wallet's present view of calls: 1xx pending, 2xx done, others failed (EIP-5792). */
export async function outcomeOfCalls(provider: Provider, id: string): Promise<WalletOutcome> {
  try {
    const answer = await ask(provider, 'wallet_getCallsStatus', id);
    const { status } = answer as { status?: unknown };
    if (typeof status !== 'number' || status < 200) return 'unknown';
    return status < 300 ? 'succeeded' : 'failed';
  } catch {
    // As with transactions: the server reads the chain.
    return 'unknown';
  }
}
