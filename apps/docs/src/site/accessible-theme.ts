import type { Plugin } from 'vitepress';

/** What the theme gets wrong for screen readers, by file: the text that is replaced, and its replacement. */
const corrections: Readonly<Record<string, readonly (readonly [wrong: string, right: string])[]>> = {
  // The button's text is its name, the keys included.
  'VPNavBarSearchButton.vue': [[`:aria-label="translate('button.buttonAriaLabel')"`, '']],
  'NotFound.vue': [['<div class="NotFound">', '<div class="NotFound" role="main">']],
  // The box is a dialog, not a button; and the option is the link itself, because an option must not hold a link.
  'VPLocalSearchBox.vue': [
    ['role="button"', 'role="dialog" aria-modal="true"'],
    [`:aria-owns="results?.length ? 'localsearch-list' : undefined"`, ''],
    ['aria-expanded="true"', ''],
    ['aria-haspopup="listbox"', ''],
    [`:id="'localsearch-item-' + index"`, ''],
    [`:aria-selected="selectedIndex === index ? 'true' : 'false'"`, ''],
    ['role="option"', 'role="none"'],
    ['<kbd :aria-label', '<kbd role="img" :aria-label'],
    [
      `:aria-label="[...p.titles, p.title].join(' > ')"`,
      `:id="'localsearch-item-' + index" role="option" :aria-selected="selectedIndex === index"`,
    ],
  ],
};

/** Corrects roles and names in the theme. Fails when the theme is no longer as it was. */
export function accessibleTheme(): Plugin {
  return {
    name: 'accessible-theme',
    enforce: 'pre',
    transform(code, id) {
      const changes = corrections[id.slice(id.lastIndexOf('/') + 1)];
      return changes?.reduce((text, [wrong, right]) => {
        if (!text.includes(wrong)) this.error(`${id} does not have: ${wrong}`);
        return text.replaceAll(wrong, right);
      }, code);
    },
  };
}
