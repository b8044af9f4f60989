import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { headOf, mapLinks } from './markdown.ts';
import { sitePath } from './site-path.ts';

/** One page of the site. */
export interface SitePage {
  /** Its URL path, such as `/docs/errors/100101`. */
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  /** Its Markdown. Links to other pages are site paths; links to files that are not pages have become plain text. */
  readonly markdown: string;
}

/** Every page, from the files below docs/ that the site shows. */
export function readPages(docsFolder: string): ReadonlyMap<string, SitePage> {
  const files = globSync(['changelog.md', 'guide/*.md', 'reference/**/*.md', 'runbook/*.md'], {
    cwd: docsFolder,
  }).sort();
  const paths = new Set(files.map(sitePath));
  return new Map(
    files.map((file) => {
      const markdown = mapLinks(readFileSync(join(docsFolder, file), 'utf8'), (target) => {
        if (!/^[\w./-]+\.md(#|$)/.test(target)) return target;
        const [name = '', anchor] = target.split('#');
        const path = sitePath(posix.join(posix.dirname(file), name));
        if (!paths.has(path)) return undefined;
        return anchor === undefined ? path : `${path}#${anchor}`;
      });
      return [sitePath(file), { path: sitePath(file), ...headOf(markdown), markdown }];
    }),
  );
}

/** A part of the sidebar. */
export interface Section {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

/** The sections of the first page, with the pages that it lists. */
export function readSections(pages: ReadonlyMap<string, SitePage>): Section[] {
  const [, ...sections] = (pages.get('/docs')?.markdown ?? '').split(/^## /m);
  return sections.map((section) => ({
    title: section.slice(0, section.indexOf('\n')),
    pages: [...section.matchAll(/^- \[[^\]]+\]\(([^)]+)\): /gm)].flatMap(
      ([, path = '']) => pages.get(path) ?? [],
    ),
  }));
}

/** The Markdown of a page as it is served: links are absolute, and lead to other Markdown. */
export function servedMarkdown(markdown: string): string {
  return mapLinks(markdown, (target) => {
    if (!target.startsWith('/')) return target;
    const [path = '', anchor] = target.split('#');
    const twin = path.startsWith('/docs') ? `${path}.md` : path;
    return `${exampleOrigin}${twin}${anchor === undefined ? '' : `#${anchor}`}`;
  });
}
