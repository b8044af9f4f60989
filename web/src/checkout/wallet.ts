/** A wallet's own interface (EIP-1193). */
export interface Provider {
  request(request: {
    readonly method: string;
    readonly params?: readonly unknown[] | object;
  }): Promise<unknown>;
}

/** A wallet that can be chosen. */
export interface Wallet {
  /** Unique among those that are there. */
  readonly id: string;
  readonly name: string;
  /** A data URL of the wallet's own; empty when it has none. */
  readonly icon: string;
  readonly provider: Provider;
}

interface Announcement {
  readonly info: { readonly uuid: string; readonly name: string; readonly icon: string };
  readonly provider: Provider;
}

/** More are nothing but an attempt to flood the page. */
const maxWallets = 20;

/**
 * Gathers the wallets that announce themselves (EIP-6963), and calls back for each. The one injected provider of older
 * wallets is offered only while none does: wallets that announce themselves inject it, too.
 */
export function watchWallets(injectedName: string, onChange: (wallets: readonly Wallet[]) => void): void {
  const wallets = new Map<string, Wallet>();
  const injected = (globalThis as { ethereum?: Provider }).ethereum;
  const tell = () => {
    const announced = [...wallets.values()];
    const old = injected !== undefined && announced.length === 0;
    onChange(old ? [{ id: 'injected', name: injectedName, icon: '', provider: injected }] : announced);
  };
  addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail;
    if (wallets.size >= maxWallets && !wallets.has(info.uuid)) return;
    // Only images that are in the announcement itself: the page loads nothing from anywhere.
    const icon = /^data:image\/(png|webp|svg\+xml|jpeg|gif)[;,]/.test(info.icon) ? info.icon : '';
    wallets.set(info.uuid, { id: info.uuid, name: info.name.slice(0, 60), icon, provider });
    tell();
  });
  dispatchEvent(new Event('eip6963:requestProvider'));
  tell();
}

/** Announces a wallet of the page itself, as wallets do. */
export function announceWallet({ id, name, icon, provider }: Wallet): void {
  const detail: Announcement = { info: { uuid: id, name, icon }, provider };
  dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
}

/** What a wallet's refusal means (EIP-1193, EIP-1474, and what wallets really send). */
export type Failure = 'rejected' | 'busy' | 'unknown_chain' | 'unsupported' | 'other';

export function failureOf(error: unknown): Failure {
  const codes = codesOf(error);
  if (codes.includes(4001) || codes.includes(5750)) return 'rejected';
  if (codes.includes(-32002)) return 'busy';
  if (codes.includes(4902)) return 'unknown_chain';
  if (codes.includes(4200) || codes.includes(-32601) || codes.includes(-32004)) return 'unsupported';
  return 'other';
}

/** Wallets wrap errors of others: the code that tells may lie deeper. */
function codesOf(error: unknown, depth = 0): unknown[] {
  if (typeof error !== 'object' || error === null || depth > 4) return [];
  const { code, data, originalError, cause } = error as Record<string, unknown>;
  return [code, ...[data, originalError, cause].flatMap((inner) => codesOf(inner, depth + 1))];
}

/** A wallet's words, short enough to show. */
export function wordsOfError(error: unknown): string {
  const { message } = (typeof error === 'object' && error !== null ? error : {}) as { message?: unknown };
  return typeof message === 'string' && message !== '' ? message.slice(0, 200) : String(error).slice(0, 200);
}

export const toHex = (value: string | bigint) => `0x${BigInt(value).toString(16)}`;

/** The wallet's chosen address, checksummed or not; asks the payer when it has not been allowed yet. */
export async function connect(provider: Provider): Promise<string> {
  const accounts = (await provider.request({ method: 'eth_requestAccounts' })) as unknown;
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof first !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(first))
    throw new Error('the wallet gave no address');
  return first;
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

async function isOn(provider: Provider, chainId: string): Promise<boolean> {
  const current = await provider.request({ method: 'eth_chainId' });
  return typeof current === 'string' && BigInt(current) === BigInt(chainId);
}

