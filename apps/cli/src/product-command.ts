import type { Product, ProductCreateRequest, Products } from '@florin/sdk';
import {
  bodyOf,
  bodyOption,
  callOptionsOf,
  idempotencyOption,
  microUsdOf,
  pairOf,
  requireFlags,
} from './body.ts';
import { type Options, optional, repeatable } from './command.ts';
import { dollars } from './output.ts';
import {
  apiCommand,
  changeCommand,
  listCommand,
  type MerchantCommands,
  retrieveCommand,
  shown,
  updateCommand,
} from './resource.ts';

const fields = [
  optional('--name <name>', 'what payers read'),
  repeatable('--price <dollars>', 'a usual price, such as 4.50; the first is the default'),
  optional('--description <text>', 'what it is'),
  optional('--image <url>', 'an https address: the service downloads the image'),
  repeatable('--attribute <name=value>', 'such as size=large'),
  bodyOption,
];

function fieldsOf(options: Options) {
  const [prices, attributes] = [options.all('price'), options.all('attribute')];
  return {
    name: options.optional('name'),
    commonPrices: prices.length === 0 ? undefined : prices.map((price) => microUsdOf('price', price)),
    description: options.optional('description'),
    imageUrl: options.optional('image'),
    attributes: attributes.length === 0 ? undefined : attributes.map(attributeOf),
  };
}

function attributeOf(given: string): { name: string; value: string } {
  const [name, value] = pairOf('attribute', given, 'a name and a value, such as size=large');
  return { name, value };
}

/** `florin products …` */
export const productCommands: MerchantCommands = {
  'products list': listCommand<Product>({
    does: 'lists products, newest first',
    examples: ['products list', 'products list --limit 100 --json'],
    columns: {
      PRODUCT: ({ productId }) => productId,
      STATUS: ({ status }) => status,
      PRICES: ({ commonPrices }) => commonPrices.map(dollars).join(' '),
      NAME: ({ name }) => name,
    },
    list: (florin, _options, _outside, size) => florin.products.list({ size }),
  }),
  'products retrieve': retrieveCommand('a product', 'products retrieve prd_…', (florin, id) =>
    florin.products.retrieve(id),
  ),
  'products create': apiCommand({
    does: 'creates a product',
    examples: ["products create --name 'Flat white' --price 4.50 --price 5"],
    options: [...fields, idempotencyOption],
    async run(florin, options, outside) {
      const body = await bodyOf<ProductCreateRequest>(options, outside, fieldsOf(options));
      const flags = { name: '--name', commonPrices: '--price' };
      return shown(await florin.products.create(requireFlags(body, flags), callOptionsOf(options)));
    },
  }),
  'products update': updateCommand<Parameters<Products['update']>[1]>({
    noun: 'a product',
    example: 'products update prd_… --price 4.80',
    options: fields,
    flags: fieldsOf,
    update: (florin, id, changes) => florin.products.update(id, changes),
  }),
  'products archive': changeCommand({
    does: 'archives a product and disables the links that show it',
    noun: 'a product',
    example: 'products archive prd_…',
    did: 'archived',
    change: (florin, id) => florin.products.archive(id),
  }),
  'products unarchive': changeCommand({
    does: 'makes an archived product active again',
    noun: 'a product',
    example: 'products unarchive prd_…',
    did: 'active',
    change: (florin, id) => florin.products.unarchive(id),
  }),
  'products remove': changeCommand({
    does: 'removes a product that no link ever referenced',
    noun: 'a product',
    example: 'products remove prd_…',
    did: 'removed',
    change: (florin, id) => florin.products.remove(id),
  }),
};
