import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { transformerStyleToClass } from '@shikijs/transformers';
import { type DefaultTheme, defineConfig, type UserConfig } from 'vitepress';
import { anchorOf } from '../markdown.ts';
import { accessibleTheme } from './accessible-theme.ts';
import { apiConsoles } from './api-consoles.ts';
import { chainTable } from './chain-table.ts';
import { codeBreaks } from './code-breaks.ts';
import { codeTabs } from './code-tabs.ts';
import { columnNames } from './column-names.ts';
import { rankedSearch } from './ranked-search.ts';

/** What the builder hands to VitePress. */
export interface SiteContent {
  /** Names this build, in the paths of files that never change. */
  readonly hash: string;
  readonly sections: DefaultTheme.SidebarItem[];
}

/**
 * Renders a page for the search index, where code has words but no colours. VitePress renders every page twice for the
 * index, and colours took two thirds of that.
 */
const renderPlainly: NonNullable<DefaultTheme.LocalSearchOptions['_render']> = (source, env, renderer) => {
  const { highlight } = renderer.options;
  renderer.options.highlight = null;
  try {
    return renderer.render(source, env);
  } finally {
    renderer.options.highlight = highlight;
  }
};

/** What the page for unknown addresses says without scripts. */
const missingPage =
  '<noscript><h1>Page not found</h1><p>This documentation has no page at this address. ' +
  '<a href="/docs">To the first page</a></p></noscript>';

/** The configuration of VitePress. Nothing in it is loaded from elsewhere. */
export function siteConfig({ hash, sections }: SiteContent): UserConfig<DefaultTheme.Config> {
  const highlighting = transformerStyleToClass({ classPrefix: 'code-' });
  const codeStyle = `assets/code.${hash}.css`;
  return defineConfig({
    title: 'Florin',
    titleTemplate: ':title – Florin',
    description: 'Documentation of Florin, which collects stablecoin payments on EVM chains.',
    lang: 'en',
    base: '/docs/',
    srcDir: 'pages',
    cleanUrls: true,
    // The theme would fetch every page that the sidebar shows.
    router: { prefetchLinks: false },
    // Without it every page repeats the names of all others in an inline script.
    metaChunk: true,
    // The theme would insert a style element at each change, which the content security policy refuses.
    appearance: { disableTransition: false },
    sitemap: { hostname: `${exampleOrigin}/docs/` },
    head: [
      ['link', { rel: 'icon', type: 'image/svg+xml', href: '/docs/favicon.svg' }],
      ['link', { rel: 'stylesheet', href: `/docs/${codeStyle}` }],
    ],
    markdown: {
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
      anchor: { slugify: anchorOf },
      codeTransformers: [highlighting],
      config(md) {
        md.set({ html: false, linkify: false });
        codeTabs(md);
        apiConsoles(md);
        chainTable(md);
        codeBreaks(md);
        columnNames(md);
      },
    },
    themeConfig: {
      logo: '/favicon.svg',
      search: {
        provider: 'local',
        options: {
          detailedView: false,
          _render: renderPlainly,
          // All words have to be there, and only long words may be misspelt.
          miniSearch: { searchOptions: { combineWith: 'AND', fuzzy: 0.1 } },
        },
      },
      outline: [2, 3],
      nav: [
        { text: 'Guides', link: '/guide/first-payment', activeMatch: '^/docs/guide/' },
        { text: 'API', link: '/api/products', activeMatch: '^/docs/api/' },
        { text: 'Errors', link: '/errors', activeMatch: '^/docs/errors' },
        { text: 'Changelog', link: '/changelog' },
      ],
      sidebar: sections,
      notFound: {
        title: 'Page not found',
        quote: 'This documentation has no page at this address.',
        linkText: 'To the first page',
        linkLabel: 'To the first page',
      },
    },
    transformHead: ({ page }) => {
      const path = page.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '');
      if (path === '404') return [];
      const url = path === '' ? '/docs' : `/docs/${path}`;
      return [
        ['link', { rel: 'canonical', href: `${exampleOrigin}${url}` }],
        ['link', { rel: 'alternate', type: 'text/markdown', href: `${url}.md` }],
      ];
    },
    // The policy refuses style attributes. The theme sets the first again from its script, and ours has the second.
    transformHtml: (html, _id, { page }) =>
      // The theme renders this page by its script alone.
      (page === '404.md' ? html.replace('<div id="app"></div>', `<div id="app"></div>${missingPage}`) : html)
        .replaceAll(/ style="(?:--vp-vh:0px|position:relative);"/g, '')
        .replace(/ *<link [^>]*href="\/docs\/vp-icons\.css"[^>]*>\n/, ''),
    buildEnd({ outDir }) {
      // It holds the icons of `socialLinks`. The site has none, so pages do not load it.
      const icons = join(outDir, 'vp-icons.css');
      if (statSync(icons).size > 0) throw new Error('pages must load vp-icons.css');
      rmSync(icons);
      writeFileSync(join(outDir, codeStyle), highlighting.getCSS());
    },
    vite: {
      publicDir: fileURLToPath(new URL('public', import.meta.url)),
      logLevel: 'warn',
      plugins: [accessibleTheme(), rankedSearch()],
    },
  });
}