/** Brings the wallet to a network, which it may have to learn first (EIP-3326, EIP-3085). False when it stays elsewhere. */
export async function switchNetwork(provider: Provider, wanted: Network): Promise<boolean> {
  if (await isOn(provider, wanted.chainId)) return true;
  const chainId = toHex(wanted.chainId);
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  } catch (error) {
    if (failureOf(error) !== 'unknown_chain' || wanted.network === undefined) throw error;
    const { rpcUrl, explorer, currency } = wanted.network;
    const facts = {
      chainId,
      chainName: wanted.chainTitle,
      nativeCurrency: currency,
      rpcUrls: [rpcUrl],
      ...(explorer === '' ? {} : { blockExplorerUrls: [explorer] }),
    };
    await provider.request({ method: 'wallet_addEthereumChain', params: [facts] });
    if (!(await isOn(provider, wanted.chainId)))
      await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  }
  return isOn(provider, wanted.chainId);
}

interface Call {
  readonly to: string;
  readonly data: string;
  readonly value: string;
}

/** Has the wallet send a transaction; gives its hash. */
export async function send(provider: Provider, from: string, { to, data, value }: Call): Promise<string> {
  const params = [{ from, to, data, value: toHex(value) }];
  const hash = await provider.request({ method: 'eth_sendTransaction', params });
  if (typeof hash !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(hash))
    throw new Error('the wallet gave no transaction hash');
  return hash;
}

const receiptPauseMs = 1_000;
/** Ten minutes: then the payer is told, and may try again. */
const maxReceiptAsks = 600;

/** Waits until a transaction is in a block; false when it failed there. */
export async function mined(provider: Provider, hash: string): Promise<boolean> {
  for (let asked = 0; asked < maxReceiptAsks; asked += 1) {
    const receipt = (await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] })) as {
      status?: string;
    } | null;
    if (receipt !== null && receipt?.status !== undefined) return BigInt(receipt.status) === 1n;
    await new Promise((resolve) => setTimeout(resolve, receiptPauseMs));
  }
  throw new Error('the transaction is not in a block yet');
}

/** Has the payer sign typed data (EIP-712); undefined when the wallet cannot. */
export async function signTyped(
  provider: Provider,
  from: string,
  typedData: unknown,
): Promise<string | undefined> {
  try {
    const params = [from, JSON.stringify(typedData)];
    const signature = await provider.request({ method: 'eth_signTypedData_v4', params });
    return typeof signature === 'string' && /^0x[0-9a-fA-F]+$/.test(signature) ? signature : undefined;
  } catch (error) {
    if (failureOf(error) === 'unsupported') return undefined;
    throw error;
  }
}

/** Whether the wallet carries out several calls as one on a chain (EIP-5792). Wallets that do not know answer no. */
export async function canBatch(provider: Provider, from: string, chainId: string): Promise<boolean> {
  try {
    const params = [from, [toHex(chainId)]];
    const answer = await provider.request({ method: 'wallet_getCapabilities', params });
    const chains = answer as Record<string, { atomic?: { status?: unknown } } | undefined> | null;
    const status = chains?.[toHex(chainId)]?.atomic?.status;
    return status === 'supported' || status === 'ready';
  } catch {
    // Not knowing the method is the answer of most wallets.
    return false;
  }
}

const batchFailed = 400;

/** Has the wallet carry out calls as one, and waits until they are in a block; gives the hash, undefined when they failed. */
export async function sendBatch(
  provider: Provider,
  from: string,
  chainId: string,
  calls: readonly Call[],
): Promise<string | undefined> {
  const request = {
    version: '2.0.0',
    from,
    chainId: toHex(chainId),
    atomicRequired: true,
    calls: calls.map(({ to, data, value }) => ({ to, data, value: toHex(value) })),
  };
  const { id } = (await provider.request({ method: 'wallet_sendCalls', params: [request] })) as {
    id: string;
  };
  for (let asked = 0; asked < maxReceiptAsks; asked += 1) {
    const { status, receipts } = (await provider.request({
      method: 'wallet_getCallsStatus',
      params: [id],
    })) as {
      status: number;
      receipts?: { transactionHash: string }[];
    };
    if (status >= batchFailed) return undefined;
    if (status >= 200) return receipts?.at(-1)?.transactionHash ?? '';
    await new Promise((resolve) => setTimeout(resolve, receiptPauseMs));
  }
  throw new Error('the calls are not in a block yet');
}
