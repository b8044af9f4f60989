import { MerchantWorld } from './merchant-fixture.ts';

/** A merchant with an account and a key, who makes products and links of them; the caller closes the world. */
export async function openLinkShop() {
  const world = await MerchantWorld.open();
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const accountId = await world.addAccount(merchantId);
  const post = (path: string, body: unknown) => world.send('POST', path, { key, body });
  return {
    world,
    merchantId,
    accountId,
    post,
    get: (path: string) => world.send('GET', path, { key }),

    async addProduct(name = 'Tea'): Promise<string> {
      const reply = await post('/product/create', { name, commonPrices: [1_500_000], description: 'Black' });
      return reply.data.productId;
    },

    linkBody: (productId: string, changes: object = {}) => ({
      linkType: 'fixed',
      linkName: 'Shop',
      accountId,
      settlementToken: 'ethereum::usdc',
      feeModel: 1,
      lineItems: [{ itemType: 'product', productId, quantity: 2, unitPrice: 1_500_000 }],
      ...changes,
    }),
  };
}
