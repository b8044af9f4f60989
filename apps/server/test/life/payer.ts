import { randomBytes } from 'node:crypto';
import type { PaymentAlternative } from '@florin/protocol/agent-view.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { JsonRpcProvider, Wallet } from 'ethers';
import type { LifeChain } from './life-chain.ts';

interface TransactionRequest {
  readonly chainId: string;
  readonly to: string;
  readonly data: string;
  readonly value: string;
}

interface TypedAuthorization {
  readonly authorizationSpec: {
    readonly domain: { readonly name: string; readonly version: string };
    readonly types: Record<string, { name: string; type: string }[]>;
  };
}

/** The AI protocol's answer, with the parts that stories check. */
export interface AgentReply {
  readonly code: number;
  readonly message: string;
  readonly merchantId: string;
  readonly linkVersion: string;
  readonly sessionId: string;
  readonly calldata: Hex;
  readonly aiView: {
    readonly supportedPaymentTokens: { tokenAddress: string; chainId: string; amountInToken: string }[];
    readonly createPaymentSessionRequirement: TypedAuthorization;
    readonly preparePaymentRequirement?: TypedAuthorization;
    readonly completePaymentSessionGuide?: { readonly preparePaymentRequirement: TypedAuthorization };
    readonly paymentExecutionGuide: {
      readonly executionRequest: { readonly txRequest: TransactionRequest };
      readonly prerequisites: { readonly txRequest: TransactionRequest }[];
      readonly order: { readonly orderId: string; readonly deadline: string };
      readonly alternatives: readonly PaymentAlternative[];
    };
    readonly workflow: { readonly stage: string };
  };
}

/** The address of the AI protocol. */
interface Asked {
  readonly options: { readonly origin: string };
  readonly merchantId: string;
}

/** A payer whose wallet uses another library than the service, and who knows only the answers of the AI protocol. */
export class Payer {
  readonly wallet = new Wallet(`0x${randomBytes(32).toString('hex')}`);
  readonly #life: Asked;

  constructor(life: Asked) {
    this.#life = life;
  }

  get address(): Hex {
    return this.wallet.address as Hex;
  }

  /** Adds gas and tokens on one chain. */
  async fund(chain: LifeChain, token: Token, amount: bigint): Promise<void> {
    await chain.anvil.request('anvil_setBalance', [this.address, '0x56bc75e2d63100000']);
    await chain.mint(token, this.address, amount);
  }

