import { openDatabase } from '@florin/pg';
import type { LinkCreateBody } from '@florin/protocol/link.ts';
import { permissions } from '@florin/protocol/permission.ts';
import type { ProductCreateBody } from '@florin/protocol/product.ts';
import {
  addMember,
  createAccount,
  createApiKey,
  createMerchant,
  createUser,
  hashPassword,
  readConfig,
  schema,
  systemClock,
  systemRandom,
} from '@florin/server/operator';

/** The demo merchant of a world; kept across restarts. */
export interface Seed {
  readonly merchantId: string;
  /** Key with every permission. */
  readonly secretKey: string;
  /** Key with the `read_only` preset. */
  readonly restrictedKey: string;
  /** Restricted key with every permission, for the consoles of the documentation: they take no secret key. */
  readonly consoleKey: string;
  /** The owner's sign-in to the dashboard. Absent in a world that an older program made. */
  readonly dashboardLogin?: { readonly email: string; readonly password: string };
  readonly accountId: string;
  readonly productId: string;
  readonly linkIds: { readonly fixed: string; readonly custom: string; readonly crossChain: string };
}

/** The dependencies of seeding. */
export interface SeedOptions {
  readonly databaseUrl: string;
  /** The service's configuration file. */
  readonly configPath: string;
  /** Address of the running service. */
  readonly origin: string;
  /** The demo merchant's collection address. */
  readonly collectionAddress: `0x${string}`;
}

/** Creates the demo merchant. Called once per world; the caller stores the result. */
export type SeedWorld = (options: SeedOptions) => Promise<Seed>;

type Owner = Pick<
  Seed,
  'merchantId' | 'secretKey' | 'restrictedKey' | 'consoleKey' | 'dashboardLogin' | 'accountId'
>;

const PRICE_MICRO_USD = 25_000_000;
const MERCHANT_PAYS_FEE = 1;
const OWNER_EMAIL = 'owner@example.com';
/** 96 random bits. */
const PASSWORD_BYTES = 12;

/** The merchant, its keys and its account have no API, so they are created in the database. */
const createOwner = async (options: SeedOptions): Promise<Owner> => {
  const { chains } = readConfig({ FLORIN_CONFIG: options.configPath });
  const deps = { clock: systemClock, random: systemRandom, chains };
  const password = Buffer.from(systemRandom.bytes(PASSWORD_BYTES)).toString('base64url');
  const person = { name: 'Demo owner', email: OWNER_EMAIL, passwordHash: await hashPassword(password) };
  const database = openDatabase({ schema, url: options.databaseUrl, connections: 1 });
  try {
    return await database.transaction(async (transaction) => {
      const { merchantId } = await createMerchant(transaction, deps, { merchantName: 'Demo Shop' });
      const userId = await createUser(transaction, deps, person);
      await addMember(transaction, deps, { merchantId, userId, role: 'owner' });
      const secret = await createApiKey(transaction, deps, { merchantId, kind: 'secret' });
      const restricted = await createApiKey(transaction, deps, {
        merchantId,
        kind: 'restricted',
        preset: 'read_only',
      });
      const forConsoles = await createApiKey(transaction, deps, {
        merchantId,
        kind: 'restricted',
        permissions,
      });
      const { accountId } = await createAccount(transaction, deps, {
        merchantId,
        accountName: 'Demo Shop',
        accountAddress: options.collectionAddress,
        settlementCurrencies: chains.tokens.map(({ tokenId }) => tokenId),
      });
      return {
        merchantId,
        secretKey: secret.key,
        restrictedKey: restricted.key,
        consoleKey: forConsoles.key,
        dashboardLogin: { email: OWNER_EMAIL, password },
        accountId,
      };
    });
  } finally {
    await database.close();
  }
};

/** The seeding of a real world. Everything that the merchant API can create is created through it. */
export const seedWorld: SeedWorld = async (options) => {
  const owner = await createOwner(options);
  const post = async <Data>(path: string, body: unknown): Promise<Data> => {
    const response = await fetch(`${options.origin}/payment/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { code, message, data } = (await response.json()) as { code: number; message: string; data: Data };
    if (code !== 0) throw new Error(`The demo merchant's ${path} was refused: ${message} (${code}).`);
    return data;
  };
  const postLink = async (
    terms: Pick<LinkCreateBody, 'linkType' | 'linkName' | 'settlementToken' | 'lineItems'>,
  ): Promise<string> => {
    const body: LinkCreateBody = { ...terms, accountId: owner.accountId, feeModel: MERCHANT_PAYS_FEE };
    return (await post<{ linkId: string }>('/payment/link/create', body)).linkId;
  };
  const product: ProductCreateBody = {
    name: 'Florin mug',
    description: 'A white mug with a golden coin on it',
    commonPrices: [PRICE_MICRO_USD],
    attributes: [{ name: 'Volume', value: '350 ml' }],
  };
  const { productId } = await post<{ productId: string }>('/product/create', product);
  const lineItems: LinkCreateBody['lineItems'] = [
    { itemType: 'product', productId, quantity: 1, unitPrice: PRICE_MICRO_USD },
  ];
  const linkIds = {
    fixed: await postLink({
      linkType: 'fixed',
      linkName: 'Florin mug',
      settlementToken: 'base::usdc',
      lineItems,
    }),
    custom: await postLink({
      linkType: 'custom',
      linkName: 'Pay what you like',
      settlementToken: 'base::usdc',
      lineItems: [{ itemType: 'user_priced', quantity: 1 }],
    }),
    crossChain: await postLink({
      linkType: 'fixed',
      linkName: 'Florin mug, settled on the other chain',
      settlementToken: 'ethereum::usdc',
      lineItems,
    }),
  };
  return { ...owner, productId, linkIds };
};
