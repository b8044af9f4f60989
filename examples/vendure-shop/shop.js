import {
  bootstrap,
  ChannelService,
  Importer,
  LanguageCode,
  Populator,
  ProductService,
  RequestContextService,
} from '@vendure/core';
import { lastValueFrom } from 'rxjs';
import { config } from './config.js';

const initialData = {
  defaultLanguage: LanguageCode.en,
  defaultZone: 'World',
  countries: [{ code: 'DE', name: 'Germany', zone: 'World' }],
  taxRates: [{ name: 'Standard Tax', percentage: 19 }],
  shippingMethods: [{ name: 'Post', price: 500 }],
  paymentMethods: [
    {
      name: 'Stablecoins',
      handler: { code: 'florin', arguments: [{ name: 'settlementToken', value: 'base::usdc' }] },
    },
  ],
  collections: [],
};
const products = `name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets
Flat white,coffee,,,,,,coffee,4.50,Standard Tax,1000,false,,
Florin mug,mug,,,,,,mug,25.00,Standard Tax,1000,false,,`;

const app = await bootstrap(config);

/** The first start makes a shop with two products. */
const context = await app.get(RequestContextService).create({ apiType: 'admin' });
if ((await app.get(ProductService).findAll(context)).totalItems === 0) {
  await app
    .get(Populator)
    .populateInitialData(initialData, await app.get(ChannelService).getDefaultChannel());
  await lastValueFrom(app.get(Importer).parseAndImport(products, LanguageCode.en));
}
console.log(`the shop is at ${config.apiOptions.hostname}:${config.apiOptions.port}/shop-api`);
