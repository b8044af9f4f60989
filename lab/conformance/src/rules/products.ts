import { product, success } from '../resource.ts';
import { demand, found, refused, succeeded } from '../rule.ts';
import { boolean, exactly, integer, oneOf, type ShapeFields, timestamp } from '../shape.ts';
import { prices, type Subject } from '../subject.ts';

/** Products: every endpoint and every limit. Returns the id of an active product. */
export async function checkProducts({ rules, merchant, mark }: Subject): Promise<string | undefined> {
  const content = {
    name: `${mark} tea`,
    description: 'Made by the conformance suite',
    commonPrices: [prices.product, 1],
    attributes: [{ name: 'Size', value: 'L' }],
  };
  const create = (body: object) => merchant.post('/product/create', body);
  const byIds = (...productIds: string[]) => merchant.post('/product/list/by/ids', { productIds });

  const productId = await rules.rule('POST /product/create answers the product', async () => {
    const shape = { ...product, ...equalTo(content), status: oneOf('active') };
    return String(succeeded(await create(content), shape)['productId']);
  });
  await rules.rule('POST /product/list/by/ids answers products, and leaves unknown ids out', async () => {
    const id = found(productId, 'a product');
    const products = succeeded(await byIds('prd_unknown', id), [product]) as unknown as {
      productId: string;
    }[];
    demand(products.length === 1 && products[0]?.productId === id, 'not exactly the known product came back');
  });
  await rules.rule('GET /product/list: newest first, page and size as strings', async () => {
    const answer = await merchant.get('/product/list/1/2');
    const shape = {
      total: integer,
      page: oneOf('1'),
      size: oneOf('2'),
      products: [{ ...product, createAt: timestamp }],
    };
    const { products } = succeeded(answer, shape) as { products: { productId: string }[] };
    demand(products[0]?.productId === productId, 'the newest product does not come first');
  });
  await rules.rule('POST /product/update replaces every field: what is left out is reset', async () => {
    const id = found(productId, 'a product');
    const changed = { productId: id, name: `${mark} coffee`, commonPrices: [prices.product] };
    succeeded(await merchant.post('/product/update', changed), success);
    const reset = { ...equalTo({ ...changed, description: '', attributes: [] }) };
    succeeded(await byIds(id), [reset]);
  });
  await rules.rule('POST /product/archive and /product/unarchive move the status', async () => {
    const id = found(productId, 'a product');
    for (const [action, status] of [
      ['archive', 'archived'],
      ['unarchive', 'active'],
    ] as const) {
      succeeded(await merchant.post(`/product/${action}`, { productId: id }), success);
      succeeded(await byIds(id), [{ status: oneOf(status) }]);
    }
  });
  await rules.rule('POST /product/remove removes a product that no link ever referenced', async () => {
    const { productId: id } = succeeded(await create(content), product);
    succeeded(await merchant.post('/product/remove', { productId: id }), success);
    succeeded(await byIds(String(id)), exactly([]));
    refused(await merchant.post('/product/archive', { productId: id }), 100306);
  });
  await rules.rule('a product whose image cannot be reached is created without one', async () => {
    const answer = await create({ ...content, imageUrl: 'https://image.invalid/tea.png' });
    const { productId: id } = succeeded(answer, { ...product, imageUrl: oneOf('') });
    succeeded(await merchant.post('/product/remove', { productId: id }), success);
  });
  await checkProductLimits({
    create,
    content,
    remove: (id) => merchant.post('/product/remove', { productId: id }),
    rules,
  });
  for (const [page, size] of [
    ['0', '1'],
    ['1', '0'],
    ['1', '101'],
    ['-1', '1'],
    ['1e1', '1'],
    ['one', '1'],
  ]) {
    await rules.rule(`page ${page} of size ${size} is refused`, async () => {
      refused(await merchant.get(`/product/list/${page}/${size}`), 400101);
    });
  }
  await rules.rule('a page of 100 is answered, also far behind the last one', async () => {
    const shape = { total: integer, hasMore: boolean, products: [product] };
    succeeded(await merchant.get('/product/list/1/100'), shape);
    succeeded(await merchant.get('/product/list/1000000/100'), { ...shape, products: exactly([]) });
  });
  return productId;
}

type Ask = (body: object) => ReturnType<Subject['merchant']['post']>;

async function checkProductLimits(options: {
  rules: Subject['rules'];
  create: Ask;
  remove: (productId: string) => ReturnType<Ask>;
  content: object;
}): Promise<void> {
  const { rules, create, remove, content } = options;
  const attribute = { name: 'n', value: 'v' };
  const limits: [string, object, object][] = [
    ['name of 100 characters', { name: '\u{1f375}'.repeat(100) }, { name: 'x'.repeat(101) }],
    ['description of 1000 characters', { description: 'x'.repeat(1000) }, { description: 'x'.repeat(1001) }],
    ['five prices', { commonPrices: [1, 2, 3, 4, 5] }, { commonPrices: [1, 2, 3, 4, 5, 6] }],
    ['ten attributes', { attributes: Array(10).fill(attribute) }, { attributes: Array(11).fill(attribute) }],
  ];
  for (const [name, taken, over] of limits) {
    await rules.rule(`a ${name} is taken, one more is refused`, async () => {
      const { productId } = succeeded(await create({ ...content, ...taken }), equalTo(taken));
      succeeded(await remove(String(productId)), success);
      refused(await create({ ...content, ...over }), 400101);
    });
  }
  const wrong: [string, object][] = [
    ['without a name', { name: undefined }],
    ['with an empty name', { name: '' }],
    ['without prices', { commonPrices: undefined }],
    ['with an empty list of prices', { commonPrices: [] }],
    ['with a price of 0', { commonPrices: [0] }],
    ['with a fraction as price', { commonPrices: [1.5] }],
    ['with a price as text', { commonPrices: ['1000000'] }],
    ['with an image that is not https', { imageUrl: 'http://image.invalid/tea.png' }],
    ['with an imageUrl over 500 characters', { imageUrl: `https://image.invalid/${'x'.repeat(500)}` }],
  ];
  for (const [name, change] of wrong) {
    await rules.rule(`a product ${name} is refused`, async () => {
      refused(await create({ ...content, ...change }), 400101);
    });
  }
}

/** Requires exactly these values for these members. */
function equalTo(members: object): ShapeFields {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, exactly(value)]));
}
