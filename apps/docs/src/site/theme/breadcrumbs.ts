import { withBase } from 'vitepress';

interface Section {
  readonly text?: string;
  readonly items?: readonly { readonly text?: string; readonly link?: string }[];
}

export interface Crumb {
  readonly text: string;
  readonly link?: string;
}

/** The way to a page: the first page, its section, and the listed page above a page that the sidebar does not list. */
export function breadcrumbs(relativePath: string, sidebar: readonly Section[]): Crumb[] {
  const path = `/${relativePath.replace(/\.md$/, '')}`;
  if (path === '/index') return [];
  const parent = path.slice(0, path.lastIndexOf('/'));
  const section = sidebar.find(({ items = [] }) =>
    items.some(({ link }) => link === path || link === parent),
  );
  const above = section?.items?.find(({ link }) => link === parent);
  return [
    { text: 'Documentation', link: withBase('/') },
    ...(section?.text === undefined ? [] : [{ text: section.text }]),
    ...(above?.text === undefined ? [] : [{ text: above.text, link: withBase(parent) }]),
  ];
}
