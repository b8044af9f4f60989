import type { Page } from 'playwright-core';
import type { PageWorld } from './page-world.ts';

/** One state of the page: the steps to reach it, and the words by which a payer recognizes it. */
export interface PageState {
  readonly name: string;
  readonly words: readonly string[];
  /** No payer can lose money by it, it is another one in other words, or its texts are extreme: `npm test` leaves it out. */
  readonly isDeep?: true;
  /** Brings a page to the state; `query` may set the language. */
  reach(world: PageWorld, page: Page, query: string): Promise<void>;
}

/** A path with a query before its fragment. */
export const withQuery = (path: string, query: string) => {
  const [place = '', hash] = path.split('#');
  return `${place}${query}${hash === undefined ? '' : `#${hash}`}`;
};

/** The state of a session's page. */
export const session = (
  name: string,
  words: readonly string[],
  prepare: (world: PageWorld, linkId: string) => Promise<{ path: string }>,
): PageState => ({
  name,
  words,
  async reach(world, page, query) {
    const { path } = await prepare(world, await world.addLink());
    await world.visit(page, withQuery(path, query));
  },
});

/** The same, which only the deep tests look at. */
export const deep = (state: PageState): PageState => ({ ...state, isDeep: true });

/** Connects the only wallet, where Pay will be. */
export async function connect(page: Page): Promise<void> {
  await page.locator('#connect').click();
  await page.locator('#pay-button').waitFor();
}
