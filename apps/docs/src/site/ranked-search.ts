import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vitepress';

const weights = fileURLToPath(new URL('theme/search-weight.ts', import.meta.url));
const changes = [
  ['import MiniSearch, {', `import { searchWeight } from ${JSON.stringify(weights)}\nimport MiniSearch, {`],
  // In the configuration a function would need `eval`, which the content security policy refuses.
  [
    'boost: { title: 4, text: 2, titles: 1 },',
    'boost: { title: 4, text: 2, titles: 1 }, boostDocument: searchWeight,',
  ],
] as const;

/** Orders the results of the search by what readers look for. Fails when the theme is no longer as it was. */
export function rankedSearch(): Plugin {
  return {
    name: 'ranked-search',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('/VPLocalSearchBox.vue')) return undefined;
      return changes.reduce((text, [before, after]) => {
        if (!text.includes(before)) this.error(`${id} does not have: ${before}`);
        return text.replace(before, after);
      }, code);
    },
  };
}
