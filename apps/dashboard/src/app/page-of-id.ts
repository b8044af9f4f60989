/** The page of one thing, with the filters of a list where it opens in its list. */
export interface PageOfId {
  /** Its screen, as the registry names it. */
  readonly screen: string;
  readonly path: string;
  readonly search: Readonly<Record<string, string>>;
}

/** Screens with a page for each id, by the kind of the id. */
const screensWithPages: ReadonlyMap<string, string> = new Map([
  ['sess', 'payments'],
  ['lnk', 'links'],
  ['prd', 'products'],
  ['rfd', 'refunds'],
  ['wkid', 'webhooks'],
  ['acc', 'wallets'],
]);

/** Where an id leads in a merchant's area; undefined for a text that is no whole id, or of a kind without a page. */
export function pageOfId(id: string): PageOfId | undefined {
  const [, kind = ''] = /^([a-z]+)_[0-9A-Za-z]{22}$/.exec(id) ?? [];
  if (kind === 'exc') return { screen: 'exceptions', path: 'exceptions', search: { exception: id } };
  if (kind === 'evt') return { screen: 'events', path: 'events', search: { event: id } };
  const screen = screensWithPages.get(kind);
  return screen === undefined ? undefined : { screen, path: `${screen}/${id}`, search: {} };
}
