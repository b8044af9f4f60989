import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { defineComponent, h } from 'vue';
import ApiConsole from './ApiConsole.vue';
import ChainTable from './ChainTable.vue';
import MarkdownLink from './MarkdownLink.vue';
import PageBreadcrumbs from './PageBreadcrumbs.vue';
import { showPlaceInSidebar } from './sidebar-place.ts';
import './style.css';

/** The theme of VitePress without its fonts, with breadcrumbs, consoles of operations, and the table of chains. */
export default {
  extends: DefaultTheme,
  Layout: defineComponent(() => {
    showPlaceInSidebar();
    return () =>
      h(DefaultTheme.Layout, null, {
        'doc-before': () => h(PageBreadcrumbs),
        'doc-footer-before': () => h(MarkdownLink),
      });
  }),
  enhanceApp({ app }) {
    app.component('ApiConsole', ApiConsole);
    app.component('ChainTable', ChainTable);
  },
} satisfies Theme;