  async ask(method: string, path: string, body?: unknown): Promise<AgentReply> {
    const response = await fetch(`${this.#life.options.origin}/aipay/api/v1${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return (await response.json()) as AgentReply;
  }

  async #sign(requirement: TypedAuthorization, message: Record<string, string>): Promise<string> {
    const { domain, types } = requirement.authorizationSpec;
    return this.wallet.signTypedData({ ...domain, chainId: message['paymentChainId'] ?? '' }, types, message);
  }

  #nonceAndExpiry(): { authorizationNonce: string; authorizationExpiresAt: string } {
    return {
      authorizationNonce: `0x${randomBytes(32).toString('hex')}`,
      authorizationExpiresAt: String(Math.floor(Date.now() / 1000) + 900),
    };
  }

  /** Discovers a link, signs, and creates a session to pay it with one token. */
  async createSession(linkId: string, token: Token): Promise<string> {
    const view = succeeded(await this.ask('GET', `/payment/link/${linkId}`));
    const offer = view.aiView.supportedPaymentTokens.find(
      (candidate) => candidate.tokenAddress === token.address && candidate.chainId === String(token.chainId),
    );
    if (offer === undefined) throw new Error(`the link is not offered in ${token.tokenId}`);
    const message = {
      purpose: 'create_payment_session',
      linkId,
      linkVersion: view.linkVersion,
      merchantId: view.merchantId,
      payer: this.address,
      paymentChainId: offer.chainId,
      paymentToken: offer.tokenAddress,
      amount: offer.amountInToken,
      ...this.#nonceAndExpiry(),
    };
    const signature = await this.#sign(view.aiView.createPaymentSessionRequirement, message);
    return succeeded(await this.ask('POST', '/payment/session/create', { message, signature })).sessionId;
  }

  /** The signed body of a prepare request. */
  async preparation(
    sessionId: string,
    token: Token,
  ): Promise<{ message: Record<string, string>; signature: string }> {
    const view = succeeded(await this.ask('GET', `/session/${sessionId}`));
    const requirement =
      view.aiView.preparePaymentRequirement ??
      view.aiView.completePaymentSessionGuide?.preparePaymentRequirement;
    if (requirement === undefined)
      throw new Error(`the session cannot be prepared: ${view.aiView.workflow.stage}`);
    const message = {
      purpose: 'prepare_payment',
      sessionId,
      merchantId: view.merchantId ?? this.#life.merchantId,
      payer: this.address,
      payerEmail: '',
      paymentChainId: String(token.chainId),
      paymentToken: token.address,
      ...this.#nonceAndExpiry(),
    };
    return { message, signature: await this.#sign(requirement, message) };
  }

  /** Prepares the order for a session, to be paid with one token. */
  async prepare(sessionId: string, token: Token): Promise<AgentReply> {
    return succeeded(await this.ask('POST', '/payment/prepare', await this.preparation(sessionId, token)));
  }

  /**
   * Signs an alternative's typed data, as a wallet without knowledge of the service does; returns the request to
   * submit.
   */
  async signed({ typedData, submit }: PaymentAlternative): Promise<{ path: string; body: object }> {
    if (typedData === undefined || submit === undefined) throw new Error('nothing to sign');
    const { EIP712Domain: _domain, ...types } = typedData.types;
    const signature = await this.wallet.signTypedData(typedData.domain, types, typedData.message);
    return { path: submit.path, body: { ...submit.body, signature } };
  }

  /** Sends a transaction from the payer's wallet; returns its hash without waiting for a block. */
  async send(
    chain: LifeChain,
    request: TransactionRequest,
    options: { gasLimit?: bigint; priorityFee?: bigint } = {},
  ): Promise<string> {
    const provider = new JsonRpcProvider(chain.anvil.url, Number(request.chainId), {
      staticNetwork: true,
      cacheTimeout: -1,
    });
    try {
      const wallet = this.wallet.connect(provider);
      const sent = await wallet.sendTransaction({
        to: request.to,
        data: request.data,
        value: request.value,
        gasLimit: options.gasLimit ?? 400_000n,
        ...(options.priorityFee === undefined
          ? {}
          : { maxPriorityFeePerGas: options.priorityFee, maxFeePerGas: 2n * options.priorityFee }),
        nonce: await provider.getTransactionCount(this.address, 'pending'),
      });
      return sent.hash;
    } finally {
      provider.destroy();
    }
  }

  /** Sends the transactions of prepare's answer: the approvals, then the payment. Returns the payment's hash. */
  async execute(chain: LifeChain, prepared: AgentReply): Promise<string> {
    const guide = prepared.aiView.paymentExecutionGuide;
    for (const { txRequest } of guide.prerequisites) await this.send(chain, txRequest);
    return this.send(chain, guide.executionRequest.txRequest);
  }
}

/** An alternative way to pay from prepare's answer. */
export function alternative(prepared: AgentReply, method: string): PaymentAlternative {
  const { alternatives } = prepared.aiView.paymentExecutionGuide;
  const found = alternatives.find((candidate) => candidate.method === method);
  if (found === undefined) throw new Error(`${method} is not offered: ${JSON.stringify(alternatives)}`);
  return found;
}

/** Asserts that the reply's code is 0; throws with the whole reply otherwise. */
export function succeeded(reply: AgentReply): AgentReply {
  if (reply.code !== 0) throw new Error(JSON.stringify(reply));
  return reply;
}
