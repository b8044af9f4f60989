import type { ApiAnswer } from '../client.ts';
import { createdLink, linkDetail, listedLink, success } from '../resource.ts';
import { demand, found, refused, succeeded } from '../rule.ts';
import { absent, exactly, integer, oneOf, type Shape } from '../shape.ts';
import { type Collection, prices, type Subject } from '../subject.ts';

/** Payment links: every endpoint, and the effects of archiving. Returns the id of an active fixed link. */
export async function checkLinks(
  { rules, merchant, mark }: Subject,
  known: { collection: Collection | undefined; productId: string | undefined },
): Promise<string | undefined> {
  const content = (): Record<string, unknown> => ({
    ...found(known.collection, 'an account'),
    linkType: 'fixed',
    linkName: `${mark} link`,
    feeModel: 2,
    lineItems: [
      {
        itemType: 'product',
        productId: found(known.productId, 'a product'),
        quantity: 2,
        unitPrice: prices.product,
      },
    ],
    payerEmailRequired: 1,
    successUrl: 'https://shop.example.com/thanks',
    customSuccessText: 'Thanks',
    customDisabledText: 'Back at noon',
  });
  const create = (change: object) => merchant.post('/payment/link/create', { ...content(), ...change });
  const detail = async (linkId: string, shape: Shape) =>
    succeeded(await merchant.get(`/payment/link/${linkId}`), shape);

  const linkId = await rules.rule(
    'POST /payment/link/create answers an active link with its URL and version',
    async () => {
      const { lineItems: _, ...fields } = content();
      const same = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, exactly(value)]));
      const shape = {
        ...createdLink,
        ...same,
        status: oneOf('active'),
        amount: oneOf(2 * prices.product),
      };
      return String(succeeded(await create({}), shape)['linkId']);
    },
  );
  await rules.rule(
    'GET /payment/link answers the detail with account, token and the state of products',
    async () => {
      await detail(found(linkId, 'a link'), linkDetail);
    },
  );
  await rules.rule(
    'GET /payment/link/list: newest first, page and size as strings, items without productData',
    async () => {
      const item = { productData: absent };
      const shape = {
        total: integer,
        page: oneOf('1'),
        size: oneOf('1'),
        links: [listedLink],
      };
      const { links } = succeeded(await merchant.get('/payment/link/list/1/1'), shape) as {
        links: { linkId: string }[];
      };
      demand(links[0]?.linkId === linkId, 'the newest link does not come first');
      succeeded(await merchant.get('/payment/link/list/1/1'), { links: [{ lineItems: { items: [item] } }] });
      refused(await merchant.get('/payment/link/list/1/101'), 400101);
    },
  );
  await checkLinkChanges({ rules, merchant, mark, content, detail, linkId, productId: known.productId });
  await rules.rule('a custom link has one user_priced item and no amount', async () => {
    const custom = { linkType: 'custom', lineItems: [{ itemType: 'user_priced' }], successUrl: undefined };
    const shape = {
      ...createdLink,
      linkType: oneOf('custom'),
      amount: oneOf(0),
      successUrl: oneOf(''),
    };
    const { linkId: id } = succeeded(await create(custom), shape);
    succeeded(await merchant.post('/payment/link/disable', { linkId: id }), success);
  });
  await checkWrongLinks({ rules, create, productId: known.productId });
  return linkId;
}

async function checkLinkChanges(options: {
  rules: Subject['rules'];
  merchant: Subject['merchant'];
  mark: string;
  content: () => Record<string, unknown>;
  detail: (linkId: string, shape: Shape) => Promise<Record<string, unknown>>;
  linkId: string | undefined;
  productId: string | undefined;
}): Promise<void> {
  const { rules, merchant, mark, content, detail, linkId, productId } = options;
  await rules.rule('POST /payment/link/update replaces every field and moves the version', async () => {
    const id = found(linkId, 'a link');
    const before = await detail(id, linkDetail);
    const { customSuccessText: _, ...rest } = content();
    succeeded(
      await merchant.post('/payment/link/update', { linkId: id, ...rest, linkName: `${mark} new` }),
      success,
    );
    const after = await detail(id, { linkName: oneOf(`${mark} new`), customSuccessText: oneOf('') });
    demand(after['versionCode'] !== before['versionCode'], 'the version did not move');
  });
  await rules.rule('POST /payment/link/disable and /payment/link/enable move the status', async () => {
    const id = found(linkId, 'a link');
    succeeded(await merchant.post('/payment/link/disable', { linkId: id }), success);
    await detail(id, { status: oneOf('disabled') });
    succeeded(await merchant.post('/payment/link/enable', { linkId: id }), success);
    await detail(id, { status: oneOf('active') });
  });
  await rules.rule(
    'archiving a product disables its links; unarchiving does not enable them again',
    async () => {
      const id = found(linkId, 'a link');
      succeeded(await merchant.post('/product/archive', { productId }), success);
      await detail(id, { status: oneOf('disabled') });
      refused(await merchant.post('/payment/link/enable', { linkId: id }), 100304);
      succeeded(await merchant.post('/product/unarchive', { productId }), success);
      await detail(id, { status: oneOf('disabled') });
      succeeded(await merchant.post('/payment/link/enable', { linkId: id }), success);
    },
  );
  await rules.rule('a product that a link ever referenced cannot be removed', async () => {
    refused(await merchant.post('/product/remove', { productId: found(productId, 'a product') }), 100305);
  });
}

async function checkWrongLinks(options: {
  rules: Subject['rules'];
  create: (change: object) => Promise<ApiAnswer>;
  productId: string | undefined;
}): Promise<void> {
  const { rules, create, productId } = options;
  const item = { itemType: 'product', productId, quantity: 1, unitPrice: prices.product };
  const wrong: [string, object, number?][] = [
    ['of a type that is none', { linkType: 'free' }, 400101],
    ['without a name', { linkName: undefined }, 400101],
    ['without items', { lineItems: [] }, 400101],
    ['with a price of 0', { lineItems: [{ ...item, unitPrice: 0 }] }, 400101],
    ['without a price', { lineItems: [{ ...item, unitPrice: undefined }] }, 400101],
    ['with user_priced items in a fixed link', { lineItems: [{ itemType: 'user_priced' }] }, 100105],
    ['with product items in a custom link', { linkType: 'custom', lineItems: [item] }, 100105],
    ['for an unknown product', { lineItems: [{ ...item, productId: 'prd_unknown' }] }, 100301],
    ['for an unknown account', { accountId: 'acc_unknown' }, 100401],
    ['in a token that is not configured', { settlementToken: 'nochain::usdc' }],
    ['with a fee model of 3', { feeModel: 3 }, 400101],
    ['with an http successUrl', { successUrl: 'http://shop.example.com' }, 400101],
  ];
  for (const [name, change, code] of wrong) {
    await rules.rule(`a link ${name} is refused`, async () => refused(await create(change), code));
  }
}
