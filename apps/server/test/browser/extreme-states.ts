import { connect, type PageState, withQuery } from './page-state.ts';
import { injectStub, type PageWorld } from './page-world.ts';

/** The pages of a merchant whose texts, colours, logo and addresses are the worst that the API takes. */
export const extremeStates: readonly PageState[] = [
  {
    name: 'extremes',
    isDeep: true,
    words: ['Show 2 more', 'Pay 10,0'],
    async reach(world, page, query) {
      await disfigure(world, 'T');
      await injectStub(page);
      const lineItems = await Promise.all(
        [1, 2, 3, 4, 5].map(async () => ({
          ...{ itemType: 'product', quantity: 1, unitPrice: 1_999_999_999_999 },
          productId: await world.addProduct({
            name: `${'Wasserkraft'.repeat(8)} 👨‍👩‍👧‍👦`,
            description: 'x'.repeat(400),
            attributes: [{ name: 'م'.repeat(40), value: 'https://'.repeat(25) }],
          }),
        })),
      );
      const linkId = await world.addLink({
        ...{ linkName: worstName, lineItems, cancelUrl: `https://${longHost}/cart` },
      });
      await world.visit(page, `/link/${linkId}${query}`);
      await connect(page);
      await restore(world);
    },
  },
  {
    name: 'extremes-receipt',
    isDeep: true,
    words: ['Paid and received', 'Receipt', 'Download proof (JSON)'],
    async reach(world, page, query) {
      await disfigure(world, 'W');
      const linkId = await world.addLink({
        linkName: worstName,
        customSuccessText: 'ﷺ'.repeat(40) + 'W'.repeat(400),
        successUrl: `https://${longHost}/`,
      });
      const { path, sessionId } = await world.addPaid(linkId);
      await world.putStatus(sessionId, 'completed');
      await world.visit(page, withQuery(path, query));
      await restore(world);
    },
  },
];

const longHost = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.example`;

/** Two scripts, an emoji of many parts, and nowhere to break. */
const worstName = `${'Wm'.repeat(30)}שלוםعربي👨‍👩‍👧‍👦`;

/** The look of a merchant who tries everything. */
async function disfigure(world: PageWorld, logo: 'T' | 'W'): Promise<void> {
  await world.nameMerchant(
    'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
  );
  await world.brand(
    {
      ...{ color: '#777777', background: '#808080', cornerRadius: 24, font: 'geometric' },
      ...{ legalName: 'W'.repeat(100), supportUrl: `https://shop.example/${'s'.repeat(900)}` },
      ...{ termsUrl: 'https://shop.example/t', refundUrl: 'https://shop.example/r' },
    },
    { logo },
  );
}

async function restore(world: PageWorld): Promise<void> {
  await world.nameMerchant('Test merchant');
  await world.brand();
}
