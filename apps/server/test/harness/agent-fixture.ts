import { type Database, statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { newId } from '@florin/protocol/id.ts';
import type { LinkCreateBody } from '@florin/protocol/link.ts';
import type { Hex, Order } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { domainVersion, gatewayDomainName, orderTypes } from '@florin/protocol/typed-data.ts';
import { secp256k1 } from '@florin/signing';
import { Wallet } from 'ethers';
import type { FastifyInstance } from 'fastify';
import { hashTypedData, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { AuthorizationContext } from '#authorizations/context.ts';
import { cryptographyOf } from '#authorizations/cryptography.ts';
import type { PayerChain } from '#authorizations/payer-chain.ts';
import { createProduct } from '#catalog/product.ts';
import { chainsOf } from '#chains/chain.ts';
import { agentDoor } from '#http/agent/agent.ts';
import { buildServer } from '#http/server.ts';
import { createLink } from '#links/link.ts';
import { orderSignerOf } from '#orders/order-signer.ts';
import type { OrderSigner } from '#orders/signer.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { type MovableClock, movableClock } from './movable-clock.ts';

const insertMerchant = statement({
  name: 'agent_fixture_merchant',
  parameters: { merchantId: 'text', createdAt: 'timestamptz' },
  text: `insert into merchants (merchant_id, merchant_name, created_at) values (:merchantId, 'Test merchant', :createdAt)`,
});

const insertAccount = statement({
  name: 'agent_fixture_account',
  parameters: {
    accountId: 'text',
    merchantId: 'text',
    accountAddress: 'text',
    settlementCurrencies: 'text[]',
    version: 'text',
    createdAt: 'timestamptz',
  },
  text: `insert into accounts (account_id, merchant_id, account_name, account_address, settlement_currencies, version, status,
     created_at, updated_at)
   values (:accountId, :merchantId, 'Main', :accountAddress, :settlementCurrencies, :version, 'normal', :createdAt, :createdAt)`,
});

const setLinkStatus = statement({
  name: 'agent_fixture_link_status',
  parameters: { linkId: 'text', status: 'text' },
  text: `update links set status = :status, custom_disabled_text = 'Back at noon' where link_id = :linkId`,
});

const countRows = statement({
  name: 'agent_fixture_rows',
  columns: { sessions: 'int8', orders: 'int8', authorizations: 'int8', events: 'int8' },
  text: `select (select count(*) from sessions) as sessions, (select count(*) from orders) as orders,
     (select count(*) from authorizations) as authorizations,
     (select count(*) from events where event_type like 'session.%') as events`,
});

function token(chainName: string, chainId: number, symbol: string, decimals: number): Token {
  const address = new Wallet(toHex(chainId * 100 + symbol.charCodeAt(3), { size: 32 })).address as Hex;
  return {
    tokenId: `${chainName}::${symbol.toLowerCase()}`,
    chainName,
    chainId,
    address,
    name: symbol,
    symbol,
    decimals,
  };
}

function chain(name: string, chainId: number, tokens: readonly Token[]) {
  const finality = { tag: 'finalized', depth: 1, quorum: 1 } as const;
  const contracts = { gateway: `0x${'a1'.repeat(20)}`, vault: `0x${'b2'.repeat(20)}` } as const;
  return { name, chainId, rpcUrls: [], ...contracts, startBlock: 0n, finality, pollIntervalMs: 1000, tokens };
}

/** Two chains; the tokens of the second have 18 decimals. */
export const fixtureChains = chainsOf([
  chain('ethereum', 31337, [token('ethereum', 31337, 'USDC', 6), token('ethereum', 31337, 'USDT', 6)]),
  chain('base', 31338, [token('base', 31338, 'USDC', 18)]),
]);

/** Signs with a key in memory, in the gateway's EIP-712 domain. */
function memorySigner(): OrderSigner {
  const key = `0x${'0f'.repeat(32)}` as const;
  const account = privateKeyToAccount(key);
  const typed = (chainId: number, gateway: Hex, order: Order) => ({
    domain: { name: gatewayDomainName, version: domainVersion, chainId, verifyingContract: gateway },
    types: orderTypes,
    primaryType: 'Order' as const,
    message: order,
  });
  return {
    address: account.address,
    orderId: (chainId, gateway, order) => hashTypedData(typed(chainId, gateway, order)),
    signOrder: (chainId, gateway, order) => account.signTypedData(typed(chainId, gateway, order)),
    hasSigned: orderSignerOf(key).hasSigned,
    signPayout: async () => {
      throw new Error('no payouts here');
    },
  };
}

/** The payers' chains, simulated; tests change its members. */
export interface FakeChain extends PayerChain {
  /** Every token's answer for every allowance. */
  allowance: bigint;
  /** The code at every payer's address. */
  code: Hex;
  /** The answer of accounts with code for every signature; undefined: they revert. */
  verdict: Hex | undefined;
  isDown: boolean;
  callsSeen: number;
}

const isValidSignatureSelector = '0x1626ba7e';

function fakeChain(): FakeChain {
  const countCall = () => {
    chain.callsSeen += 1;
    if (chain.isDown) throw new Refusal('chain_unavailable');
  };
  const chain: FakeChain = {
    allowance: 0n,
    code: '0x',
    verdict: undefined,
    isDown: false,
    callsSeen: 0,
    async codeAt() {
      countCall();
      return chain.code;
    },
    async callAt(_chainId, { to, data }) {
      countCall();
      // A call without a recipient asks an account that is not deployed.
      const isAboutSignature = to === undefined || data.startsWith(isValidSignatureSelector);
      return isAboutSignature ? chain.verdict : toHex(chain.allowance, { size: 32 });
    },
  };
  return chain;
}

export interface AgentReply {
  readonly httpStatus: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** The AI protocol's door over a separate database, with a merchant. */
export class AgentWorld {
  readonly clock: MovableClock;
  readonly chain: FakeChain;
  readonly database: TestDatabase;
  readonly deps: AuthorizationContext;
  readonly server: FastifyInstance;
  readonly merchantId: string;
  readonly accountId: string;

  private constructor(parts: {
    database: TestDatabase;
    server: FastifyInstance;
    deps: AuthorizationContext;
    clock: MovableClock;
    chain: FakeChain;
    merchantId: string;
    accountId: string;
  }) {
    this.database = parts.database;
    this.server = parts.server;
    this.deps = parts.deps;
    this.merchantId = parts.merchantId;
    this.accountId = parts.accountId;
    this.clock = parts.clock;
    this.chain = parts.chain;
  }

  static async open(limits: Pick<AuthorizationContext, 'admitCreation'> = {}): Promise<AgentWorld> {
    const database = await testDatabase();
    const clock = movableClock();
    const payerChain = fakeChain();
    const deps: AuthorizationContext = {
      clock,
      random: systemRandom,
      origin: 'https://pay.example.com',
      serviceDomain: 'pay.example.com',
      chains: fixtureChains,
      rates: { sameToken: 2000, sameChain: 3000, crossChain: 6000 },
      signer: memorySigner(),
      reclaimAfterSeconds: 86_400,
      cryptography: cryptographyOf(secp256k1),
      payerChain,
      maxOpenSessions: 20,
      ...limits,
    };
    const server = await buildServer({
      log: silentLog,
      random: systemRandom,
      origin: deps.origin,
      doors: [agentDoor({ db: database.db, deps, basePaths: ['/aipay/api/v1', '/api/v1'] })],
      ready: async () => ({ ready: true, checks: {} }),
    });
    const merchantId = newId('merchant', systemRandom.bytes);
    const accountId = newId('account', systemRandom.bytes);
    await database.db.query(insertMerchant, { merchantId, createdAt: clock.now() });
    await database.db.query(insertAccount, {
      accountId,
      merchantId,
      accountAddress: `0x${'c3'.repeat(20)}`,
      settlementCurrencies: fixtureChains.tokens.map(({ tokenId }) => tokenId),
      version: newId('accountVersion', systemRandom.bytes),
      createdAt: clock.now(),
    });
    return new AgentWorld({ database, server, deps, clock, chain: payerChain, merchantId, accountId });
  }

  get db(): Database {
    return this.database.db;
  }

  /** A link to ethereum::usdc, of one product at ten dollars by default; returns its id. */
  async addLink(body: Partial<LinkCreateBody> = {}): Promise<string> {
    const product = await this.db.transaction((transaction) =>
      createProduct(transaction, this.deps, {
        merchantId: this.merchantId,
        body: { name: 'Tea', commonPrices: [10_000_000] },
      }),
    );
    const item = {
      itemType: 'product',
      productId: product.productId,
      quantity: 1,
      unitPrice: 10_000_000,
    } as const;
    const link = await this.db.transaction((transaction) =>
      createLink(
        transaction,
        { ...this.deps, isPayable: () => true },
        {
          merchantId: this.merchantId,
          body: {
            linkType: 'fixed',
            linkName: 'Tea shop',
            accountId: this.accountId,
            settlementToken: 'ethereum::usdc',
            feeModel: 2,
            lineItems: [item],
            ...body,
          },
        },
      ),
    );
    return link.linkId;
  }

  /** A link whose payer chooses the amount; returns its id. */
  addCustomLink(): Promise<string> {
    return this.addLink({ linkType: 'custom', lineItems: [{ itemType: 'user_priced' }] });
  }

  /** Sets the status of a link directly. */
  async setLinkStatus(linkId: string, status: 'active' | 'disabled' | 'deleted'): Promise<void> {
    await this.db.query(setLinkStatus, { linkId, status });
  }

  async rows() {
    return (await this.db.query(countRows))[0];
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<AgentReply> {
    return replyOf(await this.server.inject({ method: 'GET', url: `/aipay/api/v1${path}`, headers }));
  }

  async post(path: string, body: unknown): Promise<AgentReply> {
    const payload = JSON.stringify(body);
    const headers = { 'content-type': 'application/json' };
    return replyOf(
      await this.server.inject({ method: 'POST', url: `/aipay/api/v1${path}`, headers, payload }),
    );
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.database.close();
  }
}

function replyOf(response: { statusCode: number; body: string }): AgentReply {
  return { httpStatus: response.statusCode, text: response.body, body: JSON.parse(response.body) };
}
