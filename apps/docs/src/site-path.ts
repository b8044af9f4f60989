import { posix } from 'node:path';

/** The path of the page of a file below docs/, such as `reference/api/products.md`. A README is the page of its folder. */
export function sitePath(file: string): string {
  const page = file
    .replace(/^reference\//, '')
    .replace(/\.md$/, '')
    .replace(/(^|\/)README$/, '');
  return posix.join('/docs', page).replace(/\/$/, '');
}

/** The file below docs/ of a page. */
export function filePath(path: string): string {
  const page = path.slice('/docs/'.length);
  if (page === '' || /^contracts(?:\/[\w-]+)?$/.test(page)) return posix.join('reference', page, 'README.md');
  return /^(?:guide\/|runbook\/|changelog$)/.test(page) ? `${page}.md` : `reference/${page}.md`;
}
